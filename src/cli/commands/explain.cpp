// SPDX-License-Identifier: MIT
// chasqui explain: which way a collective would be run on a measured machine, and why.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/run/choose.hpp"
#include "cli/frame/command.hpp"

namespace chasqui::cli {
namespace {

class ExplainCommand final : public Command {
 public:
  ExplainCommand() : Command("explain", "say how a collective would be run, its predicted time, and the runner-up") {
    describe(
        "Lists every way in which Chasqui could run the collective, with its predicted time. The fastest comes "
        "first, and programs that make this call take it. The times come from the profile of --machine, or else "
        "from built-in guesses. The number behind a method is the radix of its rounds, or how many lanes a node has, or items.");
    positional("COLLECTIVE", &kind_, "what to run")
        .required()
        .choices(plan::collective_names(&plan::Collective::called));
    option("--bytes", "BYTES", &bytes_, "size of one rank's contribution (default 8)");
    option("-P,--processors", "N", &ranks_, "ranks (default: as measured, else 16)");
    option("--nodes", "N", &nodes_, "on how many nodes the ranks are (default 1; as many as ranks: all by messages)");
    option(
        "--levels", "LEVELS", &levels_,
        "what the ranks of the node share, as \"socket:2 l3:4\": two sockets of four caches, filled in rank order (also numa, l2, core)");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`").file();
    flag("--ordered", ordered_, "the operator does not commute");
    flag("--json", json_, "print as JSON");
    example("chasqui explain broadcast --bytes 1048576 -P 64 --nodes 64", "a long broadcast over a network");
  }

  int run(Output& out) override {
    const auto kind = kind_from(kind_);
    const Profile profile = machine_ ? read_profile(*machine_) : default_profile();
    const std::int64_t measured = profile.levels.front().ranks;
    const std::int64_t ranks = ranks_.value_or(measured > 0 ? measured : 16);
    constexpr std::int64_t kMost = 10'000'000'000'000;  // beyond it times would not fit into the model's ticks
    if (bytes_ < 0 || bytes_ > kMost) throw Error("--bytes {} is not in 0..{}", bytes_, kMost);
    if (ranks < 1 || ranks > 1'000'000) throw Error("-P {} is not in 1..1000000", ranks);
    if (nodes_ < 1 || nodes_ > ranks) throw Error("--nodes {} is not in 1..{}", nodes_, ranks);
    run::Topology topology;
    topology.ranks = static_cast<int>(ranks);
    topology.nodes = static_cast<int>(nodes_);
    topology.largest_node = static_cast<int>((ranks + nodes_ - 1) / nodes_);
    topology.smallest_node = static_cast<int>(ranks / nodes_);
    topology.board = topology.largest_node > 1 || nodes_ == 1;
    const Level* node = profile.level("node");
    topology.shares_memory = nodes_ == 1 && node != nullptr && node->threads;
    topology.cross_memory = nodes_ == 1 && !profile.cross_memory.empty();
    if (!levels_.empty()) {
      const auto seats = made_up_seats(levels_, topology.ranks);
      if (!seats)
        throw Error(
            "--levels \"{}\": expected, as \"socket:2 l3:4 core:8\", how many socket, numa, l3, l2, core there are in each of those before",
            levels_);
      if (nodes_ > 1) throw Error("--levels are those of one node, and --nodes is {}", nodes_);
      topology.near = nearness_of(*seats);
    }
    const std::int64_t bytes = *kind == Kind::barrier ? 0 : bytes_;
    const run::Query query{*kind, static_cast<std::size_t>(bytes), 1, !ordered_};
    if (!json_) {
      std::string text = run::explain(query, topology, profile);
      if (!machine_) {  // after the line that begins with "why"
        text.insert(text.find('\n', text.find("\nwhy") + 1) + 1,
                    "machine   guessed: `chasqui measure --out FILE` measures it, then --machine FILE\n");
      }
      out.write(fit(text, out.width()));
      return 0;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& choice : run::choices(query, topology, profile)) {
      list.push_back({{"method", to_string(choice.method)},
                      {"parts", choice.parts},
                      {"nanoseconds", choice.nanoseconds},
                      {"why", choice.why}});
    }
    nlohmann::ordered_json root = {{"collective", kind_}, {"bytes", bytes}, {"ranks", ranks}, {"choices", list}};
    if (!machine_) root["machine"] = profile.how;
    if (const auto levels = run::reason_for_levels(query, topology, profile); !levels.empty()) root["levels"] = levels;
    if (const auto lanes = run::reason_for_lanes(query, topology, profile); !lanes.empty())
      root["lanes"] = fmt::to_string(fmt::join(lanes, "; "));
    if (const auto doubt = run::doubt_of(topology, profile); !doubt.empty())
      root["but"] = fmt::to_string(fmt::join(doubt, " "));
    out.write(root.dump(2) + "\n");
    return 0;
  }

 private:
  std::string kind_;
  std::int64_t bytes_ = 8;
  std::optional<std::int64_t> ranks_;
  std::int64_t nodes_ = 1;
  std::string levels_;
  std::optional<std::string> machine_;
  bool ordered_ = false;
  bool json_ = false;
};

}  // namespace

CommandPtr make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace chasqui::cli
