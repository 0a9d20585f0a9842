// SPDX-License-Identifier: MIT
// The bulk-synchronous parameters of the machine under us, measured with supersteps of known h and s.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "chasqui/bsp/run.hpp"
#include "chasqui/model/bsp.hpp"

namespace chasqui::bsp {

/// Times in nanoseconds; medians over supersteps in which every processor sends to its right neighbour.
struct Profile {
  std::int64_t p = 1;
  double latency = 0;      ///< L: an empty superstep
  double message_gap = 0;  ///< g of BSP: a message of 8 bytes among many to one destination
  double block_cost = 0;   ///< a block, however small
  double byte_gap = 0;     ///< a byte in a large block
  /// B: there a block costs twice its bytes.
  double block_bytes() const { return byte_gap > 0 ? block_cost / byte_gap : 1; }

  Bsp bsp() const { return {p, message_gap, latency}; }  ///< as a BSP machine, time in nanoseconds
  /// As a BSP* machine with units of 8 bytes.
  BspStar bsp_star() const { return {p, 8 * byte_gap, latency, block_bytes() / 8, 8}; }
};

/// Runs a program on the machine to be measured: run(p, program, options), or run_mpi.
using Runner = std::function<Ledger(const Program&)>;
Profile measure(const Runner& runner);  ///< runs a few programs with `runner` and fits the parameters to their times

/// {"chasqui_bsp_profile":1,"p":…,"L_ns":…,"g_ns":…,"block_ns":…,"byte_ns":…,"B_bytes":…}
std::string to_json(const Profile& profile);
/// Throws an Error that names `place`.
Profile profile_from_json(const std::string& text, const std::string& place);

}  // namespace chasqui::bsp
