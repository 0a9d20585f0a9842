// SPDX-License-Identifier: MIT
// Any bytes are an Error or tables of another tool; a profile that they are added to passes through its file unchanged.
#include <cstdint>

#include "measure/foreign_tables.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Profile profile = default_profile();
  for (Level& level : profile.levels) level.ranks = 4;
  try {
    measure::add_tables(profile, measure::foreign_tables(text, "input"), "input", 0);
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  require(profile_from_json(to_json(profile), "again") == profile, "the file is stable");
  return 0;
}
