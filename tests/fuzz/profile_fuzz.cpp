// SPDX-License-Identifier: MIT
// Any bytes are an Error or a profile; a profile passes through its file unchanged, compares with itself, and every
// collective can be explained on it.
#include <cstdint>

#include "chasqui/model/profile.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/compare_profiles.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Profile profile;
  try {
    profile = profile_from_json(text, "input");
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  const std::string written = to_json(profile);
  require(to_json(profile_from_json(written, "again")) == written, "the file is stable");
  require(measure::all_agree(measure::compare(profile, profile)), "a profile agrees with itself");
  for (const int nodes : {1, 3, 12}) {
    run::Topology topology;
    topology.ranks = 12;
    topology.nodes = nodes;
    topology.largest_node = 12 / nodes;
    topology.board = nodes < 12;
    for (const Kind kind : {Kind::broadcast, Kind::allreduce, Kind::allgather, Kind::scatter}) {
      const auto list = run::choices({kind, 4096, 8, true}, topology, profile);
      require(!list.empty(), "there is always a way");
      for (const auto& choice : list) require(choice.nanoseconds >= 0, "times are not negative");
    }
  }
  return 0;
}
