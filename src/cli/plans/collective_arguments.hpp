// SPDX-License-Identifier: MIT
// A collective as the command line asks for it: its name, the machine, and the options that its row of the table takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "chasqui/model/loggp.hpp"
#include "chasqui/model/profile.hpp"
#include "chasqui/plan/collectives.hpp"
#include "cli/frame/command.hpp"

namespace chasqui::cli {

/// Is the interval so wide that the value says little? A nanosecond or two is nothing.
bool doubtful(const Estimate& estimate);

/// The machine options of every command that plans or solves: -P -L -o -g, or a measured one; with -N and -n a cluster.
class MachineArguments {
 public:
  void declare(Command& command);
  /// Throws Error naming what is missing or out of range.
  LogP machine() const;
  /// The nodes of a cluster; empty without -N and -n. Throws Error naming what is missing or out of range.
  Nodes nodes() const;
  /// "-P 8" or "-N 4 -n 2 --gamma 1 …", and -L -o -g: the same machine again, for remedies.
  std::string spelled() const;
  /// With the gap per byte: "TICKS/BYTES", "0.125" or "TICKS" as --G takes it; without it the measured one, or 1.
  LogGP machine_with_bytes(const std::optional<std::string>& G) const;
  /// A line about values of --machine whose intervals are so wide that they say little, or empty.
  std::string doubts() const;
  bool given() const { return P_ || L_ || o_ || g_ || N_ || n_ || file_; }  ///< any of it
  bool in_nanoseconds() const { return file_.has_value() || unit_said_; }   ///< measured, or given with a unit

 private:
  const Profile& profile() const;
  const Level& level() const;
  void take_node_costs(Nodes& nodes) const;

  std::optional<std::int64_t> P_, L_, o_, g_, N_, gamma_, publish_, read_;
  std::optional<std::string> n_;
  std::optional<std::string> file_;
  bool unit_said_ = false;
  mutable std::optional<Profile> profile_;  ///< of the file, read once: it may be a pipe
};

/// The table of further kernels that CHASQUI_KERNELS names, read once; nullptr without the variable.
plan::KernelTablePtr kernels_from_environment();

/// COLLECTIVE -P -L -o -g and the options of single collectives.
class CollectiveArguments {
 public:
  void declare(Command& command);
  /// Throws Error for an unknown collective, a bad machine, or an option that has no meaning for the collective.
  plan::PlanPtr plan() const;
  const plan::Collective& collective() const;
  plan::Request request() const;
  /// `--algorithm list`: the named constructions and, where a machine is given, what each makes of this request.
  bool asks_for_algorithms() const { return algorithm_ == "list"; }
  std::string algorithms() const;
  /// --bytes: the machine with its gap per byte, and the size of the message that is cut into items.
  struct Message {
    LogGP machine;
    std::int64_t bytes = 0;
  };
  std::optional<Message> message() const;
  /// "broadcast on P=8 L=6 o=2 g=4": the machine that was asked for, and the one that was planned for where it is another.
  std::string heading(const plan::Plan& plan) const;
  const MachineArguments& machine() const { return machine_; }
  /// "broadcast -P 8 -L 6 -o 2 -g 4": the same request again, for remedies.
  std::string spelled() const;

 private:
  void refuse_strangers(const plan::Collective& chosen) const;

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
