// SPDX-License-Identifier: MIT
// chasqui plan: the best schedule known for a collective on a machine.
#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/base/in_words.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/segments.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/schedule/unroll.hpp"
#include "chasqui/show/draw.hpp"
#include "chasqui/solve/robust.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/plans/claim.hpp"
#include "cli/plans/collective_arguments.hpp"
#include "cli/plans/exact.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::cli {
namespace {

constexpr std::int64_t kDrawnUnasked = 32;            ///< up to this many processors the plan is drawn at once …
constexpr std::int64_t kDrawnUnaskedMessages = 2000;  ///< … and so many messages

constexpr std::int64_t kMostMessages = 10'000'000;

/// plan.schedule(), or an Error that names the remedy when it has more than kMostMessages messages.
Schedule materialise(const plan::Plan& plan, const CollectiveArguments& arguments) {
  const std::int64_t messages = message_count(plan);
  if (messages > kMostMessages) {
    throw Error(
        "a schedule of {} messages is too large to build (at most {}): ask for one rank with --rank R, or for "
        "the claim with 'chasqui bound {}'",
        in_words(messages), kMostMessages, arguments.spelled());
  }
  return plan.schedule();
}

/// plan.local(rank), or an Error when the rank does not exist or has too many messages of its own.
LocalForm local_form(const plan::Plan& plan, std::int64_t rank) {
  const std::int64_t P = plan.machine().P;
  if (rank < 0 || rank >= P) throw Error("--rank {} does not exist: ranks are 0..{}", rank, P - 1);
  const std::int64_t own = plan::message_count(plan, Rank{static_cast<std::int32_t>(rank)});
  if (own > kMostMessages) {
    const bool many_ranks = own / plan.problem().items > kMostMessages;
    throw Error("--rank {}: this rank alone has {} messages (at most {}): ask with {}", rank, own, kMostMessages,
                !many_ranks            ? "fewer --items"
                : plan.nodes().empty() ? "a smaller -P"
                                       : "a smaller -N");
  }
  return plan.local(Rank{static_cast<std::int32_t>(rank)});
}

constexpr std::uint64_t kEffort = 400'000;  ///< a mutation costs about the number of messages times the time
constexpr std::int64_t kStreamItems = 8;    ///< a stream is judged by so many items unless --items says otherwise

std::vector<solve::Candidate> candidates(const LogP& machine, std::int64_t k, Rank root,
                                         const plan::KernelTablePtr& kernels) {
  std::vector<solve::Candidate> list = {{"best", plan::kitem(machine, k, root, {.kernels = kernels})->schedule()}};
  for (const plan::StreamAlgorithm& algorithm : plan::stream_algorithms()) {
    try {
      list.push_back({std::string(algorithm.name), algorithm.items(machine, k, root)->schedule(), algorithm.buffered});
    } catch (const Error&) {
      continue;  // this construction does not apply here
    }
  }
  for (solve::Candidate& candidate : list) candidate.schedule.bound = plan::kitem_bound(machine, k);
  return list;
}

/// The k-item broadcast that finishes first when every latency may be anything in 1..L; a stream is judged by its first
/// k items. The claim keeps the bound for exact latency and names the worst case. Throws an Error for anything else.
plan::PlanPtr most_robust_plan(const plan::PlanPtr& planned, const plan::Request& request) {
  const Kind kind = planned->problem().kind;
  if (kind != Kind::broadcast && kind != Kind::stream) {
    throw Error("--robust is for kitem, broadcast and stream: leave it out for {}", to_string(kind));
  }
  const LogP& machine = planned->machine();
  if (!planned->nodes().empty()) throw Error("--robust is not known for clusters: leave it out, or give -P");
  if (!machine.is_postal()) throw Error("--robust needs the postal machine: use -o 0 -g 1");
  const std::int64_t k = kind == Kind::stream && request.problem.items == 1 ? kStreamItems : request.problem.items;
  Progress bar("robust");
  solve::RobustOptions options;
  options.adversary.states = 200'000;
  options.adversary.plays = 4'000;
  const auto moments =
      static_cast<std::uint64_t>(k * machine.P) * static_cast<std::uint64_t>(plan::kitem_bound(machine, k).ticks);
  options.mutations = std::clamp<std::uint64_t>(kEffort / std::max<std::uint64_t>(moments, 1), 20, 1000);
  options.progress = std::ref(bar);
  const solve::RobustSchedule robust =
      solve::most_robust(candidates(machine, k, request.problem.root, request.kernels), options);
  const std::string verdict = robust.worst.exact ? "exactly" : "at least (heuristic)";
  plan::Claim claim{
      robust.schedule.finish, plan::kitem_bound(machine, k), "counting bound for exact latency",
      fmt::format("{}; worst case over latencies 1..L: {} {}{}", robust.how, verdict, robust.worst.finish().ticks,
                  robust.proved ? ", proved to be the least" : ", not proved to be the least")};
  return std::make_shared<plan::ListedPlan>(robust.schedule.machine, robust.schedule.problem, std::move(claim),
                                            robust.schedule.sends);
}

class PlanCommand final : public Command {
 public:
  PlanCommand() : Command("plan", "plan a collective: the best schedule known, and how good it is") {
    describe(
        "Prints when the schedule finishes, a proved lower bound, and where the bound comes from. \"Optimal\" is "
        "said only when the two are equal. Small schedules are drawn. --out writes a schedule file for verify, "
        "draw and simulate; --json prints it. --rank says what one rank does, for any number of processors.\n"
        "kitem is a broadcast of many items, stream one without end, and sum adds many operands.");
    arguments_.declare(*this);
    option("--rank", "R", &rank_, "only what rank R does, without building the schedule");
    flag("--json", json_, "print the schedule file (with --rank: the rank's part as JSON)");
    flag("--exact", exact_, "search for the true optimum (small instances; see also `chasqui solve`)");
    flag("--robust", robust_,
         "kitem, stream: the plan whose worst case is best when latencies vary in 1..L (see also `chasqui simulate`)");
    flag("--why", why_, "--bytes: explain the number of segments, by formula and search");
    option("--time-limit", "SECONDS", &time_limit_, "--exact: stop searching then; default 0, no limit");
    option("--out", "FILE", &out_, "write the schedule to FILE; - is the standard output").file();
    example("chasqui plan broadcast -P 8 -L 6 -o 2 -g 4", "the optimal broadcast on 8 processors");
    example("chasqui plan reduce -P 8 -L 6 -o 2 -g 4 --root 3 --out r.json", "write a schedule file");
    example("chasqui plan sum -P 8 -L 5 -o 2 -g 4 --time 28", "the most operands that can be added in 28 ticks");
    example("chasqui plan allreduce -P 13 -L 3 --non-commutative --json", "the schedule file on standard output");
    example("chasqui plan broadcast -P 10^9 -L 5e6 -o 2000 -g 4000 --rank 123456789",
            "what one of a billion ranks does");
    example("chasqui plan allgather -P 4 -L 2 -o 2 -g 2 --exact", "the true optimum, by search");
    example("chasqui plan kitem -P 32 -L 2000 -o 300 -g 400 --bytes 1e6 --G 1/4 --why",
            "a megabyte at 4 bytes a tick: how many segments, and why");
    example("chasqui plan allreduce -N 64 -n 16 -L 28 -o 2 -g 6 --publish 2 --read 2",
            "a cluster: 64 nodes of 16 ranks that share memory");
    example("chasqui plan kitem -P 4 -L 3 --items 3 --robust", "the best worst case when latencies vary");
  }

