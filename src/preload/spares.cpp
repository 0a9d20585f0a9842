// SPDX-License-Identifier: MIT
#include "preload/spares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

#include "mpi/together.hpp"
#include "run/board/board.hpp"
#include "run/comm/node_fabric.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kPlaces = 32;                        ///< for the same ranks
constexpr std::size_t kMostLists = 256;                    ///< of ranks that have places
constexpr std::size_t kMostIdle = std::size_t{128} << 20;  ///< bytes of the boards of more than one spare part

struct Place {
  std::unique_ptr<run::Comm> idle;
  bool in_use = false;
  bool vacant() const { return !in_use && idle == nullptr; }
};
using Places = std::array<Place, kPlaces>;
std::map<std::vector<int>, Places>& lists() {
  static auto* const all = new std::map<std::vector<int>, Places>;
  return *all;
}
std::size_t idle_bytes = 0;

/// A bit for each place, the lowest for the first.
struct Said {
  std::uint32_t idle = 0, vacant = 0;
};
static_assert(kPlaces <= 32);

Said said_of(const std::vector<int>& world) {
  const auto found = lists().find(world);
  if (found == lists().end()) return {0, lists().size() < kMostLists ? ~std::uint32_t{0} : 0};
  Said said;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    said.idle |= std::uint32_t{found->second[i].idle != nullptr} << i;
    said.vacant |= std::uint32_t{found->second[i].vacant()} << i;
  }
  return said;
}

std::size_t first_of(std::uint32_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }

}  // namespace

std::size_t board_bytes(const run::Comm& comm) {
  const auto& board = run::fabric_of(comm).board;
  return board != nullptr ? board->shape().bytes() : 0;
}

SpareFound find_spare(mpi::Together& all, const std::vector<int>& world, bool willing) {
  Said common = willing ? said_of(world) : Said{};
  std::vector<Said> everyones(world.size());
  all.most();
  all.talk().gather(&common, sizeof common, everyones.data());
  for (const Said& each : everyones) {
    common.idle &= each.idle;
    common.vacant &= each.vacant;
  }
  if (common.idle == 0) return {nullptr, common.vacant != 0 ? std::optional(first_of(common.vacant)) : std::nullopt};
  Place& place = lists()[world][first_of(common.idle)];
  idle_bytes -= board_bytes(*place.idle);
  place.in_use = true;
  return {std::move(place.idle), first_of(common.idle)};
}

void enter_spare(const SpareOf& of) { lists()[of.world][of.place].in_use = true; }

void keep_spare(const SpareOf& of, std::unique_ptr<run::Comm> comm) {
  const auto list = lists().find(of.world);
  if (list == lists().end()) return;  // all were given back
  Place& place = list->second[of.place];
  place.in_use = false;
  if (comm != nullptr && (idle_bytes == 0 || idle_bytes + board_bytes(*comm) <= kMostIdle)) {
    idle_bytes += board_bytes(*comm);
    place.idle = std::move(comm);
  }
  if (std::all_of(list->second.begin(), list->second.end(), [](const Place& each) { return each.vacant(); }))
    lists().erase(list);
}

void drop_spares() {
  lists().clear();
  idle_bytes = 0;
}

}  // namespace chasqui::preload
