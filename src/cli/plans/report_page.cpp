// SPDX-License-Identifier: MIT
#include "cli/plans/report_page.hpp"

#include <algorithm>
#include <cmath>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/plan/plain_trees.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/show/draw.hpp"
#include "chasqui/show/page.hpp"
#include "chasqui/show/plot.hpp"
#include "chasqui/verify/verify.hpp"
#include "cli/plans/collective_arguments.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::cli {
namespace {

constexpr std::int64_t kTicks = 40;  ///< L + 2o of a drawn machine: fine enough, and charts stay readable

std::string us(double nanoseconds) {
  const double value = nanoseconds / 1000;
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string size_text(std::int64_t bytes) {
  if (bytes == 0) return "–";
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

/// The same colour for the same name, whatever else is in the picture.
int colour_of(const std::string& who) {
  constexpr const char* kNames[] = {"Chasqui",      "predicted", "native", "binomial",
                                    "std::barrier", "OpenMP",    "chain",  "plain"};
  constexpr int kColours[] = {0, 1, 2, 3, 4, 5, 4, 5};  // the last two are never seen with the two before
  const auto found = std::find(std::begin(kNames), std::end(kNames), who);
  return found == std::end(kNames) ? -1 : kColours[found - std::begin(kNames)];
}

/// A collective without sizes: one bar a contestant.
std::string bars_of(const BenchData& bench, const std::string& collective) {
  std::vector<show::Bar> bars;
  for (const BenchTime& time : bench.times) {
    if (time.collective != collective || time.bytes != 0) continue;
    const std::string name = time.ours() ? "Chasqui" : time.who;
    bars.push_back({name, time.median / 1000, std::max(0, colour_of(name)), false});
    if (time.predicted > 0) bars.push_back({"predicted", time.predicted / 1000, colour_of("predicted"), true});
  }
  return bars.empty() ? "" : show::bars_svg(fmt::format("{}: {}", bench.name, collective), "µs", bars);
}

/// What a time means, where it is not that of one call.
std::string_view unit_of(const std::string& collective) {
  return collective == "stream" ? ", time for an item" : collective == "delay" ? ", delay of an item" : "";
}

show::Plot plot_of(const BenchData& bench, const std::string& collective) {
  show::Plot plot{
      .title = fmt::format("{}: {}{}", bench.name, collective == "delay" ? "stream" : collective, unit_of(collective)),
      .x_label = "bytes",
      .y_label = "µs, median and quartiles",
      .curves = {}};
  plot.curves = {{"Chasqui", {}, false, 0}, {"predicted", {}, true, 1}};
  for (const BenchTime& time : bench.times) {
    if (time.collective != collective || time.bytes == 0) continue;
    const double x = static_cast<double>(time.bytes);
    if (time.ours()) {
      plot.curves[0].points.push_back({x, time.median / 1000, time.low / 1000, time.high / 1000});
      if (time.predicted > 0) plot.curves[1].points.push_back({x, time.predicted / 1000, 0, 0});
      continue;
    }
    auto curve =
        std::find_if(plot.curves.begin(), plot.curves.end(), [&](const show::Curve& c) { return c.name == time.who; });
    if (curve == plot.curves.end())
      curve = plot.curves.insert(plot.curves.end(), {time.who, {}, false, colour_of(time.who)});
    curve->points.push_back({x, time.median / 1000, time.low / 1000, time.high / 1000});
  }
  return plot;
}

/// Predicted, measured and every rival, a row per size.
void times_table(show::Page& page, const BenchData& bench, const std::string& collective) {
  std::vector<std::string> headings = {"size", "method", "predicted µs", "measured µs", "off by"};
  std::vector<std::vector<std::string>> rows;
  double median = 0;
  for (const BenchTime& time : bench.times) {
    if (time.collective != collective) continue;
    if (time.ours()) {
      median = time.median;
      rows.push_back({size_text(time.bytes), time.who.substr(time.who.find(' ') + 1), us(time.predicted),
                      us(time.median), fmt::format("{:+.0f} %", (time.predicted / time.median - 1) * 100)});
      continue;
    }
    const auto column = std::find(headings.begin(), headings.end(), time.who + " µs");
    if (column == headings.end()) headings.insert(headings.end(), {time.who + " µs", "ratio"});
    const auto at =
        static_cast<std::size_t>(std::find(headings.begin(), headings.end(), time.who + " µs") - headings.begin());
    if (rows.empty()) continue;
    rows.back().resize(std::max(rows.back().size(), at));
    rows.back().insert(rows.back().end(), {us(time.median), fmt::format("x{:.2f}", time.median / median)});
  }
  for (auto& row : rows) row.resize(headings.size());
  if (!rows.empty()) page.table(headings, rows);
}

}  // namespace

void measured_part(show::Page& page, const std::vector<BenchData>& benches, const std::string& collective) {
  std::vector<std::string> plots;
  for (const BenchData& bench : benches) {
    const show::Plot plot = plot_of(bench, collective);
    if (!plot.curves[0].points.empty()) plots.push_back(show::plot_svg(plot));
    else if (std::string bars = bars_of(bench, collective); !bars.empty()) plots.push_back(std::move(bars));
  }
  if (!plots.empty())
    page.figures(plots, "Common start, latest finish. A rival's ratio in the tables is its time over Chasqui's.");
  for (const BenchData& bench : benches) {
    const bool any =
        std::any_of(bench.times.begin(), bench.times.end(), [&](const auto& t) { return t.collective == collective; });
    if (!any) continue;
    page.paragraph(fmt::format("{}{}, {} ranks:", bench.name, unit_of(collective), bench.times.front().ranks));
    times_table(page, bench, collective);
  }
}

std::vector<std::pair<std::string, std::string>> speed_ups(const std::vector<BenchData>& benches) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const BenchData& bench : benches) {
    std::vector<std::string> rivals;
    for (const BenchTime& time : bench.times) {
      if (!time.ours() && std::find(rivals.begin(), rivals.end(), time.who) == rivals.end()) rivals.push_back(time.who);
    }
    for (const std::string& rival : rivals) {
      double logs = 0, ours = 0;
      int count = 0;
      for (const BenchTime& time : bench.times) {
        if (measure::is_many(time.collective)) continue;
        if (time.ours()) ours = time.median;
        else if (time.who == rival && ours > 0 && time.median > 0) logs += std::log(time.median / ours), ++count;
      }
      if (count == 0) continue;
      pairs.emplace_back(
          fmt::format("x{:.2f}", std::exp(logs / count)),
          fmt::format("{}: time of {} over Chasqui's, {}", bench.name, rival,
                      count == 1 ? "one call" : fmt::format("geometric mean of {} single calls", count)));
    }
  }
  return pairs;
}

