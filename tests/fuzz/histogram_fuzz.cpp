// SPDX-License-Identifier: MIT
// Any bytes are an Error or a distribution of latencies.
#include <cstdint>
#include <string>

#include "latencies.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const LogP machine = LogP::postal(8, Time{6});
  try {
    require_latencies(simulate::distribution(machine, simulate::histogram_from(text, "input"), size), 8);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.substr(0, 6) == "input:" || message.find("distribution") != std::string_view::npos,
            "the message names its place");
    require(message.find('\n') == std::string_view::npos, "the message is one line");
  }
  return 0;
}
