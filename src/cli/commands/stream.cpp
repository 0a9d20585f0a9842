// SPDX-License-Identifier: MIT
// chasqui stream: looks inside a continuous broadcast: blocks and words, one rank's next messages, the two
// digraphs.
#include "chasqui/plan/stream.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/word_automaton.hpp"
#include "chasqui/show/digraph.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/help.hpp"

namespace chasqui::cli {
namespace {

constexpr std::size_t kRowsShown = 30;
constexpr std::size_t kWordShown = 33;  ///< a row has 80 columns
constexpr std::int64_t kLargestDigraph = 400;

bool wants_svg(const std::string& path) { return path.size() > 4 && path.substr(path.size() - 4) == ".svg"; }

/// "Hacab": the head as a capital, leaves as small letters; numbers where the alphabet ends.
std::string word_text(const plan::StreamRun& run) {
  std::string text;
  for (std::size_t j = 0; j < run.word.size() && text.size() < kWordShown; ++j) {
    const bool head = std::any_of(run.heads.begin(), run.heads.end(),
                                  [&](const auto& h) { return h.position == static_cast<std::int32_t>(j); });
    std::string letter = plan::spell({run.word[j]});
    if (head && letter.size() == 1) letter[0] = static_cast<char>(letter[0] - 'a' + 'A');
    text += letter;
  }
  return text.size() >= kWordShown ? text.substr(0, kWordShown - 3) + "..." : text;
}

using Json = nlohmann::ordered_json;

/// {"P", "L", "root", "delay", "bound", "optimal", "bound_source", "construction", "height", "tree_latency",
/// "runs", "receive_only"}; messages, if given, replace the last four.
std::string stream_json(const plan::Stream& stream, const std::optional<std::vector<plan::StreamMessage>>& messages) {
  Json object = {{"P", stream.P()}, {"L", stream.L()}, {"root", stream.root()}};
  object["delay"] = stream.delay().ticks;
  object["bound"] = stream.bound().ticks;
  object["optimal"] = stream.claim().optimal();
  object["bound_source"] = stream.claim().bound_source;
  object["construction"] = stream.claim().construction;
  if (messages) {
    Json list = Json::array();
    for (const plan::StreamMessage& m : *messages) {
      list.push_back({{"t", m.begin.ticks}, {"from", m.from}, {"to", m.to}, {"item", m.item}});
    }
    object["messages"] = std::move(list);
  } else if (const plan::StreamLayout* layout = stream.layout()) {
    object["height"] = layout->t;
    object["tree_latency"] = layout->L;
    Json runs = Json::array();
    for (const plan::StreamRun& run : layout->runs) {
      Json heads = Json::array();
      for (const plan::StreamHead& head : run.heads) {
        heads.push_back({{"position", head.position}, {"label", head.label}, {"children", head.children}});
      }
      runs.push_back({{"blocks", run.blocks}, {"heads", std::move(heads)}, {"word", run.word}});
    }
    object["runs"] = std::move(runs);
    if (layout->receive_only) object["receive_only"] = *layout->receive_only;
  }
  return object.dump(2) + "\n";
}

class StreamCommand final : public Command {
 public:
  StreamCommand() : Command("stream", "look inside a continuous broadcast: blocks, words, a rank's next messages") {
    describe(
        "Plans a stream, a broadcast without end, for up to 10^18 processors without overheads (o = 0, g = 1). "
        "Prints its delay, its bound and its blocks. The ranks of a block pass items on by turns "
        "(docs/streams.md). A word says what such a rank receives between its turns: a is the item that completes "
        "now, b the one that completes next. A capital letter is its turn: an item that it will pass on. With "
        "--rank, the messages of that rank.");
    option("-P", "N", &P_, "processors");
    option("-L", "STEPS", &L_, "latency").required();
    option("--root", "RANK", &root_, "the source; default 0");
    option("--rank", "R", &rank_, "only the messages of rank R");
    option("--at", "TIME", &at_, "with --rank: from this time on; default 0");
    option("--steps", "N", &steps_, "with --rank: for so many steps; default 20");
    option("--digraph", "FILE", &digraph_,
           "draw which block sends to which, as SVG for *.svg, else as text; - is standard output")
        .file();
    flag("--single-sending", single_sending_, "with --digraph: the schedule whose source sends each item once");
    option("--automaton", "FILE", &automaton_, "draw the automaton of all legal words for this L, likewise").file();
    flag("--json", json_, "print the blocks (with --rank: the messages) as JSON");
    example("chasqui stream -P 10 -L 3", "the running example of the literature");
    example("chasqui stream -P 10^17 -L 16 --rank 123456789012345 --at 10^6 --steps 5",
            "what one of 10^17 ranks does next");
    example("chasqui stream -P 42 -L 3 --single-sending --digraph -", "who serves whom");
    example("chasqui stream -L 3 --automaton -", "legal words");
  }

  int run(Output& out) override {
    if (automaton_) return draw_automaton(out);
    if (!P_) throw Error("-P is missing: how many processors? (only --automaton does without)");
    if (digraph_) return draw_digraph(out);
    const plan::StreamPtr stream = plan::make_stream(*P_, L_, root_);
    if (rank_) return show_rank(*stream, out);
    if (json_) {
      out.write(stream_json(*stream, std::nullopt));
      return 0;
    }
    show_claim(*stream, out);
    show_runs(*stream, out);
    return 0;
  }

