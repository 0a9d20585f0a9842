// SPDX-License-Identifier: MIT
// The engines inside one process. Each runs `program` once per processor and returns the ledger, or throws
// the first failure after every processor has left its program.
#pragma once

#include <cstdint>
#include <functional>

#include "chasqui/bsp/detail/processor.hpp"

namespace chasqui::bsp::detail {

using Body = std::function<void(Processor&)>;

Ledger run_threads(std::int32_t processors, const Options& options, const Body& body);
Ledger run_virtual(std::int32_t processors, const Options& options, const Body& body);

}  // namespace chasqui::bsp::detail
