// SPDX-License-Identifier: MIT
// What the environment says. Read once in MPI_Init; all ranks must read the same, or nothing is served.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "chasqui/model/profile.hpp"
#include "preload/names.hpp"

namespace chasqui::preload {

struct Settings {
  bool disabled[kCollectives] = {};  ///< CHASQUI_DISABLE=Bcast,Allreduce or all
  bool log = false;                  ///< CHASQUI_LOG=1
  bool verify = false;               ///< CHASQUI_VERIFY=1
  bool reproducible = false;         ///< CHASQUI_REPRODUCIBLE=1
  bool same_bits = true;             ///< CHASQUI_SAME_BITS=0: reductions that round are compared like all others
  bool gpu = true;                   ///< CHASQUI_GPU=0: no call gets a pointer of a GPU
  std::string report;                ///< CHASQUI_REPORT=file
  std::int64_t after = 16;           ///< CHASQUI_AFTER: calls on a communicator before private state is made for it
  bool after_is_given = false;       ///< it is made whatever that costs
  std::int64_t trials = 3;           ///< CHASQUI_TRIALS: calls in the shortest block of a comparison; 0: always ours
  std::int64_t rehearse = 80;        ///< CHASQUI_REHEARSE: milliseconds that MPI_Init may compare; 0: not at all
  std::int64_t node_size = 0;        ///< CHASQUI_NODE_SIZE: ranks that count as one node; 0: as they are
  std::int64_t join = 60;  ///< CHASQUI_JOIN: seconds to wait in MPI_Init for ranks without the library; 0: for ever
  double stall = 2;  ///< CHASQUI_STALL_SECONDS: ranks on several nodes that wait so long compare their calls; 0: never
  double stall_notice = 60;  ///< CHASQUI_STALL_NOTICE: seconds after which a wait says so; 0: never
  std::shared_ptr<const Profile> profile;

  std::uint64_t hash() const;  ///< of what ranks must agree on, the version of this library included
};

/// Alive until the process ends, whoever exits how.
inline Settings& settings() {
  static Settings* const one = new Settings;
  return *one;
}

/// What the environment of this process says, without a profile; what cannot be understood is a warning.
Settings settings_of_environment(std::string& warnings);

/// Reads the environment; what cannot be understood is one warning on rank 0. The profile is rank 0's, for all.
/// Collective over MPI_COMM_WORLD. False: everything goes to the MPI library, as ranks disagree or calls may get pointers of a GPU.
bool read_settings();

/// One line on standard error.
void say(const std::string& text);

/// The same before MPI_Abort: launchers drop what a rank said in the moment before (seen with MPICH's), so it waits a little.
void say_last(const std::string& text);

}  // namespace chasqui::preload
