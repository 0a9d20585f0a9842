// SPDX-License-Identifier: MIT
// chasqui simulate: play a schedule file under varying latency.
#include "chasqui/simulate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/schedule/unroll.hpp"
#include "chasqui/show/draw.hpp"
#include "chasqui/simulate/goal.hpp"
#include "chasqui/simulate/monte_carlo.hpp"
#include "chasqui/solve/worst_case.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/plans/stated.hpp"

namespace chasqui::cli {
namespace {

using namespace simulate;
using Json = nlohmann::ordered_json;

/// "a:b:c" → {a, b, c}
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  return parts;
}

class SimulateCommand final : public Command {
 public:
  SimulateCommand() : Command("simulate", "play a schedule with latencies that vary, or are as bad as they can be") {
    describe(
        "Plays a schedule and prints when it finishes. Without options every message takes exactly L, and the "
        "plan itself is played.\n"
        "--latency says how long messages take: `exact` (L), `uniform:LOW:HIGH`, `histogram:FILE` (lines 'latency "
        "weight'), `links:FILE` (lines 'from to latency', * for any rank) or `two-level:GROUP:NEAR:FAR`. Where "
        "that is random, the same --seed gives the same run on every machine.\n"
        "Mode `timed` sends nothing before its planned time; `event` sends as soon as allowed, in the planned "
        "order, as programs do. Messages that have arrived are received first come, first served.\n"
        "--adversary worst looks for the latencies in [--low, L] that make the schedule finish latest. It says "
        "whether it has tried everything.");
    positional("FILE", &file_, "schedule file; - is the standard input").required().file();
    option("--latency", "POLICY", &latency_, "how long messages take; default exact");
    option("--mode", "MODE", &mode_, "when messages are sent; default timed").choices({"timed", "event"});
    option("--seed", "N", &seed_, "seed of random latencies; default 1");
    option("--runs", "N", &runs_, "play so many times and print quantiles");
    option("--threads", "N", &threads_, "threads for --runs; default: all cores");
    option("--straggler", "R:START:O:G", &stragglers_, "rank R starts late and has its own o and g; may be repeated");
    option("--items", "K", &items_, "streams: play the first K items; default 20");
    option("--adversary", "KIND", &adversary_, "look for the latencies that make the schedule finish latest")
        .choices({"worst"});
    option("--low", "N", &low_, "adversary: the least latency that a message may have; default 1, or 0 where o > 0");
    option("--alpha", "A", &alpha_, "adversary: the least latency is A times L, instead of --low");
    option("--by", "WHAT", &by_, "adversary: what is late, the schedule's finish or each item")
        .choices({"finish", "item"});
    option("--trace", "FILE", &trace_, "write the play as a timeline for Perfetto").file();
    option("--out", "FILE", &out_, "write the play as a file that `chasqui draw` shows").file();
    option("--goal", "FILE", &goal_, "write the schedule as GOAL text, the input of LogGOPSim").file();
    flag("--json", json_, "print the result as JSON");
    example("chasqui simulate b.json", "with latency exactly L: the plan itself");
    example("chasqui simulate b.json --latency uniform:1:6 --mode event --runs 1000", "how a program would fare");
    example("chasqui simulate k.json --adversary worst", "the worst that latencies up to L can do");
  }

  int run(Output& out) override {
    Schedule schedule = schedule_from_json(text_of(file_), place_of(file_));
    out.error(illegal(schedule, place_of(file_)));
    if (schedule.problem.kind == Kind::stream) schedule = unroll(schedule, items_.value_or(20));
    if (goal_) write_file(*goal_, to_goal(schedule), out);
    if (!adversary_.empty()) return run_adversary(schedule, out);
    if (runs_) return run_many(schedule, out);
    return run_once(schedule, out);
  }