  int run(Output& out) override {
    if (arguments_.asks_for_algorithms()) {
      out.write(arguments_.algorithms());
      return 0;
    }
    const auto message = arguments_.message();
    if (why_ && !message)
      throw Error("--why explains how a message is cut: give its size with --bytes (see also `chasqui explain`)");
    const plan::PlanPtr plan = this->plan();
    out.error(arguments_.machine().doubts());
    if (rank_) return show_rank(*plan, out);
    if (json_ || out_ == "-") {
      const Schedule schedule = materialise(*plan, arguments_);
      if (out_ && out_ != "-") write_schedule(*out_, schedule);
      out.write(to_json(schedule));
      return 0;
    }
    std::int64_t written = 0;
    if (out_) {
      const Schedule schedule = materialise(*plan, arguments_);
      write_schedule(*out_, schedule);
      written = static_cast<std::int64_t>(schedule.sends.size());
    }
    out.print("{}\n", out.bold(arguments_.heading(*plan)));
    out.write(claim_text(*plan, out));
    if (const auto* sum = dynamic_cast<const plan::SumPlan*>(plan.get())) {
      out.print("operands      {} on {} rank{}\n", sum->operands(), sum->participants(),
                sum->participants() == 1 ? "" : "s");
    }
    if (message) {
      const plan::Segmentation choice = plan::choose_segments(message->machine, message->bytes);
      out.print("segments      {} of {} bytes\n", choice.best.segments, choice.best.bytes);
      if (why_) out.print("\n{}", fit(plan::explain(message->machine, message->bytes, choice), out.width()));
    }
    if (out_) {
      out.print("written       {}, {} messages\n", *out_, written);
    } else if (plan->machine().P <= kDrawnUnasked && message_count(*plan) <= kDrawnUnaskedMessages) {
      draw(*plan, out);
    }
    return 0;
  }

 private:
  /// The planner's, or a better one from the atlas, or with --exact the solver's.
  plan::PlanPtr plan() const {
    const plan::PlanPtr planned = arguments_.plan();
    if (robust_) return most_robust_plan(planned, arguments_.request());
    if (!arguments_.request().algorithm.empty() && !exact_) return planned;  // a construction asked for by name
    return exact_ ? improve_by_search(planned, time_limit_) : improve_by_atlas(planned);
  }

  int show_rank(const plan::Plan& plan, Output& out) const {
    const LocalForm local = local_form(plan, *rank_);
    if (json_ || out_) {
      write_file(out_.value_or("-"), local_json(plan, local), out);
      return 0;
    }
    out.print("{}\n", out.bold(fmt::format("rank {} of {}", *rank_, arguments_.heading(plan))));
    out.write(claim_text(plan, out));
    out.write(local_text(plan, local, out));
    return 0;
  }

  void draw(const plan::Plan& plan, Output& out) const {
    const Schedule schedule = plan.schedule();
    if (std::ssize(unroll_first_items(schedule).sends) > kDrawnUnaskedMessages)
      return;  // of a stream all that is drawn
    const std::string picture = show::to_text(schedule, {out.utf8(), out.colour(), out.width()});
    const std::size_t title = picture.find('\n');
    out.print("\n{}", picture.substr(title + 1));
  }

  CollectiveArguments arguments_;
  std::optional<std::int64_t> rank_;
  bool json_ = false;
  bool exact_ = false;
  bool robust_ = false;
  bool why_ = false;
  double time_limit_ = 0;
  std::optional<std::string> out_;
};

}  // namespace

CommandPtr make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace chasqui::cli
