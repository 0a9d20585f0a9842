// SPDX-License-Identifier: MIT
// What every engine does with a processor: make its World, run the program, see that nothing is left over.
#pragma once

#include "chasqui/bsp/detail/processor.hpp"
#include "chasqui/bsp/run.hpp"

namespace chasqui::bsp::detail {

void run_program(Processor& processor, const Program& program);

}  // namespace chasqui::bsp::detail