 private:
  Options options() const {
    Options options;
    options.mode = mode_ == "event" ? Mode::event_driven : Mode::timed;
    for (const std::string& text : stragglers_) {
      const auto parts = split(text);
      if (parts.size() != 4) throw Error("--straggler {}: use RANK:START:O:G", text);
      const auto value = [&](std::size_t i) { return parse_integer(parts[i], "--straggler " + text); };
      if (value(0) < 0 || value(0) > std::numeric_limits<std::int32_t>::max())
        throw Error("--straggler {}: there is no such rank", text);
      options.stragglers.push_back(
          {Rank{static_cast<std::int32_t>(value(0))}, Time{value(1)}, Time{value(2)}, Time{value(3)}});
    }
    return options;
  }

  Latency policy(const LogP& machine, std::uint64_t seed) const {
    const auto parts = split(latency_);
    const std::string name = parts.empty() ? "exact" : parts[0];
    const auto ticks = [&](std::size_t i) { return Time{parse_integer(parts[i], "--latency " + latency_)}; };
    if (name == "exact" && parts.size() <= 1) return exactly_L(machine);
    if (name == "uniform" && parts.size() == 3) return uniform(machine, ticks(1), ticks(2), seed);
    if (name == "two-level" && parts.size() == 4) return two_level(machine, ticks(1).ticks, ticks(2), ticks(3));
    if (name == "links" && parts.size() == 2)
      return per_link(machine, read_file(parts[1], "check the name and the permissions"), parts[1]);
    if (name == "histogram" && parts.size() == 2) {
      return distribution(machine, histogram_from(read_file(parts[1], "check the name and the permissions"), parts[1]),
                          seed);
    }
    throw Error("--latency {}: use exact, uniform:LOW:HIGH, histogram:FILE, links:FILE or two-level:GROUP:NEAR:FAR",
                latency_);
  }

  void keep(const Trace& trace, Output& out) const {
    if (trace_) write_file(*trace_, show::trace_json(show::timeline_of(trace)), out);
    if (out_) write_file(*out_, show::timeline_json(show::timeline_of(trace)), out);
  }

  int run_once(const Schedule& schedule, Output& out) const {
    const Trace trace = simulate::simulate(schedule, policy(schedule.machine, seed_as_bits()), options());
    keep(trace, out);
    require_end(trace.finish);
    json_ ? print_json(trace, out) : print_text(trace, out);
    return 0;
  }

  void require_end(Time finish) const {
    if (finish == kNever)
      throw Error("{}: the play got stuck, somebody sends what it never has: run chasqui verify on it",
                  place_of(file_));
  }

  void print_text(const Trace& trace, Output& out) const {
    out.print("finish      {} (planned {})\n", trace.finish.ticks, trace.schedule.finish.ticks);
    out.print("messages    {}\n", trace.times.size());
    if (!trace.schedule.nodes.empty())
      out.print("boards      {} publications, {} readings\n", trace.publication_begins.size(),
                trace.reading_begins.size());
    out.print("utilisation {:.1f} %\n", 100 * trace.utilisation);
    if (trace.item_delay.size() > 1) {
      Time least = trace.item_delay.front();
      Time most = least;
      for (const Time delay : trace.item_delay) least = std::min(least, delay), most = std::max(most, delay);
      out.print("item delay  {} to {}\n", least.ticks, most.ticks);
    }
    out.print("critical path, last step first:\n");
    std::size_t shown = 0;
    for (const CriticalStep& step : trace.critical_path) {
      if (++shown > 20) {
        out.print("  … {} more\n", trace.critical_path.size() - 20);
        break;
      }
      out.write(
          fit(fmt::format("  {:>8}  {}: {}\n", step.time.ticks, deed(trace.schedule, step), to_string(step.reason)),
              out.width()));
    }
  }

