// SPDX-License-Identifier: MIT
#include "chasqui/bsp/run.hpp"

#include <cstddef>
#include <memory>

#include "bsp/engines.hpp"

namespace chasqui::bsp {

namespace detail {

namespace {

/// A Core of its own frame, and what counts its owners: of many processors each has all its state in one place.
template <typename T>
struct InFrame {
  using value_type = T;
  static constexpr std::size_t kOwners = 24;  ///< bytes before the Core
  static constexpr std::size_t kBytes = 64 + sizeof(Core);

  explicit InFrame(std::byte* frame) : place(frame + 64 - kOwners) {}
  template <typename Other>
  InFrame(const InFrame<Other>& other)
      : place(other.place) {}  // NOLINT(google-explicit-constructor): as allocators are made

  T* allocate(std::size_t) {
    static_assert(sizeof(T) <= kBytes - 64 + kOwners && alignof(T) <= 8);
    return reinterpret_cast<T*>(place);
  }
  void deallocate(T*, std::size_t) noexcept {}
  friend bool operator==(const InFrame& a, const InFrame& b) { return a.place == b.place; }

  std::byte* place;
};

/// Not in line: what it needs would stay in the frame of the program.
[[gnu::noinline]] World whole_machine(Processor& processor, std::byte* frame) {
  GroupInfo whole;
  whole.members.count = processor.door().size();
  return World(std::allocate_shared<Core>(InFrame<Core>(frame), processor, std::move(whole), processor.door().rank()));
}

}  // namespace

void run_program(Processor& processor, const Program& program) {
  alignas(64) std::byte frame[InFrame<Core>::kBytes];
  {
    World world = whole_machine(processor, frame);
    program(world);
    world.core()->finish();
  }
  if (processor.deferred != nullptr) std::rethrow_exception(processor.deferred);
  processor.put_back();
}

}  // namespace detail

Ledger run(int p, const Program& program, const Options& options) {
  if (p < 1) throw MachineError(Fault::resources, fmt::format("a machine of {} processors: at least 1", p));
  Engine engine = options.engine;
  if (!options.spill.empty() || options.deterministic) engine = Engine::virtual_processors;
  if (engine == Engine::automatic) {
    engine = p <= detail::cores_for_threads(options) ? Engine::threads : Engine::virtual_processors;
  }
  const detail::Body body = [&](detail::Processor& processor) { detail::run_program(processor, program); };
  return engine == Engine::threads ? detail::run_threads(p, options, body) : detail::run_virtual(p, options, body);
}

}  // namespace chasqui::bsp