namespace {

/// A plan on the page.
struct Shown {
  std::string title;
  plan::Request request;
  std::vector<std::string> timed = {title};  ///< rows of `chasqui bench`
};

struct Planned {
  Shown what;
  plan::PlanPtr plan;
};

/// The binomial tree's finish for 2^order ranks, every node sending its largest subtree first.
std::int64_t binomial_finish(const LogP& machine, int order) {
  std::vector<std::int64_t> finish = {0};
  for (int k = 1; k <= order; ++k) {
    std::int64_t latest = 0;
    for (int child = 0; child < k; ++child) {
      const auto sent = child * machine.gap().ticks;
      latest = std::max(latest, sent + machine.lambda().ticks + finish[static_cast<std::size_t>(k - 1 - child)]);
    }
    finish.push_back(latest);
  }
  return finish.back();
}

/// Four significant digits, never as a power of ten.
std::string amount(double value) {
  return value >= 1000 ? fmt::format("{:.0f}", value) : value < 1e-4 ? "0" : fmt::format("{:.4g}", value);
}

/// "41.2 ns", "1.3 µs", "60.2 µs", "2.4 ms"
std::string duration(double nanoseconds) {
  if (nanoseconds < 1000) return fmt::format("{:.3g} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.3g} µs", nanoseconds / 1e3);
  return fmt::format("{:.3g} ms", nanoseconds / 1e6);
}

void machine_section(show::Page& page, const Profile& profile, bool guessed) {
  page.section(guessed ? "A usual machine" : "This machine");
  if (guessed) {
    page.paragraph(
        "Nothing was measured. These values are built-in guesses, right in their order of magnitude at best. "
        "\u201cchasqui report\u201d alone measures this machine.");
  } else {
    page.paragraph(fmt::format(
        "{}{}, measured by {}. Each value is a median. Its interval holds the true median in at least 95 of "
        "100 measurements. A busy machine widens the intervals.",
        profile.host.empty() ? "A machine" : profile.host, profile.when.empty() ? "" : ", " + profile.when,
        profile.how));
  }
  for (const Level& level : profile.levels) {
    if (level.assumed) continue;
    page.heading(level.ranks > 0 ? fmt::format("Level “{}”, {} ranks", level.name, level.ranks)
                                 : fmt::format("Level “{}”", level.name));
    std::vector<std::vector<std::string>> rows;
    std::string doubts;
    const auto row = [&](const char* name, const char* meaning, const Estimate& e, const char* unit,
                         bool always = false) {
      if (e.value == 0 && e.high == 0 && !always) return;
      if (always && doubtful(e)) doubts += (doubts.empty() ? "" : ", ") + std::string(name);
      rows.push_back({name, amount(e.value), unit, meaning});
      if (guessed) return;
      rows.back().insert(rows.back().begin() + 2,
                         e.high == 0 ? "too small to resolve" : amount(e.low) + " … " + amount(e.high));
    };
    row("L", "latency: from the end of a send to the start of its reception", level.L, "ns", true);
    row("o (send)", "overhead: the sender is busy", level.o_s, "ns", true);
    row("o (receive)", "overhead: the receiver is busy", level.o_r, "ns", true);
    row("g", "gap: from one message of a rank to its next", level.g, "ns", true);
    row("G", "gap per byte of a long message", level.G, "ns/B");
    row("B", "size from which a message costs more than its start", level.B, "B");
    row("publish", "one cache line from its writer to all readers", level.publish, "ns");
    row("publish per rank", "reading the line of each further rank", level.publish_per_rank, "ns");
    row("copy", "copying while all copy", level.copy, "ns/B");
    std::vector<std::string> headings = {"parameter", "value", "unit", "meaning"};
    if (!guessed) headings.insert(headings.begin() + 2, "95 % interval");
    page.table(headings, rows);
    if (!doubts.empty()) {
      page.paragraph(fmt::format(
          "The interval of {} is wider than the value: something else kept this machine busy. Measure again when it is "
          "quiet before you believe the times below.",
          doubts));
    }
  }
  if (profile.bsp_L.value > 0 && !guessed) {
    page.paragraph(fmt::format(
        "As a machine for bulk-synchronous programs (BSP): g = {} ns a word ({} … {}), L = {} ns a superstep ({} … {}).",
        amount(profile.bsp_g.value), amount(profile.bsp_g.low), amount(profile.bsp_g.high), amount(profile.bsp_L.value),
        amount(profile.bsp_L.low), amount(profile.bsp_L.high)));
  }
}

std::vector<Planned> plans_for(const LogP& machine) {
  // Streams and k items are planned in whole steps of the postal machine.
  const std::int64_t step = std::max(machine.gap().ticks, 2 * machine.o.ticks);
  const LogP postal = LogP::postal(machine.P, Time{(machine.lambda().ticks + step - 1) / step});
  std::vector<Shown> wanted;
  for (const plan::Collective& collective : plan::collectives()) {
    if (!collective.called) continue;
    wanted.push_back({std::string(collective.name), {.machine = machine, .problem = {.kind = collective.kind}}});
  }
  // So many that all have something to add.
  const std::int64_t operands = plan::most_operands(machine, 2 * plan::broadcast(machine)->claim().finish);
  wanted.push_back({fmt::format("sum of {} operands", operands),
                    {.machine = machine, .problem = {.kind = Kind::sum}, .operands = operands},
                    {"sum"}});
  wanted.push_back({"broadcast of 8 items", {.machine = postal, .problem = {.items = 8}}, {"items"}});
  wanted.push_back({"stream without end", {.machine = postal, .problem = {.kind = Kind::stream}}, {"stream", "delay"}});
  std::vector<Planned> plans;
  for (const Shown& one : wanted) {
    plans.push_back({one, make_plan(one.request)});
  }
  return plans;
}

void optimal_section(show::Page& page, const std::vector<Planned>& plans, double tick) {
  page.section("What is optimal, and why");
  page.paragraph(
      "“Optimal” stands only where the finish equals a proved lower bound; otherwise the gap is given, and the optimum "
      "may be anywhere in it. A number such as exchange.md, Theorem 9, is on that page of docs, with its proof and its test.");
  std::vector<std::vector<std::string>> rows;
  for (const auto& [what, plan] : plans) {
    const plan::Claim& claim = plan->claim();
    rows.push_back({what.title, std::to_string(claim.finish.ticks), std::to_string(claim.bound.ticks),
                    claim.optimal() ? "optimal" : fmt::format("gap {}", claim.gap().ticks), claim.bound_source,
                    claim.construction});
  }
  page.table({"collective", "finish", "bound", "verdict", "bound by", "construction"}, rows);
  const LogP& machine = plans.front().plan->machine();
  page.paragraph(fmt::format("Times in ticks of {} on {}; the last two rows in steps on {}.", duration(tick),
                             to_string(machine), to_string(plans.back().plan->machine())));
}

void scaling_figure(show::Page& page, const LogP& machine, double tick) {
  show::Plot plot{.title = "Broadcast of one item as P grows",
                  .x_label = "processors",
                  .y_label = "µs, by the model",
                  .curves = {}};
  plot.curves = {{"optimal tree", {}}, {"binomial tree", {}}};
  for (int order = 1; order <= 20; ++order) {
    LogP larger = machine;
    larger.P = std::int64_t{1} << order;
    const auto point = [&](std::int64_t ticks) {
      const double y = static_cast<double>(ticks) * tick / 1000;
      return show::PlotPoint{static_cast<double>(larger.P), y, y, y};
    };
    plot.curves[0].points.push_back(point(plan::broadcast(larger)->claim().finish.ticks));
    plot.curves[1].points.push_back(point(binomial_finish(larger, order)));
  }
  page.figures({show::plot_svg(plot)},
               "Computed, not measured: both trees on processors with this machine's L, o and g.");
}

/// The plan, its bound and the trees that need no planner, by the model, up to 64 processors.
void model_figure(show::Page& page, const Planned& planned) {
  const Shown& what = planned.what;
  show::Plot plot{.title = fmt::format("{}: the plan and plain trees", what.title),
                  .x_label = "processors",
                  .y_label = "ticks, by the model",
                  .curves = {}};
  plot.curves = {
      {"Chasqui's plan", {}}, {"lower bound", {}, true}, {"binomial tree", {}}, {"chain", {}}, {"flat tree", {}}};
  for (std::int64_t P = 2; P <= 64; P *= 2) {
    plan::Request larger = what.request;
    larger.machine.P = P;
    const plan::PlanPtr plan = make_plan(larger);
    const auto point = [&](std::size_t curve, Time time) {
      const auto y = static_cast<double>(time.ticks);
      plot.curves[curve].points.push_back({static_cast<double>(P), y, y, y});
    };
    point(0, plan->claim().finish);
    point(1, plan->claim().bound);
    for (const auto tree : plan::kPlainTrees) {
      const auto curve = 2 + static_cast<std::size_t>(tree);
      if (larger.problem.kind == Kind::sum) {
        point(curve, plan::plain_sum(tree, larger.machine, larger.operands.value_or(1)).finish);
      } else if (const auto plain = plan::plain_schedule(tree, larger.machine, plan->problem());
                 std::holds_alternative<Schedule>(plain)) {
        point(curve, std::get<Schedule>(plain).finish);
      }
    }
  }
  std::erase_if(plot.curves, [](const show::Curve& curve) { return curve.points.empty(); });
  page.figures(
      {show::plot_svg(plot)},
      "Computed for processors with these L, o and g; every tree sends as early as its order allows. Where lines "
      "coincide, the last one named hides the others.");
}

void collective_part(show::Page& page, const ReportInput& input, const Planned& planned, double tick) {
  const auto& [what, plan] = planned;
  const plan::Claim& claim = plan->claim();
  page.heading(what.title, claim.optimal() ? "optimal" : fmt::format("at most {} above the optimum", claim.gap().ticks),
               claim.optimal());
  const Schedule schedule = plan->schedule();
  const bool legal = verify(schedule).legal();
  const bool postal = what.request.machine.o.ticks == 0;
  const std::string real = postal ? "" : fmt::format(" ({})", duration(static_cast<double>(claim.finish.ticks) * tick));
  page.paragraph(fmt::format("On {}: finish {}{}. Lower bound {}, {}. Construction: {}. The verifier finds it {}.",
                             to_string(plan->machine()), claim.finish.ticks, real, claim.bound.ticks,
                             claim.bound_source, claim.construction, legal ? "legal" : "ILLEGAL: please report this"));
  const Kind kind = what.request.problem.kind;
  // Where everybody sends, the tree of one item, or of what flows into one rank.
  const std::string_view one = kind == Kind::allgather || kind == Kind::reduce_scatter
                                   ? "Every item has its own tree; this is item 0's."
                               : kind == Kind::alltoall ? "What rank 0 gives; all do the same."
                               : kind == Kind::barrier || kind == Kind::allreduce || kind == Kind::scan
                                   ? "What flows into one rank; all have their own tree."
                               : what.request.problem.items > 1 || kind == Kind::stream ? "The tree of item 0."
                                                                                        : "";
  page.figures({show::to_svg(schedule, show::Picture::tree)}, one);
  page.figures({show::to_svg(schedule, show::Picture::chart)});
  if (postal) page.figures({show::to_svg(schedule, show::Picture::table)});
  if (kind != Kind::stream) model_figure(page, planned);
  const bool many = measure::is_many(what.timed.front());
  if (!many) {
    run::Topology topology;
    topology.ranks =
        static_cast<int>(input.profile.levels.front().ranks > 0 ? input.profile.levels.front().ranks : input.drawn);
    topology.largest_node = topology.ranks;
    topology.board = topology.shares_memory = true;
    std::string lines;
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{4} << 10, std::size_t{1} << 20}) {
      if (!lines.empty()) lines += "\n";
      lines += run::explain({kind, bytes, 1, true}, topology, input.profile);
      if (kind == Kind::barrier) break;
    }
    page.paragraph(
        fmt::format("What a call on {} threads of this machine would run, by predicted time:", topology.ranks));
    page.preformatted(lines);
  }
  if (kind == Kind::sum) {
    page.paragraph(
        "Timed: numbers that lie where the plan for this machine puts them, so many bytes in all, their additions counted as long as they "
        "take here. The rivals add an equal share on every rank, then reduce; \u201cplain\u201d is Chasqui's own reduce.");
  } else if (kind == Kind::stream) {
    page.paragraph(
        "Timed: items of one size that the root begins with one after another. First what each takes when they follow as closely as they can, "
        "then the delay, with a little more time between them. Rivals: one broadcast after another; \u201cplain\u201d are Chasqui's own.");
  } else if (many) {
    page.paragraph(
        "Timed: eight items, so many bytes in all, along the plan for this machine, by messages. Rivals: one broadcast after another, "
        "\u201cplain\u201d being Chasqui's own, and a chain from rank to rank.");
  }
  for (const std::string& row : what.timed) measured_part(page, input.benches, row);
}

