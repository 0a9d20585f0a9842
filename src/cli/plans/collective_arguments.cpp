// SPDX-License-Identifier: MIT
#include "cli/plans/collective_arguments.hpp"

#include <cmath>
#include <cstdlib>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/plain_trees.hpp"
#include "chasqui/plan/segments.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "cli/plans/claim.hpp"

namespace chasqui::cli {

bool doubtful(const Estimate& estimate) {
  return estimate.high > 2 * estimate.low && estimate.high - estimate.low > 20;
}

void MachineArguments::declare(Command& command) {
  command.option("-P", "N", &P_, "processors");
  command.option("-L", "TICKS", &L_, "latency of a message in the network; with a unit (1.5us) a tick is a nanosecond")
      .tells_unit(unit_said_);
  command.option("-o", "TICKS", &o_, "overhead of sending, and again of receiving, a message; default 0")
      .tells_unit(unit_said_);
  command.option("-g", "TICKS", &g_, "gap between two sends, and two receptions, of one processor; default 1")
      .tells_unit(unit_said_);
  command.option("-N", "NODES", &N_, "a cluster: how many nodes; not with -P");
  command.option("-n", "RANKS", &n_,
                 "a cluster: ranks of each node, or of all of them one by one, like 16,16,8 or 16x2,8");
  command
      .option("--gamma", "TICKS", &gamma_,
              "a cluster: gap between two sends, and two receptions, of one node; default 0, or of --machine")
      .tells_unit(unit_said_);
  command
      .option("--publish", "TICKS", &publish_,
              "a cluster: time to put one thing into the memory of a node; default 0, or of --machine")
      .tells_unit(unit_said_);
  command.option("--read", "TICKS", &read_, "a cluster: time to read one thing from there; default 0, or of --machine")
      .tells_unit(unit_said_);
  command
      .option(
          "--machine", "FILE", &file_,
          "instead of -L -o -g: those of a profile of `chasqui measure`, in nanoseconds, of its network or, if it has "
          "none, its node")
      .file();
}

const Profile& MachineArguments::profile() const {
  if (!profile_) profile_ = read_profile(*file_);
  return *profile_;
}

const Level& MachineArguments::level() const {
  const Profile& all = profile();
  return all.knows_network() ? *all.level("network") : all.levels.front();
}

namespace {

Time nanoseconds(double value) { return Time{static_cast<std::int64_t>(std::llround(value))}; }

/// One node, "16", or several neighbours of one size, "16x1000".
void add_nodes(Nodes& nodes, const std::string& text, const std::string& all) {
  const std::size_t times = text.find('x');
  if (text.empty() || times == 0 || times == text.size() - 1)
    throw Error(
        "-n {}: {}: a list of nodes is the ranks of each, like 16,16,8, or 16x2,8 where neighbours have equally many",
        all,
        text.empty() ? "nothing between two commas, or behind the last" : fmt::format("'{}' lacks a number", text));
  const std::int64_t count = times == std::string::npos ? 1 : parse_integer(text.substr(times + 1), "-n");
  if (count < 1 || count > kMaxProcessors)
    throw Error("-n {}: so many nodes there cannot be; say 16x1000 for 1000 nodes of 16 ranks", text);
  nodes.add(parse_integer(text.substr(0, times), "-n"), count);
}

/// As a cluster has them: one overhead, and a gap of a tick at least.
LogP logp_of(const Level& level, std::int64_t P) {
  return {P, nanoseconds(level.L.value), nanoseconds((level.o_s.value + level.o_r.value) / 2),
          std::max(Time{1}, nanoseconds(level.g.value))};
}

}  // namespace

/// What was measured of adapters and boards; gaps that were not are guessed as the engines guess them.
void MachineArguments::take_node_costs(Nodes& nodes) const {
  const Time port = logp_of(level(), 1).gap();
  nodes.gamma = std::min(port, nanoseconds(level().node_gap(static_cast<double>(port.ticks))));
  if (const Level* node = profile().level("node")) {
    nodes.read = nanoseconds(node->publish.value * node->read_share());
    nodes.publish = nanoseconds(node->publish.value) - nodes.read;
  }
}

Nodes MachineArguments::nodes() const {
  Nodes nodes;
  if (!N_ && !n_) {
    const std::pair<bool, const char*> given[] = {
        {gamma_.has_value(), "--gamma"}, {publish_.has_value(), "--publish"}, {read_.has_value(), "--read"}};
    for (const auto& [present, name] : given) {
      if (present)
        throw Error("{} is for clusters: say how many nodes with -N, and how many ranks each has with -n", name);
    }
    return nodes;
  }
  if (!n_) throw Error("-n is missing: the ranks of each node, or a list like 16,16,8 or 16x2,8");
  if (P_) throw Error("-P and -N: a cluster has as many ranks as its nodes together; leave -P out");
  std::size_t from = 0;
  for (std::size_t comma = 0; comma != std::string::npos; from = comma + 1) {
    comma = n_->find(',', from);
    add_nodes(nodes, n_->substr(from, comma - from), *n_);
  }
  const std::int64_t listed = nodes.count();
  if (N_ && listed == 1) nodes.runs.front().count = *N_;
  if (N_ && listed > 1 && listed != *N_)
    throw Error("-N {} but -n lists {} nodes: give as many sizes, or one", *N_, listed);
  if (file_) take_node_costs(nodes);
  if (gamma_) nodes.gamma = Time{*gamma_};
  if (publish_) nodes.publish = Time{*publish_};
  if (read_) nodes.read = Time{*read_};
  return nodes;
}

std::string MachineArguments::spelled() const {
  const LogP machine = this->machine();
  const Nodes nodes = this->nodes();
  std::string text = fmt::format("-P {}", machine.P);
  if (!nodes.empty()) {
    text = fmt::format("-N {} -n {} --gamma {} --publish {} --read {}", nodes.count(), *n_, nodes.gamma.ticks,
                       nodes.publish.ticks, nodes.read.ticks);
  }
  return text + fmt::format(" -L {} -o {} -g {}", machine.L.ticks, machine.o.ticks, machine.g.ticks);
}

LogP MachineArguments::machine() const {
  const Nodes nodes = this->nodes();
  LogP machine{P_.value_or(0), Time{L_.value_or(0)}, Time{o_.value_or(0)}, Time{g_.value_or(1)}};
  if (file_) {
    if (L_ || o_ || g_) throw Error("--machine {} and -L, -o, -g: give one of them", *file_);
    machine = logp_of(level(), P_.value_or(level().ranks));
  } else if (!P_ && nodes.empty()) {
    throw Error("-P is missing: the number of processors");
  } else if (!L_) {
    throw Error("-L is missing: the latency of a message, or --machine FILE with a profile of `chasqui measure`");
  }
  if (!nodes.empty()) {
    machine.P = nodes.ranks();
    validate(Cluster{machine, nodes});
  }
  validate(machine);
  return machine;
}

std::string MachineArguments::doubts() const {
  if (!file_) return {};
  std::string wide;
  for (const auto& [name, value] : {std::pair{"L", level().L}, std::pair{"o of sending", level().o_s},
                                    std::pair{"o of receiving", level().o_r}, std::pair{"g", level().g}}) {
    if (doubtful(value)) wide += fmt::format("  {} {:.0f} to {:.0f} ns\n", name, value.low, value.high);
  }
  if (wide.empty()) return {};
  return fmt::format("{}: measured too roughly to plan by:\n{}  measure again on a quiet machine\n", *file_, wide);
}

LogGP MachineArguments::machine_with_bytes(const std::optional<std::string>& G) const {
  LogGP result{machine(), 1, 1};
  if (!G && file_) {
    result.G_bytes = 1'000'000;
    result.G_ticks = std::llround(level().G.value * static_cast<double>(result.G_bytes));
    return result;
  }
  const std::string text = G.value_or("1");
  if (text.find_first_of("0123456789") == std::string::npos)
    throw Error("--G: '{}' is no gap per byte: write e.g. 3, 0.125 or 1/8", text);
  const std::size_t slash = text.find('/'), point = text.find('.');
  if (point != std::string::npos && slash == std::string::npos && text.size() - point <= 10) {
    result.G_ticks = parse_integer(text.substr(0, point) + text.substr(point + 1), "--G");
    for (std::size_t i = point + 1; i < text.size(); ++i) result.G_bytes *= 10;
    return result;
  }
  result.G_ticks = parse_integer(text.substr(0, slash), "--G");
  if (slash != std::string::npos) result.G_bytes = parse_integer(text.substr(slash + 1), "--G");
  return result;
}

void CollectiveArguments::declare(Command& command) {
  command.positional("COLLECTIVE", &name_, "what to plan").required().choices(plan::collective_names());
  machine_.declare(command);
  command.option("--root", "RANK", &root_, "the rank that has, or gets, everything; default 0");
  command.option(
      "--items", "K", &items_,
      "how many items (broadcast, reduce, allreduce: in all; allgather, reduce-scatter: a rank; alltoall: a pair); default 1");
  command.option("--bytes", "BYTES", &bytes_,
                 "broadcast: a message of this size (64KiB), cut into as many items as end earliest");
  command.option("--G", "TICKS/BYTES", &G_, "--bytes: gap per byte, like 1/8, 0.125 or 3; default 1");
  command.option("--operands", "N", &operands_, "sum: this many operands in the least time");
  command.option("--time", "TICKS", &time_, "sum: as many operands as this time allows");
  command.flag("--non-commutative", non_commutative_, "the operator must see its operands in rank order");
  command.flag("--exclusive", exclusive_, "scan: rank i gets the fold of ranks 0..i-1");
  command.option("--algorithm", "NAME", &algorithm_,
                 "another construction than the best, such as binomial; `--algorithm list` explains all");
}

const plan::Collective& CollectiveArguments::collective() const { return plan::collective(name_); }

void CollectiveArguments::refuse_strangers(const plan::Collective& chosen) const {
  const std::pair<bool, std::pair<unsigned, const char*>> given[] = {
      {root_.has_value(), {plan::kRoot, "--root"}},    {items_.has_value(), {plan::kItems, "--items"}},
      {bytes_.has_value(), {plan::kBytes, "--bytes"}}, {operands_.has_value(), {plan::kOperands, "--operands"}},
      {time_.has_value(), {plan::kTime, "--time"}},    {non_commutative_, {plan::kNonCommutative, "--non-commutative"}},
      {exclusive_, {plan::kExclusive, "--exclusive"}}, {algorithm_.has_value(), {plan::kAlgorithm, "--algorithm"}},
  };
  for (const auto& [present, option] : given) {
    if (present && (chosen.takes & option.first) == 0) {
      throw Error("{} has no meaning for {}: leave it out", option.second, chosen.name);
    }
  }
}

plan::KernelTablePtr kernels_from_environment() {
  static const plan::KernelTablePtr table = [] {
    const char* path = std::getenv("CHASQUI_KERNELS");
    return path == nullptr || *path == 0 ? nullptr : plan::read_kernel_table(path);
  }();
  return table;
}

plan::Request CollectiveArguments::request() const {
  plan::Request request;
  request.problem.kind = collective().kind;
  request.machine = machine_.machine();
  request.nodes = machine_.nodes();
  const std::int64_t root = root_.value_or(0);
  if (root < 0 || root >= request.machine.P) {
    throw Error("--root {} does not exist: ranks are 0..{}", root, request.machine.P - 1);
  }
  request.problem.root = Rank{static_cast<std::int32_t>(root)};
  request.problem.items = items_.value_or(1);
  if (request.problem.items < 1) throw Error("--items {} is too small: it must be at least 1", request.problem.items);
  request.operands = operands_;
  request.time = time_;
  request.problem.commutative = !non_commutative_;
  request.problem.exclusive = exclusive_;
  if (algorithm_ && *algorithm_ != "best") request.algorithm = *algorithm_;
  request.kernels = kernels_from_environment();
  return request;
}

std::optional<CollectiveArguments::Message> CollectiveArguments::message() const {
  if (!bytes_) {
    if (G_) throw Error("--G is the gap per byte: give the size of the message with --bytes");
    return std::nullopt;
  }
  if (!machine_.nodes().empty()) throw Error("--bytes is not planned on clusters: leave it out, or give -P");
  if (items_) throw Error("--items and --bytes: give one of them; with --bytes the number of items is chosen");
  if (algorithm_) throw Error("--algorithm and --bytes: the number of segments is chosen for the best plan only");
  return Message{machine_.machine_with_bytes(G_), *bytes_};
}

plan::PlanPtr CollectiveArguments::plan() const {
  const plan::Collective& chosen = collective();
  refuse_strangers(chosen);
  if (const auto cut = message())
    return plan::broadcast_bytes(cut->machine, cut->bytes, request().problem.root,
                                 {.kernels = kernels_from_environment()});
  return make_plan(request());
}

std::string CollectiveArguments::algorithms() const {
  const plan::Collective& chosen = collective();
  refuse_strangers(chosen);
  plan::Request wanted;
  if (machine_.given()) wanted = request();
  wanted.algorithm.clear();
  const bool on_cluster = !wanted.nodes.empty();
  const auto outcome = [&]() -> std::string {
    if (!machine_.given()) return "-";
    try {
      const plan::PlanPtr plan = make_plan(wanted);
      return fmt::format("{} {}", plan->problem().kind == Kind::stream ? "delay" : "finish",
                         plan->claim().finish.ticks);
    } catch (const Error&) {
      return std::string("does not apply");
    }
  };
  std::string text = fmt::format("{:<15} {:<15} {}\n", "best", outcome(), "the best schedule known (the default)");
  const auto line = [&](std::string_view name, const std::string& summary) {
    wanted.algorithm = name;
    text += fmt::format("{:<15} {:<15} {}\n", name, outcome(), wrap(summary, 32, 80));
  };
  if (on_cluster) {
    line("leaders", "one rank a node talks, as most libraries do it");
    return text;
  }
  for (const plan::PlainTree tree : plan::kPlainTrees) line(to_string(tree), std::string(summary(tree)));
  if (chosen.kind != Kind::broadcast && chosen.kind != Kind::stream) return text;
  for (const plan::StreamAlgorithm& algorithm : plan::stream_algorithms()) {
    line(algorithm.name, std::string(algorithm.summary) + (algorithm.buffered ? " [verify with --buffered]" : ""));
  }
  return text;
}

std::string CollectiveArguments::heading(const plan::Plan& plan) const {
  const std::string asked = to_string(machine_.machine()), planned = machine_text(plan);
  const bool as_asked = !plan.nodes().empty() || asked == planned;
  const std::string items = items_.value_or(1) != 1 ? fmt::format(" of {} items", *items_) : "";
  return fmt::format("{}{} on {}{}{}", name_, items, as_asked ? planned : asked,
                     machine_.in_nanoseconds() ? ", in nanoseconds" : "",
                     as_asked ? "" : fmt::format(", planned as {}", planned));
}

std::string CollectiveArguments::spelled() const {
  std::string text = fmt::format("{} {}", name_, machine_.spelled());
  if (root_) text += fmt::format(" --root {}", *root_);
  if (items_) text += fmt::format(" --items {}", *items_);
  if (bytes_) text += fmt::format(" --bytes {} --G {}", *bytes_, G_.value_or("1"));
  if (operands_) text += fmt::format(" --operands {}", *operands_);
  if (time_) text += fmt::format(" --time {}", *time_);
  if (non_commutative_) text += " --non-commutative";
  if (exclusive_) text += " --exclusive";
  if (algorithm_) text += fmt::format(" --algorithm {}", *algorithm_);
  return text;
}

}  // namespace chasqui::cli
