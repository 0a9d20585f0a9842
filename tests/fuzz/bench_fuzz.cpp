// SPDX-License-Identifier: MIT
// Any bytes are an Error with file and line, or rows of `chasqui bench --out` of which a page can be made.
#include <cstdint>

#include "cli/plans/report_page.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<cli::BenchData> benches;
  try {
    benches.push_back(cli::bench_data_from_csv(text, "input", "threads"));
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.substr(0, 6) == "input:", "the message opens with the place");
    return 0;
  }
  for (const auto& time : benches[0].times) {
    require(time.bytes >= 0 && time.ranks >= 0 && time.median >= 0, "counts and times are not negative");
  }
  show::Page page("times", "of one file");
  for (const auto& time : benches[0].times) {
    if (&time - benches[0].times.data() >= 10) break;
    cli::measured_part(page, benches, time.collective);
  }
  cli::speed_ups(benches);
  return 0;
}
