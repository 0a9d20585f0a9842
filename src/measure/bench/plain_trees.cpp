// SPDX-License-Identifier: MIT
// The rival that needs no planning: a binomial tree over a communicator's messages.
#include <map>

#include "measure/bench/rivals.hpp"
#include "run/comm/fabric.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr std::uint32_t kTag = 32'200;

/// Programs and their memory stay from call to call, as a library keeps them: fresh pages would cost more than messages.
struct Kept {
  Program program;
  Scratch scratch;
};
Kept& kept(const Shape& shape, const Fabric& fabric) {
  constexpr std::size_t kMost = 64;
  thread_local std::map<Shape, Kept> all;
  if (all.size() >= kMost) all.clear();
  const auto [found, fresh] = all.try_emplace(shape);
  if (fresh) {
    found->second.program = in_pieces(plain_program(shape, plan::PlainTree::binomial), fabric.piece);
    found->second.scratch.fit(found->second.program);
  }
  return found->second;
}

}  // namespace

bool binomial(Comm& comm, const Call& call) {
  const Fabric& fabric = fabric_of(comm);
  if (fabric.messages == nullptr || !call.plain()) return false;
  const Group group{fabric.messages.get(), {}, comm.rank(), comm.size(), kTag, fabric.timing};
  Kept& one = kept(shape_of(call, comm.rank(), comm.size()), fabric);
  Player player(one.program, group, buffers_of(call, comm.rank()), call.op, one.scratch);
  static const int cores = available_cores();
  for (Backoff backoff(comm.size() > cores); !player.ready();) backoff.pause();
  return true;
}

}  // namespace chasqui::measure
