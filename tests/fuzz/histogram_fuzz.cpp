// SPDX-License-Identifier: MIT
// Any bytes are an Error or a distribution of latencies.
#include <cstdint>

#include "chasqui/simulate/latency.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const LogP machine = LogP::postal(8, Time{6});
  try {
    const simulate::Latency latency = simulate::distribution(machine, simulate::histogram_from(text, "input"), size);
    for (std::int32_t from = 0; from < 8; ++from) {
      for (std::int32_t to = 0; to < 8; ++to) {
        const Time time = latency(send_item(Time{0}, Rank{from}, Rank{to}, 0), 0);
        require(time >= Time{1} && time.ticks <= kMaxParameter, "every latency is in range");
      }
    }
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.substr(0, 6) == "input:" || message.find("distribution") != std::string_view::npos, "the message names its place");
    require(message.find('\n') == std::string_view::npos, "the message is one line");
  }
  return 0;
}
