// SPDX-License-Identifier: MIT
// The engines inside one process, and what all engines share.
#pragma once

#include <cstdint>
#include <functional>

#include "chasqui/bsp/detail/processor.hpp"
#include "chasqui/bsp/run.hpp"

namespace chasqui::bsp::detail {

using Body = std::function<void(Processor&)>;

/// Once per processor; the ledger, or the first failure after every processor has left its program.
Ledger run_threads(std::int32_t processors, const Options& options, const Body& body);
Ledger run_virtual(std::int32_t processors, const Options& options, const Body& body);

/// Cores that threads have.
std::int32_t cores_for_threads(const Options& options);

/// What every engine does with a processor: make its World, run the program, see that nothing is left over.
void run_program(Processor& processor, const Program& program);

/// B in bytes of the profile named by $CHASQUI_BSP_PROFILE, else 64 KiB. Read once per process.
std::int64_t default_block_bytes();

}  // namespace chasqui::bsp::detail