/// Nodes that share memory, joined by this machine's network, or by a usual one where none was measured: the ranks of a node side by
/// side against one leader for each.
void cluster_section(show::Page& page, const Profile& profile) {
  constexpr std::int64_t kNodes = 16, kRanks = 8, kDrawnNodes = 4, kDrawnRanks = 4;
  const Profile usual = default_profile();
  const bool known = profile.knows_network() && !measure::is_guess(profile);
  const Level& network = *(known ? profile : usual).level("network");
  const run::SizedMachine sized = run::machine_for(network, kNodes * kRanks, 8, kTicks);
  const auto ticks = [&](double nanoseconds) {
    return Time{static_cast<std::int64_t>(std::ceil(nanoseconds / sized.tick))};
  };
  // From the writer of a line to all its readers; the model knows no board that is slower than its network.
  const Level& board = profile.levels.front();
  const Time whole = std::min(ticks(board.publish.value), sized.machine.lambda());
  const Time read{std::llround(static_cast<double>(whole.ticks) * board.read_share())};
  const auto cluster = [&](std::int64_t nodes, std::int64_t ranks_of_each) {
    return Cluster::uniform(nodes, ranks_of_each, sized.machine,
                            std::min(sized.machine.gap(), ticks(network.node_g.value)), whole - read, read);
  };
  const Cluster machine = cluster(kNodes, kRanks);
  page.section("On a cluster");
  page.paragraph(fmt::format(
      "{} nodes of {} ranks that share memory, joined by {} ({}, a tick is {}). Most libraries let one rank of a node talk "
      "for it; here all of them send side by side, and what a node has heard goes over its board. Computed, not timed.",
      kNodes, kRanks, known ? "the network that was measured" : "a usual network, as none was measured",
      to_string(machine), duration(sized.tick)));
  std::vector<std::vector<std::string>> rows;
  for (const plan::Collective& collective : plan::collectives()) {
    if (!collective.called) continue;
    const Problem problem{.kind = collective.kind};
    const plan::Claim ours = plan::on_cluster(machine, problem)->claim();
    const Time leaders = plan::on_cluster(machine, problem, plan::Lanes::leaders)->claim().finish;
    rows.push_back({std::string(collective.name), std::to_string(ours.finish.ticks), std::to_string(leaders.ticks),
                    fmt::format("x{:.2f}", static_cast<double>(leaders.ticks) / static_cast<double>(ours.finish.ticks)),
                    std::to_string(ours.bound.ticks),
                    ours.optimal() ? "optimal" : fmt::format("gap {}", ours.gap().ticks), ours.bound_source});
  }
  page.table({"collective", "side by side", "one leader a node", "ratio", "bound", "verdict", "bound by"}, rows);
  const Cluster small = cluster(kDrawnNodes, kDrawnRanks);
  for (const auto& [lanes, who] :
       {std::pair{plan::Lanes::all, "side by side"}, std::pair{plan::Lanes::leaders, "by one leader a node"}}) {
    const Schedule schedule = plan::on_cluster(small, {.kind = Kind::broadcast}, lanes)->schedule();
    CHASQUI_CHECK(verify(schedule).legal(), "a plan on {} is illegal", to_string(small));
    page.figures({show::to_svg(schedule, show::Picture::chart)},
                 fmt::format("A broadcast on {} nodes of {} ranks, {}.", kDrawnNodes, kDrawnRanks, who));
  }
}

}  // namespace

