// SPDX-License-Identifier: MIT
#include "bsp/mpi/nodes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/reserve.hpp"
#include "mpi/fabric.hpp"
#include "run/board/node_memory.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::size_t kPage = 64 * 1024;                                                     ///< or less
constexpr std::size_t kMostArea = std::size_t{16} << 20, kMostAreas = std::size_t{1} << 30;  ///< of a rank, of a node

/// Of `count` who send to radix - 1 others in a round.
std::int32_t rounds_of(std::int64_t count, std::int32_t radix) {
  std::int32_t rounds = 0;
  for (std::int64_t known = 1; known < count; known *= radix) ++rounds;
  return rounds;
}

}  // namespace

Circle Circle::of_members(std::int32_t count, std::int32_t own) {
  Circle circle;
  for (std::int32_t distance = 0; distance < count; ++distance) {
    circle.members.push_back((own + distance) % count);
    circle.begin.push_back(static_cast<std::size_t>(distance));
  }
  circle.begin.push_back(static_cast<std::size_t>(count));
  return circle;
}

/// A step of the board is taken to cost half a message between nodes.
LaneChoice choose_lanes(std::int32_t nodes, std::int32_t smallest, bool equal) {
  const std::int32_t fewest = rounds_of(nodes, smallest + 1);
  if (equal && 2 * rounds_of(nodes, 2) <= 3 * fewest) return {2, false};
  std::int32_t radix = 2;
  while (rounds_of(nodes, radix) > fewest) ++radix;  // more lanes than that are of no use
  return {radix, true};
}

bool MpiNodes::Memory::map(std::size_t area_bytes) {
  if (file < 0) return false;
  // The areas are address space, of which nothing is touched before it is reserved.
  void* const mapped = mmap(nullptr, board + area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (mapped == MAP_FAILED) return false;
  if (begin != nullptr) munmap(begin, board + areas);
  begin = static_cast<std::byte*>(mapped);
  areas = area_bytes;
  const volatile std::byte* const pages = begin;
  for (std::size_t at = 0; at < board; at += 4096) static_cast<void>(pages[at]);  // now, not in the first superstep
  return true;
}

MpiNodes::Memory::~Memory() {
  if (begin != nullptr) munmap(begin, board + areas);
  if (file >= 0) close(file);
}

bool MpiNodes::Memory::reserve(std::size_t at, std::size_t bytes) const {
  return bytes <= mpi::free_node_memory() && chasqui::reserve(file, board + at, bytes) == 0;
}

std::unique_ptr<MpiNodes> MpiNodes::find(MPI_Comm owner, mpi::Together& all, int pretended) {
  std::vector<int> numbers = mpi::nodes_of(owner, all, pretended);
  mpi::NodeRanks node(all, numbers);
  if (all.most(node.size()) == 1) return nullptr;
  std::unique_ptr<MpiNodes> nodes(new MpiNodes(run::NodeMap(std::move(numbers)), all.rank()));
  nodes->cores_ = run::cores_of(node);
  const run::BoardShape shape = NodeBoard::shape(node.size(), run::kShortWide);
  const std::size_t bytes = (NodeBoard::bytes(shape) + kPage - 1) / kPage * kPage;
  const auto ranks = static_cast<std::size_t>(node.size());
  const std::size_t area = std::max(std::min(kMostArea, kMostAreas / ranks) / kPage * kPage, kPage);
  const bool enough = node.rank() == 0 && bytes <= node.free_memory();
  nodes->memory_ = std::make_unique<Memory>(-1, bytes);
  Memory& memory = *nodes->memory_;
  memory.file = node.open_memory(enough ? bytes : 0);
  // Where somebody cannot have the areas there are none on any node, but a board may do.
  const bool stored = node.agreed(memory.map(area * ranks));
  if (!stored && !node.agreed(memory.map(0))) return nullptr;
  nodes->board_ = std::make_unique<NodeBoard>(memory.begin, shape, node.rank(), nodes->cores_);
  if (stored) {
    nodes->store_ = std::make_unique<NodeStore>(
        memory.begin + memory.board, area, node.rank(),
        [&memory](std::size_t begin, std::size_t more) { return memory.reserve(begin, more); });
  }
  return nodes;
}

namespace {

/// What a communicator remembers.
struct Kept {
  int pretended;
  std::shared_ptr<MpiNodes> nodes;  ///< nullptr: there are none
};

extern "C" {
static int drop_kept(MPI_Comm, int, void* kept, void*) {
  delete static_cast<Kept*>(kept);
  return MPI_SUCCESS;
}
}

/// MPI_KEYVAL_INVALID: there is no key.
int key_of_kept() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_kept, &made, nullptr) != MPI_SUCCESS)
      made = MPI_KEYVAL_INVALID;
    return made;
  }();
  return key;
}

/// nullptr: it remembers nothing.
Kept* kept_by(MPI_Comm owner) {
  if (key_of_kept() == MPI_KEYVAL_INVALID) return nullptr;
  void* kept = nullptr;
  int there = 0;
  MPI_Comm_get_attr(owner, key_of_kept(), &kept, &there);
  return there != 0 ? static_cast<Kept*>(kept) : nullptr;
}

}  // namespace

std::shared_ptr<MpiNodes> MpiNodes::of(MPI_Comm owner, mpi::Together& all, int pretended) {
  const Kept* const before = kept_by(owner);
  const bool known = before != nullptr && before->pretended == pretended;
  if (all.most(known ? 0 : 1) == 0) return before->nodes;
  forget(owner);
  auto kept = std::make_unique<Kept>(Kept{pretended, find(owner, all, pretended)});
  std::shared_ptr<MpiNodes> nodes = kept->nodes;
  if (key_of_kept() != MPI_KEYVAL_INVALID && MPI_Comm_set_attr(owner, key_of_kept(), kept.get()) == MPI_SUCCESS)
    static_cast<void>(kept.release());
  return nodes;
}

void MpiNodes::forget(MPI_Comm owner) {
  if (kept_by(owner) != nullptr) MPI_Comm_delete_attr(owner, key_of_kept());
}

MpiNodes::MpiNodes(run::NodeMap map, std::int32_t rank)
    : map_(std::move(map)), node_(map_.node_of(rank)), place_(map_.place_of(rank)) {
  const std::int32_t nodes = map_.count();
  const LaneChoice choice = choose_lanes(nodes, map_.smallest(), map_.smallest() == map_.largest());
  circle_.radix = choice.radix;
  circle_.shared = choice.shared;
  circle_.turn = choice.shared ? place_ + 1 : 1;
  std::size_t begin = 0;
  for (std::int32_t distance = 0; distance < nodes; ++distance) {
    const std::vector<int>& there = map_.members((node_ + distance) % nodes);
    const auto place = static_cast<std::size_t>(place_);
    circle_.members.push_back(place < there.size() ? there[place] : -1);
    circle_.begin.push_back(begin);
    begin += choice.shared ? there.size() : 1;
  }
  circle_.begin.push_back(begin);
}

std::ptrdiff_t MpiNodes::count_for(std::int32_t rank) const {
  const std::int32_t nodes = map_.count(), place = map_.place_of(rank);
  const auto first = static_cast<std::ptrdiff_t>(
      circle_.begin[static_cast<std::size_t>((map_.node_of(rank) - node_ + nodes) % nodes)]);
  if (circle_.shared) return first + place;
  return place == place_ ? first : -1;
}

}  // namespace chasqui::bsp::detail
