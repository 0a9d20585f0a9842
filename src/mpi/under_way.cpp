// SPDX-License-Identifier: MIT
#include "mpi/under_way.hpp"

#include <algorithm>

#include "mpi/check.hpp"

namespace chasqui::mpi {

void UnderWay::make_room() {
  const std::size_t more = 2 * requests_.size() + 8;
  if (requests_.size() == requests_.capacity()) requests_.reserve(more);
  if (owners_.size() == owners_.capacity()) owners_.reserve(more);
}

std::size_t UnderWay::add(Ticket owner, MPI_Request request) {
  requests_.push_back(request);
  owners_.push_back(owner);
  return owners_.size() - 1;
}

run::Transport::Ticket UnderWay::remove(std::size_t place) {
  const bool last = place + 1 == owners_.size();
  requests_[place] = requests_.back();
  owners_[place] = owners_.back();
  requests_.pop_back();
  owners_.pop_back();
  return last ? run::kNoTicket : owners_[place];
}

std::span<const run::Transport::Ticket> UnderWay::owners_with(std::size_t place) const {
  const std::size_t first = place / kAtOnce * kAtOnce;
  return std::span(owners_).subspan(first, std::min(kAtOnce, owners_.size() - first));
}

std::size_t UnderWay::look_with(std::size_t place, std::array<Complete, kAtOnce>& complete) {
  const std::span<const Ticket> owners = owners_with(place);
  MPI_Request* const first = &requests_[place / kAtOnce * kAtOnce];
  int count = 0;
  std::array<int, kAtOnce> which;
  std::array<MPI_Status, kAtOnce> statuses;
  const int code = MPI_Testsome(static_cast<int>(owners.size()), first, &count, which.data(), statuses.data());
  if (code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
  for (int i = 0; i < std::max(count, 0); ++i) {
    const auto at = static_cast<std::size_t>(i);
    complete[at] = {owners[static_cast<std::size_t>(which[at])],
                    code == MPI_ERR_IN_STATUS ? statuses[at].MPI_ERROR : MPI_SUCCESS, statuses[at]};
  }
  return static_cast<std::size_t>(std::max(count, 0));
}

}  // namespace chasqui::mpi