  static std::string deed(const Schedule& s, const CriticalStep& step) {
    using Event = CriticalStep::Event;
    if (step.event == Event::publication)
      return fmt::format("rank {} publishes", s.publications[step.index].rank.index);
    if (step.event == Event::reading) {
      const Reading& r = s.readings[step.index];
      return fmt::format("rank {} reads from rank {}", r.rank.index, r.from.index);
    }
    const Send& send = s.sends[step.index];
    return step.event == Event::send ? fmt::format("rank {} sends to rank {}", send.from.index, send.to.index)
                                     : fmt::format("rank {} receives from rank {}", send.to.index, send.from.index);
  }

  void print_json(const Trace& trace, Output& out) const {
    Json object;
    object["finish"] = trace.finish.ticks;
    object["planned"] = trace.schedule.finish.ticks;
    object["utilisation"] = trace.utilisation;
    object["item_delay"] = Json::array();
    for (const Time delay : trace.item_delay) object["item_delay"].push_back(delay.ticks);
    object["messages"] = Json::array();
    for (std::size_t m = 0; m < trace.times.size(); ++m) {
      const Send& send = trace.schedule.sends[m];
      object["messages"].push_back({{"from", send.from.index},
                                    {"to", send.to.index},
                                    {"carries", send.part.lo},
                                    {"sent", trace.times[m].send.ticks},
                                    {"received", trace.times[m].reception.ticks}});
    }
    const auto boards = [&](const char* name, const auto& list, const std::vector<Time>& begins) {
      for (std::size_t i = 0; i < begins.size(); ++i)
        object[name].push_back(
            {{"rank", list[i].rank.index}, {"carries", list[i].part.lo}, {"begin", begins[i].ticks}});
    };
    boards("publications", trace.schedule.publications, trace.publication_begins);
    boards("readings", trace.schedule.readings, trace.reading_begins);
    object["critical_path"] = Json::array();
    constexpr const char* kEvents[] = {"send", "reception", "publication", "reading"};
    for (const CriticalStep& step : trace.critical_path) {
      object["critical_path"].push_back({{"message", step.index},
                                         {"event", kEvents[static_cast<std::size_t>(step.event)]},
                                         {"time", step.time.ticks},
                                         {"reason", to_string(step.reason)}});
    }
    out.write(object.dump(1) + "\n");
  }

  int run_many(const Schedule& schedule, Output& out) const {
    constexpr std::int64_t kMostRuns = 1'000'000'000;
    if (*runs_ < 1 || *runs_ > kMostRuns) throw Error("--runs {}: use 1..{}", *runs_, kMostRuns);
    if (trace_ || out_) throw Error("--runs keeps no play: leave --trace and --out away, or --runs");
    Progress bar("simulating");
    const Statistics statistics = monte_carlo(
        schedule, [&](std::uint64_t seed) { return policy(schedule.machine, seed); },
        {.runs = static_cast<std::uint64_t>(*runs_),
         .seed = seed_as_bits(),
         .threads = threads(),
         .progress = std::ref(bar)},
        options());
    require_end(statistics.quantile(1));
    if (json_) {
      Json object;
      object["runs"] = *runs_;
      object["planned"] = schedule.finish.ticks;
      object["mean"] = statistics.mean();
      for (const auto& [name, q] : kQuantiles) object[name] = statistics.quantile(q).ticks;
      out.write(object.dump(1) + "\n");
      return 0;
    }
    out.print("{} runs, finish planned {}, mean {:.2f}\n", *runs_, schedule.finish.ticks, statistics.mean());
    for (const auto& [name, q] : kQuantiles) out.print("  {:<7} {}\n", name, statistics.quantile(q).ticks);
    return 0;
  }

