// SPDX-License-Identifier: MIT
#include "chasqui/mpi/comm.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "mpi/check.hpp"
#include "mpi/fabric.hpp"
#include "mpi/native.hpp"
#include "mpi/profile.hpp"
#include "mpi/together.hpp"

namespace chasqui::mpi {
namespace {

/// The communicators of this process. Who waits in vain in one of them answers in the others, too, and none is used any
/// more when MPI ends.
class Neighbour {
 public:
  explicit Neighbour(bool answers) : answers_(answers) {
    const std::lock_guard lock(mutex());
    static bool attached = false;
    if (!attached) {  // what is attached to this communicator is let go by MPI_Finalize, before anything else
      int key = MPI_KEYVAL_INVALID;
      check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &key, nullptr), "MPI_Comm_create_keyval");
      check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
      attached = true;
    }
    all().push_back(this);
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
      if (each->answers_ && each->comm_ != nullptr && each->comm_ != &waiting) run::answer(*each->comm_);
    }
  }

 private:
  static int end_all(MPI_Comm, int, void*, void*) {
    const std::lock_guard lock(mutex());
    for (const Neighbour* each : all()) {
      if (each->comm_ != nullptr) run::retire(*each->comm_, "MPI_Finalize was called: use communicators before it");
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

std::unique_ptr<run::Comm> make_with(MPI_Comm comm, Together& making, Options options) {
  if (options.profile == nullptr) options.profile = profile_for_all(comm, nullptr);
  if (!options.blocking_waits && !options.patience) {
    options.patience = run::patience_from_environment();
    making.most();
    making.talk().tell(0, &*options.patience, sizeof(run::Patience));  // rank 0's for all
  }
  MPI_Comm own = MPI_COMM_NULL;
  making.most();
  check(MPI_Comm_dup(comm, &own), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  Channel channel{own, {}, 0, [own] {
                    MPI_Comm freed = own;
                    MPI_Comm_free(&freed);
                  }};
  if (options.patience && options.patience->compare > 0)
    channel.lengths = static_cast<int>(std::bit_floor(static_cast<unsigned>(sets_of_tags())));
  run::Fabric fabric = make_fabric(making, std::move(channel),
                                   nodes_of(comm, making, options.slots ? options.pretend_node_size : 0), options);
  if (options.native) {
    fabric.native = [own](const run::Call& call) { run_native(own, call); };
  }
  fabric.split = [own, options](run::Comm& whole, int colour, int key) -> std::unique_ptr<run::Comm> {
    // With a collective of our own first: who has failed, or calls something else, is heard of, which the library cannot.
    const int mine[3] = {colour, key, whole.rank()};
    std::vector<int> all(3 * static_cast<std::size_t>(whole.size()));
    whole.iallgather(std::span<const int>(mine), all).wait();
    const MPI_Comm part = make_together(own, [&](Together&) {
      MPI_Comm made_part = MPI_COMM_NULL;
      check(MPI_Comm_split(own, colour < 0 ? MPI_UNDEFINED : colour, key, &made_part), "MPI_Comm_split");
      return made_part;
    });
    if (part == MPI_COMM_NULL) return nullptr;
    Options modest = options;
    modest.stage_ring = std::size_t{1} << 20;  // there may be very many of them
    auto made = make_comm(part, modest);
    MPI_Comm freed = part;
    MPI_Comm_free(&freed);
    return made;
  };
  std::shared_ptr<Neighbour> neighbour;
  if (!options.blocking_waits) {
    fabric.patience = *options.patience;
    const bool answers = one_thread_at_a_time();
    neighbour = std::make_shared<Neighbour>(answers);
    fabric.answer_others = [neighbour, answers](const run::Comm& waiting) {
      if (answers) Neighbour::answer_beside(waiting);
    };
  }
  auto made = run::make_comm(std::move(fabric));
  if (neighbour != nullptr) neighbour->is(*made);
  return made;
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
  return make_together(comm, [&](Together& all) { return make_with(comm, all, std::move(options)); });
}

}  // namespace chasqui::mpi
