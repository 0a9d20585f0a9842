// SPDX-License-Identifier: MIT
// The table of collectives: name, planner, help. A new collective is one line in collectives.cpp; `plan`, `bound` and
// every other command that takes a collective read it from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/model/loggp.hpp"
#include "chasqui/plan/plan.hpp"
#include "cli/frame/command.hpp"

namespace chasqui::cli {

/// What the command line asked for.
struct Request {
  LogP machine;
  Rank root{0};
  std::int64_t items = 1;
  std::optional<std::int64_t> operands;
  std::optional<std::int64_t> time;
  bool commutative = true;
  bool exclusive = false;
  std::string algorithm;  ///< a named construction; empty: the best one known
};

/// Options that only some collectives take.
enum Accepts : unsigned {
  kRoot = 1,
  kItems = 2,
  kOperands = 4,
  kTime = 8,
  kNonCommutative = 16,
  kExclusive = 32,
  kAlgorithm = 64,
  kBytes = 128,
};

struct Collective {
  std::string_view name;
  std::string_view summary;
  unsigned accepts;
  plan::PlanPtr (*plan)(const Request&);
};

const std::vector<Collective>& collectives();

/// The machine options of every command that plans or simulates: -P -L -o -g.
class MachineArguments {
 public:
  void declare(Command& command);
  /// Throws Error naming the option out of range.
  LogP machine() const;

 private:
  std::int64_t P_ = 0;
  std::int64_t L_ = 0;
  std::int64_t o_ = 0;
  std::int64_t g_ = 1;
};

/// "TICKS/BYTES" or "TICKS", as --G takes it.
LogGP parse_gap_per_byte(const LogP& machine, const std::string& text);

/// COLLECTIVE -P -L -o -g and the options of single collectives.
class CollectiveArguments {
 public:
  void declare(Command& command);
  /// Throws Error for an unknown collective, a bad machine, or an option that has no meaning for the collective.
  plan::PlanPtr plan() const;
  const Collective& collective() const;
  Request request() const;
  /// `--algorithm list`: the named constructions and what each makes of this request.
  bool asks_for_algorithms() const { return algorithm_ == "list"; }
  std::string algorithms() const;
  /// --bytes: the machine with its gap per byte, and the size of the message that is cut into items.
  struct Message {
    LogGP machine;
    std::int64_t bytes = 0;
  };
  std::optional<Message> message() const;
  /// "broadcast -P 8 -L 6 -o 2 -g 4": the same request again, for remedies.
  std::string spelled() const;

 private:
  void refuse_strangers(const Collective& chosen) const;

  std::string name_;
  MachineArguments machine_;
  std::optional<std::int64_t> root_;
  std::optional<std::int64_t> items_;
  std::optional<std::int64_t> bytes_;
  std::optional<std::string> G_;
  std::optional<std::int64_t> operands_;
  std::optional<std::int64_t> time_;
  bool non_commutative_ = false;
  bool exclusive_ = false;
  std::optional<std::string> algorithm_;
};

}  // namespace chasqui::cli
