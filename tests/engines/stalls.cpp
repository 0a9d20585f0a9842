// SPDX-License-Identifier: MIT
// Ranks that make others wait: who is only late harms nobody; who called something else in another communicator is found.
#include <chrono>
#include <stdexcept>
#include <thread>

#include "suite.hpp"

namespace chasqui::engines {

void late(run::Comm& comm, double seconds) {
  const int size = comm.size();
  const auto part = comm.split(comm.rank() / 2, 0);  // waits at the same time
  for (const int who : {0, size - 1}) {
    const auto pause = [&] {
      if (comm.rank() == who) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    };
    pause();
    long value = comm.rank() == 0 ? 17 : 0;
    comm.broadcast(value, 0);  // a root that leaves is further than the others
    comm.broadcast(value, 0);
    pause();
    if (comm.allreduce(value) != 17 * size) throw std::runtime_error("a late all-reduce is wrong");
    std::vector<long> in(3000, comm.rank()), all(in.size() * static_cast<std::size_t>(size));
    run::Call call{.kind = Kind::allgather, .in = in.data(), .out = all.data(), .count = 3000, .element = sizeof(long)};
    std::vector<long> other(in.size());
    run::Sum sum;
    run::Call second{.kind = Kind::allreduce,
                     .in = in.data(),
                     .out = other.data(),
                     .count = 3000,
                     .element = sizeof(long),
                     .op = run::operator_of<long>(sum, true)};
    pause();
    auto first = comm.start(call);
    comm.start(second).wait();
    first.wait();
    for (int r = 0; r < size; ++r) {
      if (all[static_cast<std::size_t>(r) * 3000] != r) throw std::runtime_error("a late all-gather is wrong");
    }
    if (other.front() != size * (size - 1) / 2) throw std::runtime_error("a late reduction is wrong");
    pause();
    part->barrier();
    comm.barrier();
  }
}

std::string beside(run::Comm& comm) {
  const auto part = comm.split(0, 0);
  std::string heard = "none";
  try {
    long value = 0;
    if (comm.rank() == comm.size() - 1) part->allreduce(value);  // all the others do not call this
    else if (comm.rank() == 0) part->broadcast(value, 0);        // sends and leaves
    comm.barrier();
    part->barrier();
  } catch (const std::exception& error) {
    heard = error.what();
  }
  if (comm.rank() == comm.size() - 1) comm.barrier();  // where the others wait
  try {
    part->barrier();
  } catch (const std::exception& error) {
    heard = error.what();
  }
  return heard;
}

}  // namespace chasqui::engines
