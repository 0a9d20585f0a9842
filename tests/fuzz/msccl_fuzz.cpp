// SPDX-License-Identifier: MIT
// Any bytes are an Error or a schedule whose ports are used legally; one without faults that is legal can be written again.
#include <cstdint>

#include "chasqui/translate/translate.hpp"
#include "chasqui/verify/verify.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  translate::Imported imported;
  try {
    imported = translate::from_msccl(text, "input", {Time{6}, Time{2}, Time{4}});
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  require(verify(imported.schedule, {.rules = 0b11'1100}).legal(), "ports are used legally");
  if (!imported.faults.empty() || !verify(imported.schedule).legal()) return 0;
  try {
    const std::string again = translate::to_msccl(imported.schedule, "again");
    require(translate::from_msccl(again, "again", {Time{6}, Time{2}, Time{4}}).faults.empty(),
            "what was written is right");
  } catch (const Error&) {  // the format has limits of its own
  }
  return 0;
}
