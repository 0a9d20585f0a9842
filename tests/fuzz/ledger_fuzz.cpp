// SPDX-License-Identifier: MIT
// Any bytes are an Error or a ledger, which passes through its file unchanged, can be printed, drawn and predicted; an Error or a
// description of a machine, and an Error or a measured profile, which pass through their texts unchanged.
#include <cmath>
#include <cstdint>

#include "chasqui/bsp/ledger_file.hpp"
#include "chasqui/bsp/measure.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<bsp::Machine> machines{Bsp{.p = 4, .g = 2, .L = 100}};
  try {
    const bsp::Machine machine = bsp::machine_from_json(text, "input");
    const std::string written = bsp::to_json(machine);
    require(bsp::to_json(bsp::machine_from_json(written, "again")) == written, "the machine is stable");
    machines.push_back(machine);
  } catch (const Error&) {
  }
  try {
    const bsp::Profile profile = bsp::profile_from_json(text, "input");
    const std::string written = bsp::to_json(profile);
    require(bsp::to_json(bsp::profile_from_json(written, "again")) == written, "the profile is stable");
    require(profile.block_bytes() >= 0 && !std::isnan(profile.block_bytes()), "a block has a length");
  } catch (const Error& error) {
    require_named_place(error);
  }
  bsp::Ledger ledger;
  try {
    ledger = bsp::ledger_from_json(text, "input");
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  const std::string written = bsp::to_json(ledger);
  require(bsp::to_json(bsp::ledger_from_json(written, "again")) == written, "the file is stable");
  try {
    bsp::to_table(ledger, machines);
  } catch (const Error&) {  // sums that do not fit into 64 bits
  }
  return 0;
}