std::string report_page(const ReportInput& input) {
  const Level& level = input.profile.levels.front();
  const run::SizedMachine sized = run::machine_for(level, input.drawn, 8, kTicks);
  const std::vector<Planned> plans = plans_for(sized.machine);
  show::Page page("Chasqui report",
                  input.benches.empty()
                      ? "Collectives planned, checked and drawn. Nothing was timed."
                      : "Collectives planned for this machine, checked, drawn, and timed against their rivals.");
  const auto optimal =
      std::count_if(plans.begin(), plans.end(), [](const Planned& p) { return p.plan->claim().optimal(); });
  std::vector<std::pair<std::string, std::string>> numbers = {
      {fmt::format("{} of {}", optimal, plans.size()), "of the plans on this page are proved optimal"}};
  for (auto& pair : speed_ups(input.benches)) numbers.push_back(std::move(pair));
  page.numbers(numbers);
  machine_section(page, input.profile, input.guessed);
  optimal_section(page, plans, sized.tick);
  scaling_figure(page, sized.machine, sized.tick);
  page.section("The collectives");
  page.paragraph(
      "Inside a node most collectives run through cache lines that all ranks share, not along the drawn trees, which are for "
      "messages between nodes: measured times of one node do not follow the drawings. The predictions in the tables are those "
      "of the method that ran.");
  page.paragraph(fmt::format(
      "Drawn for {} processors with the L, o and g above ({}, a tick is {}); timed on the ranks this machine has. "
      "Blue: a rank sends. Orange: it receives. Green: it adds.",
      input.drawn, to_string(sized.machine), duration(sized.tick)));
  std::vector<std::string> titles;
  for (const Planned& planned : plans) titles.push_back(planned.what.title);
  page.links(titles);
  for (const Planned& planned : plans) collective_part(page, input, planned, sized.tick);
  try {
    cluster_section(page, input.profile);
  } catch (const Error& error) {  // a network so odd that its times have no common unit
    page.paragraph(error.what());
  }
  page.section("Limits of these numbers");
  page.paragraph(
      "LogP has no topology: one L, o and g stand for every pair of ranks; the clusters above have two levels. "
      "Times taken on a loaded or oversubscribed machine say little.");
  return page.html();
}

}  // namespace chasqui::cli
