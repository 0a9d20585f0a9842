// SPDX-License-Identifier: MIT
// chasqui cliffs: where collectives do not behave: larger messages or more ranks that are faster.
#include "chasqui/tune/cliffs.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/show/page.hpp"
#include "chasqui/show/plot.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/engine.hpp"
#include "run/call/kinds.hpp"

namespace chasqui::cli {
namespace {

constexpr std::chrono::milliseconds kNap{1};

class CliffsCommand final : public Command {
 public:
  CliffsCommand()
      : Command("cliffs", "find sizes and numbers of ranks where a collective is slower than it should be") {
    describe(
        "A cliff is a size, or a number of ranks, at which a call takes longer than something that does as much "
        "or more: a longer message, more ranks, several shorter calls instead of it, or other collectives with "
        "the same result. With --mpi the MPI library and Chasqui are measured. With --predict nothing is "
        "measured: Chasqui's times are predicted from a profile. --out writes the times and cliffs as CSV, a plot "
        "for each collective, and a page.");
    flag("--mpi", mpi_, "measure the MPI run this is part of: mpirun -np 8 chasqui cliffs --mpi");
    flag("--predict", predict_, "measure nothing: Chasqui alone, as predicted");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`").file();
    option("-P,--processors", "N", &ranks_, "--predict: the most ranks (default 64)");
    option("--nodes", "N", &nodes_,
           "--predict: on how many nodes the ranks are (default: each on its own, all by messages)");
    option("--kinds", "LIST", &kinds_, "only these collectives, separated by commas: broadcast,allreduce,…");
    option("--largest", "BYTES", &largest_, "largest size (default 1048576)");
    option("--rounds", "N", &rounds_, "--mpi: calls at each size, more of short ones (default 15)");
    option("--tolerance", "T", &tolerance_, "how many times slower a cliff is at least (default 1.1)");
    option("--out", "DIR", &out_, "where the files go (default: none, cliffs are only printed)");
    example("chasqui cliffs --predict -P 16", "does Chasqui itself have any, on a usual network?");
    example("mpirun -np 8 chasqui cliffs --mpi --out cliffs", "does the MPI library here?");
  }

  int run(Output& out) override {
    if (largest_ < 8 || largest_ > std::int64_t{1} << 30)
      throw Error("--largest {} is not in 8..{}", largest_, 1 << 30);
    if (rounds_ < 3 || rounds_ > 1000) throw Error("--rounds {} is not in 3..1000", rounds_);
    if (!(tolerance_ >= 1)) throw Error("--tolerance {} is too small: use 1 or more", tolerance_);
    if (mpi_ == predict_) throw Error("give one of --mpi (mpirun -np 8 chasqui cliffs --mpi) and --predict");
    const std::vector<Kind> kinds = calls_from(kinds_);
    if (predict_ && out_) make_folder(*out_);
    bool speaks = true;
    if (predict_) predict(kinds);
    else speaks = measure(kinds);
    if (!speaks) return 0;
    const std::vector<tune::Cliff> cliffs = tune::find_cliffs(calls_, tolerance_);
    for (const tune::Cliff& cliff : cliffs) out.write(wrap(to_string(cliff), 2, 80) + "\n");
    std::map<std::string, std::size_t> of;
    for (const tune::TimedCall& call : calls_) of[call.who];
    for (const tune::Cliff& cliff : cliffs) ++of[cliff.slow.who];
    for (const auto& [who, count] : of)
      out.print(
          "{}: {} cliff{} in {} times\n", who, count, count == 1 ? "" : "s",
          std::count_if(calls_.begin(), calls_.end(), [&, &name = who](const auto& call) { return call.who == name; }));
    if (out_) write(cliffs);
    return 0;
  }

 private:
  /// Powers of two, and the last.
  static std::vector<int> sizes_up_to(int ranks) {
    std::vector<int> list;
    for (int p = 2; p < ranks; p *= 2) list.push_back(p);
    list.push_back(ranks);
    return list;
  }
  std::vector<std::int64_t> bytes_for(Kind kind, std::int64_t factor) const {
    if (kind == Kind::barrier) return {0};
    std::vector<std::int64_t> list;
    for (std::int64_t bytes = 8; bytes <= largest_; bytes *= factor) list.push_back(bytes);
    return list;
  }

  void predict(const std::vector<Kind>& kinds) {
    if (ranks_ < 2 || ranks_ > 1'000'000) throw Error("-P {} is not in 2..1000000", ranks_);
    const Profile profile = machine_ ? read_profile(*machine_) : default_profile();
    for (const Kind kind : kinds) {
      for (const int ranks : sizes_up_to(static_cast<int>(ranks_))) {
        const std::int64_t nodes = std::min<std::int64_t>(nodes_.value_or(ranks), ranks);
        if (nodes < 1) throw Error("--nodes {} is too small: use 1 or more", nodes);
        run::Topology topology;
        topology.ranks = ranks;
        topology.nodes = static_cast<int>(nodes);
        topology.largest_node = static_cast<int>((ranks + nodes - 1) / nodes);
        topology.smallest_node = static_cast<int>(ranks / nodes);
        topology.board = topology.largest_node > 1;
        topology.native = false;
        for (const std::int64_t bytes : bytes_for(kind, 2)) {
          const run::Query query{kind, static_cast<std::size_t>(bytes), 8, true};
          const double time = run::choices(query, topology, profile).front().nanoseconds;
          calls_.push_back({"chasqui", kind, ranks, bytes, time, time, time, nodes > 1 ? topology.largest_node : 0});
        }
      }
    }
  }

  /// False where another rank speaks.
  bool measure(const std::vector<Kind>& kinds) {
    const auto engine = mpi_engine(*this);
    if (engine->size() < 2) throw Error("cliffs need two ranks or more: mpirun -np 8 chasqui cliffs --mpi …");
    from_rank_0(*engine, [&] {
      if (out_) make_folder(*out_);
      return std::string();
    });
    const ProfilePtr profile = engine->profile(machine_);
    Progress bar("cliffs", engine->has_terminal());
    engine->run(profile, [&](run::Comm& comm) {
      const std::vector<int> sizes = sizes_up_to(comm.size());
      double done = 0;
      for (const int ranks : sizes) {
        const auto some = comm.split(comm.rank() < ranks ? 0 : 1, comm.rank());
        for (const Kind kind : kinds) {
          // As the library chooses, whatever the collective's word.
          const measure::Contestant native =
              engine->forced({.library = *engine->library(), .collective = "bcast"}, ranks);
          if (comm.rank() < ranks) sweep(*some, kind, native);
          run::Request over = comm.ibarrier();
          while (!over.test()) std::this_thread::sleep_for(kNap);  // who does not take part leaves the cores alone
          if (engine->speaks()) bar(++done / static_cast<double>(sizes.size() * kinds.size()));
        }
      }
    });
    return engine->speaks();
  }

  void sweep(run::Comm& comm, Kind kind, const measure::Contestant& native) {
    const measure::Contestant own{[] {},
                                  [&comm](const run::Call& call) {
                                    comm.run(call);
                                    return true;
                                  }};
    measure::CommonStart start(comm);
    for (const std::int64_t bytes : bytes_for(kind, 4)) {
      if (run::has_blocks(kind) && bytes * comm.size() > 4 * largest_) break;
      const int rounds = static_cast<int>(rounds_);
      const auto raced = measure::race(comm, start, kind, static_cast<std::size_t>(bytes), {native, own},
                                       {.few = rounds, .rounds = rounds, .hopeless = 1e9});
      for (std::size_t i = 0; i < raced.size(); ++i) {
        const measure::Quartiles& times = raced[i].times;
        if (raced[i].works)
          calls_.push_back(
              {i == 0 ? "native" : "chasqui", kind, comm.size(), bytes, times.low, times.median, times.high});
      }
    }
  }

  std::string plot_of(Kind kind, const std::vector<tune::Cliff>& cliffs) const {
    const bool by_ranks = kind == Kind::barrier;
    show::Plot plot{std::string(to_string(kind)), by_ranks ? "ranks" : "bytes of one rank", "microseconds", {}};
    std::map<std::pair<std::string, int>, show::Curve> curves;
    for (const tune::TimedCall& call : calls_) {
      if (call.kind != kind) continue;
      show::Curve& curve = curves[{call.who, by_ranks ? 0 : call.ranks}];
      curve.name = by_ranks ? call.who : fmt::format("{}, {} ranks", call.who, call.ranks);
      curve.dashed = call.who == "native";
      curve.points.push_back(
          {static_cast<double>(by_ranks ? call.ranks : call.bytes), call.time / 1e3, call.low / 1e3, call.high / 1e3});
    }
    int colour = 0;
    std::map<int, int> colours;  // of a number of ranks, for both
    for (auto& [key, curve] : curves) {
      const auto [found, fresh] = colours.try_emplace(key.second, colour);
      if (fresh) ++colour;
      curve.colour = by_ranks ? (curve.dashed ? 1 : 0) : found->second;
      plot.curves.push_back(curve);
    }
    for (const tune::Cliff& cliff : cliffs) {
      if (cliff.slow.kind != kind) continue;
      const double x = static_cast<double>(by_ranks ? cliff.slow.ranks : cliff.slow.bytes), y = cliff.slow.time / 1e3;
      plot.marks.emplace_back(show::PlotPoint{x, y, y, y}, to_string(cliff));
    }
    plot.marks_label = "cliff";
    return plot_svg(plot);
  }

  void write(const std::vector<tune::Cliff>& cliffs) const {
    const auto put = [&](const std::string& name, const std::string& text) { replace_file(*out_ + "/" + name, text); };
    std::string text = "who,collective,ranks,bytes,low_ns,median_ns,high_ns\n";
    for (const tune::TimedCall& call : calls_)
      text += fmt::format("{},{},{},{},{:.0f},{:.0f},{:.0f}\n", call.who, to_string(call.kind), call.ranks, call.bytes,
                          call.low, call.time, call.high);
    put("times.csv", text);
    text = "who,collective,ranks,bytes,factor,instead\n";
    for (const tune::Cliff& cliff : cliffs)
      text += fmt::format("{},{},{},{},{:.3f},{}\n", cliff.slow.who, to_string(cliff.slow.kind), cliff.slow.ranks,
                          cliff.slow.bytes, cliff.factor, cliff.instead);
    put("cliffs.csv", text);
    show::Page page(
        "Cliffs",
        fmt::format("A cliff is where a larger message, more ranks, several calls or other collectives are faster; "
                    "cliffs are circled. {}",
                    predict_ ? "Predicted, not measured." : "Dashed: the MPI library."));
    for (const Kind kind : calls_from({})) {
      if (std::none_of(calls_.begin(), calls_.end(), [&](const auto& call) { return call.kind == kind; })) continue;
      const std::string svg = plot_of(kind, cliffs);
      put(fmt::format("{}.svg", to_string(kind)), svg);
      page.section(to_string(kind));
      page.figures({svg});
      std::vector<std::vector<std::string>> rows;
      for (const tune::Cliff& cliff : cliffs) {
        if (cliff.slow.kind == kind)
          rows.push_back({cliff.slow.who, fmt::format("{}", cliff.slow.ranks), tune::bytes_in_words(cliff.slow.bytes),
                          fmt::format("{:.2f}", cliff.factor), cliff.instead});
      }
      if (rows.empty()) page.paragraph("No cliffs.");
      else page.table({"who", "ranks", "size", "times as fast", "instead"}, rows);
    }
    put("index.html", page.html());
  }

  bool mpi_ = false, predict_ = false;
  std::optional<std::string> machine_, out_;
  std::int64_t ranks_ = 64, largest_ = 1 << 20, rounds_ = 15;
  std::optional<std::int64_t> nodes_;
  std::string kinds_;
  double tolerance_ = 1.1;
  std::vector<tune::TimedCall> calls_;
};

}  // namespace

CommandPtr make_cliffs_command() { return std::make_unique<CliffsCommand>(); }

}  // namespace chasqui::cli