 private:
  static void show_claim(const plan::Stream& stream, Output& out) {
    const plan::Claim& claim = stream.claim();
    out.print("{}\n", out.bold(fmt::format("stream on P={} L={}", stream.P(), stream.L())));
    out.print("delay         {} ({})\n", stream.delay().ticks,
              claim.optimal() ? out.good("optimal") : fmt::format("gap {}", claim.gap().ticks));
    const auto width = static_cast<std::size_t>(out.width());
    out.print("bound         {}\n", wrap(fmt::format("{}: {}", claim.bound.ticks, claim.bound_source), 14, width));
    out.print("construction  {}\n", wrap(claim.construction, 14, width));
    const std::int64_t period = stream.period();
    out.print("period        {}\n", period == kSaturated ? "more than 2^63 steps" : fmt::format("{} steps", period));
  }

  static void show_runs(const plan::Stream& stream, Output& out) {
    const plan::StreamLayout* layout = stream.layout();
    if (layout == nullptr) return;
    out.print("\n{:>20} {:>6} {:>7} {:>9}  {}\n", "blocks", "ranks", "label", "children", "word");
    for (std::size_t r = 0; r < layout->runs.size() && r < kRowsShown; ++r) {
      const plan::StreamRun& run = layout->runs[r];
      out.print("{:>20} {:>6} {:>7} {:>9}  {}\n", run.blocks, run.q(), run.heads[0].label, run.heads[0].children,
                word_text(run));
    }
    if (layout->runs.size() > kRowsShown) out.print("{:>20} more kinds of blocks\n", layout->runs.size() - kRowsShown);
    if (layout->receive_only) {
      out.print("{:>20} {:>6} {:>7} {:>9}  {}\n", 1, 1, "", 0, plan::spell({*layout->receive_only}));
    }
  }

  int show_rank(const plan::Stream& stream, Output& out) const {
    if (*rank_ < 0 || *rank_ >= stream.P())
      throw Error("--rank {} does not exist: ranks are 0..{}", *rank_, stream.P() - 1);
    if (at_ < 0 || steps_ < 1)
      throw Error("--at {} --steps {}: times begin at 0 and at least one step is shown", at_, steps_);
    if (at_ > kMaxTime || steps_ > kMaxTime - at_)
      throw Error("--at {} --steps {}: times end at {}", at_, steps_, kMaxTime);
    if (json_) {
      std::vector<plan::StreamMessage> messages;
      for (std::int64_t time = at_; time < at_ + steps_; ++time) {
        if (const auto got = stream.received(*rank_, Time{time})) messages.push_back(*got);
        if (const auto sent = stream.sent(*rank_, Time{time})) messages.push_back(*sent);
      }
      out.write(stream_json(stream, messages));
      return 0;
    }
    show_claim(stream, out);
    out.print("\n{:>12}  {:<38}  {}\n", "time", fmt::format("rank {} receives", *rank_), "and begins to send");
    for (std::int64_t time = at_; time < at_ + steps_; ++time) {
      const auto got = stream.received(*rank_, Time{time});
      const auto sent = stream.sent(*rank_, Time{time});
      out.print("{:>12}  {:<38}  {}\n", time, got ? fmt::format("{} from {}", got->item, got->from) : "-",
                sent ? fmt::format("{} to {}", sent->item, sent->to) : "-");
    }
    return 0;
  }

  int draw_digraph(Output& out) const {
    if (*P_ > kLargestDigraph || *P_ < 3)
      throw Error("-P {}: a block digraph is drawn for 3..{} processors", *P_, kLargestDigraph);
    const LogP machine = LogP::postal(*P_, Time{L_});
    const Rank root{static_cast<std::int32_t>(root_)};
    std::vector<std::int64_t> sizes;
    Schedule schedule;
    if (single_sending_) {
      schedule = plan::single_sending(machine, 2, root)->schedule();  // the last item travels differently
      sizes = plan::single_sending_blocks(*P_, L_);
    } else {
      const plan::StreamPtr stream = plan::make_stream(*P_, L_, root_);
      if (stream->layout() == nullptr)
        throw Error("P={} L={}: this stream has no blocks to draw: use a larger P", *P_, L_);
      for (const plan::StreamRun& run : stream->layout()->runs)
        sizes.insert(sizes.end(), static_cast<std::size_t>(run.blocks), run.q());
      schedule = plan::stream_window(machine, stream, 1)->schedule();
    }
    write_graph(show::block_digraph(schedule, sizes, Item{0}), *digraph_, out);
    return 0;
  }

  int draw_automaton(Output& out) const {
    const plan::WordAutomaton automaton = plan::word_automaton(L_);
    if (!wants_svg(*automaton_)) {
      write_file(*automaton_, plan::to_text(automaton), out);
      return 0;
    }
    show::Digraph graph;
    graph.title = fmt::format("Legal words, L={}", L_);
    graph.legend = "in a circle: the last letters; on an arrow: the next one; words begin at a double circle";
    for (std::size_t s = 0; s < automaton.states.size(); ++s) {
      graph.vertices.push_back({plan::spell(automaton.states[s]), automaton.starts[s]});
    }
    for (const auto& edge : automaton.edges)
      graph.edges.push_back({edge.from, edge.to, plan::spell({edge.letter}), false});
    write_graph(graph, *automaton_, out);
    return 0;
  }

  static void write_graph(const show::Digraph& graph, const std::string& path, Output& out) {
    write_file(path, wants_svg(path) ? show::digraph_svg(graph) : show::digraph_text(graph), out);
  }

  std::optional<std::int64_t> P_;
  std::int64_t L_ = 0;
  std::int64_t root_ = 0;
  std::optional<std::int64_t> rank_;
  std::int64_t at_ = 0;
  std::int64_t steps_ = 20;
  std::optional<std::string> digraph_, automaton_;
  bool single_sending_ = false;
  bool json_ = false;
};

}  // namespace

CommandPtr make_stream_command() { return std::make_unique<StreamCommand>(); }

}  // namespace chasqui::cli
