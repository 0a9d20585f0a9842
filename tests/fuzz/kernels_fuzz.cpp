// SPDX-License-Identifier: MIT
// Any bytes are an Error or a table of kernels; each of its lines is an Error or a kernel, which passes through its text
// unchanged and can be judged.
#include <cstdint>

#include "plan/kernel/codec.hpp"
#include "plan/kernel/table.hpp"
#include "require.hpp"

using namespace chasqui;
using namespace chasqui::plan;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<kernel::TableLine> lines;
  try {
    lines = kernel::parse_table(text, "input");
  } catch (const Error&) {
    return 0;
  }
  for (const kernel::TableLine& line : lines) {
    try {
      const kernel::Kernel found = kernel::decode(line.text, line.P - 1, line.L, "input");
      const std::string again = kernel::encode(found);
      require(kernel::encode(kernel::decode(again, line.P - 1, line.L, "again")) == again, "the line is stable");
      if (kernel::steady_error(found).empty()) kernel::endgame_error(found);
    } catch (const Error& error) {
      require(std::string_view(error.what()).find('\n') == std::string_view::npos, "the message is one line");
    }
  }
  return 0;
}
