// SPDX-License-Identifier: MIT
// Any bytes are an Error or a certificate, which passes through its file unchanged and asks about an instance that is allowed.
#include <cstdint>

#include "require.hpp"
#include "solve/certificate_files.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  solve::CertificateText certificate;
  try {
    certificate = solve::certificate_from_json(text, "input");
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  solve::validate(certificate.instance);
  const std::string written = solve::to_json(certificate);
  require(solve::to_json(solve::certificate_from_json(written, "again")) == written, "the file is stable");
  return 0;
}
