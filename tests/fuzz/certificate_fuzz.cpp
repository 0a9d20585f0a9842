// SPDX-License-Identifier: MIT
// Any bytes are an Error or a certificate, which passes through its file unchanged and asks about an instance that is allowed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "chasqui/base/error.hpp"
#include "solve/certificate_files.hpp"

using namespace chasqui;

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  solve::CertificateText certificate;
  try {
    certificate = solve::certificate_from_json(text, "input");
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.substr(0, 7) == "input: ", "the message opens with the place");
    require(message.find('\n') == std::string_view::npos, "the message is one line");
    return 0;
  }
  solve::validate(certificate.instance);
  const std::string written = solve::to_json(certificate);
  require(solve::to_json(solve::certificate_from_json(written, "again")) == written, "the file is stable");
  return 0;
}