  int run_adversary(const Schedule& schedule, Output& out) const {
    if (!latency_.empty() || mode_ == "event" || runs_ || !stragglers_.empty()) {
      throw Error(
          "--adversary plays planned times with latencies of its own: leave --latency, --mode, --runs and "
          "--straggler away");
    }
    Progress bar("adversary");
    solve::AdversaryOptions how;
    how.low = least_latency(schedule.machine);
    how.lateness = by_ == "item" ? solve::Lateness::item : solve::Lateness::finish;
    how.seed = seed_as_bits();
    how.progress = std::ref(bar);
    const solve::WorstCase worst = solve::worst_case(schedule, how);
    keep(solve::replay(schedule, worst), out);
    if (json_) {
      Json object{{"nominal", worst.nominal.ticks}, {"late", worst.late.ticks},         {"worst", worst.finish().ticks},
                  {"exact", worst.exact},           {"robustness", worst.robustness()}, {"explored", worst.explored}};
      object["latencies"] = Json::array();
      for (const Time latency : worst.latencies) object["latencies"].push_back(latency.ticks);
      out.write(object.dump(1) + "\n");
      return 0;
    }
    out.print("nominal finish {}, latencies {}..{}\n", worst.nominal.ticks, how.low.ticks, schedule.machine.L.ticks);
    out.print("worst {}: {}\n",
              how.lateness == solve::Lateness::item
                  ? fmt::format("item {} late", worst.late.ticks)
                  : fmt::format("finish {}, {} late, robustness {:.3f}", worst.finish().ticks, worst.late.ticks,
                                worst.robustness()),
              worst.exact ? "exact, " + worst.how : worst.how + ", not proved to be the worst of all");
    print_witness(schedule, worst, out);
    return 0;
  }

  Time least_latency(const LogP& machine) const {
    const std::int64_t least = machine.o == Time{0} ? 1 : 0;
    if (alpha_ == kNoAlpha) return Time{low_.value_or(least)};
    if (alpha_ < 0 || alpha_ > 1 || low_) throw Error("--alpha {}: use 0..1, and not together with --low", alpha_);
    return Time{std::max(least, static_cast<std::int64_t>(std::ceil(alpha_ * static_cast<double>(machine.L.ticks))))};
  }

  /// The messages that are faster than L: these are what does the harm.
  void print_witness(const Schedule& schedule, const solve::WorstCase& worst, Output& out) const {
    if (worst.late == Time{0}) return;
    if (std::ranges::count(worst.latencies, schedule.machine.L) == std::ssize(worst.latencies)) {
      out.print("witness: every message takes L; receptions that meet wait for each other\n");
      return;
    }
    const Trace trace = solve::replay(schedule, worst);
    out.print("witness, messages faster than L:\n");
    for (std::size_t m = 0; m < trace.times.size(); ++m) {
      if (worst.latencies[m] == schedule.machine.L) continue;
      const Send& send = trace.schedule.sends[m];
      out.print("  {:>6}  rank {} to {}, {}: latency {}, received {}\n", trace.times[m].send.ticks, send.from.index,
                send.to.index, send.part.lo, worst.latencies[m].ticks, trace.times[m].reception.ticks);
    }
  }

  std::uint64_t seed_as_bits() const { return static_cast<std::uint64_t>(seed_); }
  unsigned threads() const {
    if (threads_ < 0) throw Error("--threads {}: use at least 1, or 0 for all cores", threads_);
    return static_cast<unsigned>(threads_);
  }

  static constexpr std::pair<const char*, double> kQuantiles[] = {
      {"min", 0.0}, {"25%", 0.25}, {"median", 0.5}, {"75%", 0.75}, {"95%", 0.95}, {"99%", 0.99}, {"max", 1.0}};

  std::string file_;
  std::string latency_;
  std::string mode_;
  std::string adversary_;
  std::string by_;
  std::int64_t seed_ = 1;
  std::int64_t threads_ = 0;
  std::optional<std::int64_t> runs_;
  std::optional<std::int64_t> items_;
  std::optional<std::int64_t> low_;
  static constexpr double kNoAlpha = -std::numeric_limits<double>::max();
  double alpha_ = kNoAlpha;
  std::vector<std::string> stragglers_;
  std::optional<std::string> trace_;
  std::optional<std::string> out_;
  std::optional<std::string> goal_;
  bool json_ = false;
};

}  // namespace

CommandPtr make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace chasqui::cli
