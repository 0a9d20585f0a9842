// SPDX-License-Identifier: MIT
// Any bytes are an Error or a timeline; a timeline passes through its file unchanged and can be drawn.
#include <cstdint>

#include "chasqui/show/draw.hpp"
#include "chasqui/show/timeline.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  show::Timeline timeline;
  try {
    timeline = show::timeline_from_json(text, "input");
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  const std::string written = show::timeline_json(timeline);
  require(show::timeline_json(show::timeline_from_json(written, "again")) == written, "the file is stable");
  show::trace_json(timeline);
  if (timeline.P > 512) return 0;  // `chasqui draw` refuses to draw more
  show::chart_text(timeline, {});
  show::chart_svg(timeline);
  return 0;
}
