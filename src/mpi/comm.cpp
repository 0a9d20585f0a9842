// SPDX-License-Identifier: MIT
#include "chasqui/mpi/comm.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "mpi/process_memory.hpp"
#include "native.hpp"
#include "profile.hpp"
#include "window.hpp"

namespace chasqui::mpi {
namespace {

/// The node of every rank, numbered by first appearance.
std::vector<int> nodes_of(MPI_Comm comm, MPI_Comm node) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int first = rank;
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  std::vector<int> firsts(static_cast<std::size_t>(size));
  check(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::map<int, int> number;
  for (int& f : firsts) f = number.try_emplace(f, static_cast<int>(number.size())).first->second;
  return firsts;
}

constexpr int kIdleTag = 32'701;  ///< nobody sends it: probing for it only lets the library work

/// A number that no other communicator has, the same on all ranks of this one.
std::uint64_t stamp_of(MPI_Comm comm) {
  std::random_device random;
  std::uint64_t stamp = (static_cast<std::uint64_t>(random()) << 32 | random()) | 1;
  check(MPI_Bcast(&stamp, sizeof stamp, MPI_BYTE, 0, comm), "MPI_Bcast");
  return stamp;
}

/// The communicators of this process. Who waits in vain in one of them answers in the others, too, and none is used any
/// more when MPI ends.
class Neighbour {
 public:
  explicit Neighbour(bool answers) : answers_(answers) {
    const std::lock_guard lock(mutex());
    all().push_back(this);
    // What is attached to this communicator is let go by MPI_Finalize, before anything else.
    static int key = MPI_KEYVAL_INVALID;
    if (key != MPI_KEYVAL_INVALID) return;
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &key, nullptr), "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  }
  ~Neighbour() {
    const std::lock_guard lock(mutex());
    std::erase(all(), this);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  void is(run::Comm& comm) { comm_ = &comm; }
  static void answer_beside(const run::Comm& waiting) {
    const std::lock_guard lock(mutex());
    for (const Neighbour* each : all()) {
      if (each->answers_ && each->comm_ != nullptr && each->comm_ != &waiting) each->comm_->answer();
    }
  }

 private:
  static int end_all(MPI_Comm, int, void*, void*) {
    const std::lock_guard lock(mutex());
    for (const Neighbour* each : all()) {
      if (each->comm_ != nullptr) each->comm_->retire("MPI_Finalize was called: use communicators before it");
    }
    return MPI_SUCCESS;
  }
  static std::mutex& mutex() {
    static auto* const one = new std::mutex;
    return *one;
  }
  static std::vector<Neighbour*>& all() {
    static auto* const list = new std::vector<Neighbour*>;
    return *list;
  }
  run::Comm* comm_ = nullptr;
  bool answers_;
};

/// Are two threads never in MPI at the same time? Otherwise another thread may be using another communicator right now.
bool one_thread_at_a_time() {
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  return level != MPI_THREAD_MULTIPLE;
}

}  // namespace

std::unique_ptr<run::Comm> make_comm(MPI_Comm comm, Options options) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) throw Error("MPI is not initialised: call MPI_Init before making a communicator");
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) throw Error("MPI_Finalize was called: make communicators before it");
  if (comm == MPI_COMM_NULL) throw Error("MPI_COMM_NULL has no ranks to communicate");
  int inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  if (inter != 0) throw Error("an inter-communicator has two groups: pass an intra-communicator");
  if (options.profile == nullptr) options.profile = profile_for_all(comm, nullptr);
  MPI_Comm own = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &own), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  run::Fabric fabric;
  MPI_Comm_rank(own, &fabric.rank);
  MPI_Comm_size(own, &fabric.size);
  const Level* network = options.profile->level("network");
  fabric.messages = std::make_shared<Messages>(own, options.blocking_waits, network != nullptr ? *network : Level{},
                                               Messages::kLongest, stamp_of(own));
  if (options.around) fabric.messages = options.around(std::move(fabric.messages));
  fabric.profile = options.profile;
  MPI_Comm node = MPI_COMM_NULL;
  if (options.slots) {
    if (const int n = options.pretend_node_size; n != 0) {
      check(MPI_Comm_split(own, n > 0 ? fabric.rank / n : fabric.rank % -n, fabric.rank, &node), "MPI_Comm_split");
    } else {
      check(MPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, fabric.rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    }
    fabric.node_of = nodes_of(own, node);
    auto board = make_board(node, cores_of(node), options.stage_ring);
    int works = board != nullptr ? 1 : 0;
    int everywhere = 0;
    check(MPI_Allreduce(&works, &everywhere, 1, MPI_INT, MPI_MIN, own), "MPI_Allreduce");
    if (everywhere != 0) fabric.board = std::move(board);
    fabric.reach = make_reach(node, options.reach && fabric.board != nullptr);
  } else {
    check(MPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, fabric.rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    for (int r = 0; r < fabric.size; ++r) fabric.node_of.push_back(r);
  }
  int neighbours = 1;
  MPI_Comm_size(node, &neighbours);
  fabric.crowded = neighbours > cores_of(node);
  MPI_Comm_free(&node);
  if (!options.blocking_waits && fabric.board != nullptr) {
    fabric.idle = [own] {
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, kIdleTag, own, &flag, MPI_STATUS_IGNORE);
    };
  }
  if (options.native) {
    fabric.native = [own](const run::Call& call) { run_native(own, call); };
  }
  fabric.split = [own, options](run::Comm& whole, int colour, int key) -> std::unique_ptr<run::Comm> {
    // With a collective of our own first: who has failed, or calls something else, is heard of, which the library cannot.
    const int mine[3] = {colour, key, whole.rank()};
    std::vector<int> all(3 * static_cast<std::size_t>(whole.size()));
    whole.iallgather(std::span<const int>(mine), all).wait();
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(own, colour < 0 ? MPI_UNDEFINED : colour, key, &part), "MPI_Comm_split");
    if (part == MPI_COMM_NULL) return nullptr;
    Options modest = options;
    modest.stage_ring = 0;  // there may be very many of them
    auto made = make_comm(part, modest);
    MPI_Comm_free(&part);
    return made;
  };
  std::shared_ptr<Neighbour> neighbour;
  if (!options.blocking_waits) {
    fabric.patience = options.patience ? *options.patience : run::patience_from_environment();
    const bool answers = one_thread_at_a_time();
    neighbour = std::make_shared<Neighbour>(answers);
    fabric.elsewhere = [neighbour, answers](const run::Comm& waiting) {
      if (answers) Neighbour::answer_beside(waiting);
    };
  }
  auto made = std::make_unique<run::Comm>(std::move(fabric));
  if (neighbour != nullptr) neighbour->is(*made);
  return made;
}

}  // namespace chasqui::mpi
