// SPDX-License-Identifier: MIT
#include "bsp/mpi/endpoint.hpp"

#include "mpi/together.hpp"

namespace chasqui::bsp::detail {

std::unique_ptr<MpiEndpoint> MpiEndpoint::make(MPI_Comm communicator, const Options& options) try {
  auto made = mpi::make_together(communicator, [&](mpi::Together& all) {
    std::unique_ptr<MpiEndpoint> endpoint(new MpiEndpoint(all.rank(), all.size(), options));
    all.most();
    endpoint->peers_.open(communicator);
    endpoint->use(all.size() == 1 ? nullptr : MpiNodes::of(communicator, all, options.pretend_node_size));
    return endpoint;
  });
  return made;
} catch (const mpi::AgreedError& error) {
  throw MachineError(Fault::resources, error.what());
}

void MpiEndpoint::use(const std::shared_ptr<MpiNodes>& nodes) {
  rooms_.emplace(nodes, rank());
  peers_.pack_in(*rooms_);
  meetings_.emplace(peers_, nodes, options_.per_processor_costs);
}

void MpiEndpoint::await(const Waiting& why) {
  peers_.mail().flush_all();
  peers_.wait_until(why, [&] { return peers_.inbox().any_blocks(); });
}

}  // namespace chasqui::bsp::detail
