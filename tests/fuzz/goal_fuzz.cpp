// SPDX-License-Identifier: MIT
// Any bytes are an Error or a schedule whose ports are used legally.
#include <cstdint>

#include "chasqui/translate/translate.hpp"
#include "chasqui/verify/verify.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const Kind kind : {Kind::broadcast, Kind::allreduce, Kind::alltoall}) {
    try {
      const auto imported = translate::from_goal(text, "input", {Time{6}, Time{2}, Time{4}}, {.kind = kind});
      require(verify(imported.schedule, {.rules = 0b11'1100}).legal(), "ports are used legally");
    } catch (const Error& error) {
      require_named_place(error);
    }
  }
  return 0;
}
