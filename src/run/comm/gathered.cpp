// SPDX-License-Identifier: MIT
#include "run/comm/gathered.hpp"

#include <algorithm>

#include "run/board/fold.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/comm/engine.hpp"
#include "run/messages/brought.hpp"

namespace chasqui::run {
Gathered::Gathered(const Call& fold, std::shared_ptr<const void> kept, int rank, int size)
    : fold_(fold), kept_(std::move(kept)), last_(folded_ranks(fold.kind, fold.exclusive, rank, size)) {}

Call Gathered::call() const {
  const bool in_place = fold_.in == nullptr;
  Call call;
  call.kind = bringing(fold_.kind);
  call.in = in_place ? fold_.out : fold_.in;
  call.in_layout = in_place ? fold_.out_layout : fold_.in_layout;
  call.out = fold_.out;
  call.out_layout.pack = [](void*, const void*, std::size_t, std::size_t, void*) {};
  call.out_layout.unpack = [](void* context, void* to, std::size_t, std::size_t, const void* packed) {
    static_cast<const Gathered*>(context)->fold(to, static_cast<const std::byte*>(packed));
  };
  call.out_layout.context = const_cast<Gathered*>(this);
  call.count = fold_.count;
  call.element = fold_.element;
  call.root = fold_.root;
  return call;
}

void Gathered::fold(void* to, const std::byte* all) const {
  if (last_ == 0) return;
  const AlignedBuffer result(fold_.bytes());
  fold_in_order(fold_, last_, static_cast<std::size_t>(fold_.count), result.data(),
                [&](int r) { return all + static_cast<std::size_t>(r) * fold_.bytes(); });
  unpack(fold_.out_layout, fold_.element, to, 0, static_cast<std::size_t>(fold_.count), result.data());
}

/// A few MiB at a time: that much memory is enough. REQUIRES contiguous layouts.
void Engine::run_gathered(const Call& call) {
  constexpr std::size_t kAtATime = std::size_t{4} << 20;  // bytes of all ranks together
  if (call.kind == Kind::reduce_scatter) return run(Gathered(call, nullptr, rank_, size_).call());
  const auto step =
      static_cast<std::int64_t>(std::max<std::size_t>(1, kAtATime / call.element / static_cast<std::size_t>(size_)));
  for (std::int64_t at = 0; at < call.count; at += step) {
    Call piece = call;
    const auto before = static_cast<std::size_t>(at) * call.element;
    piece.count = std::min(step, call.count - at);
    if (call.in != nullptr) piece.in = static_cast<const std::byte*>(call.in) + before;
    if (call.out != nullptr) piece.out = static_cast<std::byte*>(call.out) + before;
    run(Gathered(piece, nullptr, rank_, size_).call());
  }
}

}  // namespace chasqui::run
