// SPDX-License-Identifier: MIT
#include "chasqui/bsp/run.hpp"

#include <thread>

#include "bsp/engines.hpp"

namespace chasqui::bsp {

namespace detail {

void run_program(Processor& processor, const Program& program) {
  GroupInfo whole;
  whole.members.count = processor.door().size();
  World world(std::make_shared<Core>(processor, whole, processor.door().rank()));
  program(world);
  world.core()->finish();
}

}  // namespace detail

Ledger run(int p, const Program& program, const Options& options) {
  if (p < 1) throw MachineError(Fault::resources, fmt::format("a machine of {} processors: at least 1", p));
  Engine engine = options.engine;
  if (!options.spill.empty() || options.deterministic) engine = Engine::virtual_processors;
  if (engine == Engine::automatic) {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    engine = p <= cores ? Engine::threads : Engine::virtual_processors;
  }
  const detail::Body body = [&](detail::Processor& processor) { detail::run_program(processor, program); };
  return engine == Engine::threads ? detail::run_threads(p, options, body) : detail::run_virtual(p, options, body);
}

}  // namespace chasqui::bsp
