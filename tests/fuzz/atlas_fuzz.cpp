// SPDX-License-Identifier: MIT
// Any line is an Error or an entry of the atlas; an entry passes through its line unchanged and its witness can be judged.
#include <cstdint>

#include "chasqui/solve/atlas.hpp"
#include "chasqui/verify/verify.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  solve::AtlasEntry entry;
  try {
    entry = solve::entry_from_line(line, "input");
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  const std::string again = solve::to_line(entry);
  require(solve::to_line(solve::entry_from_line(again, "again")) == again, "the line is stable");
  verify(entry.witness, {.most = 100});
  return 0;
}
