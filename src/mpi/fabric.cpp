// SPDX-License-Identifier: MIT
#include "mpi/fabric.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "mpi/check.hpp"
#include "mpi/messages.hpp"
#include "mpi/node_ranks.hpp"
#include "mpi/post.hpp"
#include "run/board/node_memory.hpp"
#include "run/comm/node_fabric.hpp"

namespace chasqui::mpi {
namespace {

constexpr int kIdleTag = 32'701;  ///< nobody sends it: probing for it only lets the library work

/// A number that no other communicator has, the same on all ranks of this one.
std::uint64_t stamp_of(Together& all) {
  std::random_device random;
  std::uint64_t stamp = (static_cast<std::uint64_t>(random()) << 32 | random()) | 1;
  all.most();
  all.talk().tell(0, &stamp, sizeof stamp);
  return stamp;
}

/// While this lives, Open MPI keeps the core when it finds nothing to do. With more ranks than cores it would give it away in each look,
/// beside the wait that looks, to whoever computes for milliseconds.
class KeepCore {
 public:
  KeepCore() : before_(set_ != nullptr && set_(false)) {}
  ~KeepCore() {
    if (before_) set_(true);
  }
  KeepCore(const KeepCore&) = delete;
  KeepCore& operator=(const KeepCore&) = delete;

 private:
  /// Open MPI has a function for it, which says what was before; others have nothing of the kind.
  static inline bool (*const set_)(bool) = reinterpret_cast<bool (*)(bool)>(dlsym(RTLD_DEFAULT,
                                                                                  "opal_progress_set_yield_when_idle"));
  bool before_;
};

/// Lets the library work: once, and as long as it has something to do, so that the program's messages go as fast as in the
/// library's own waits, and not one step for each sleep of a waiting collective. Whether it had something to do only its
/// time tells: a look that finds nothing always takes about the same.
class LivelyProgress {
 public:
  explicit LivelyProgress(MPI_Comm comm) : comm_(comm) {}
  void run() {
    constexpr double kAfterwards = 30e-6, kLongest = 200e-6;  // seconds; the collective is looked at in between
    constexpr double kAway = 100e-6;                          // whoever took so long had no core meanwhile
    const KeepCore keep;
    const double begin = MPI_Wtime();
    double before = begin, busy = begin - kAfterwards;
    do {
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, kIdleTag, comm_, &flag, MPI_STATUS_IGNORE);
      const double now = MPI_Wtime(), took = now - before;
      nothing_ = std::min(nothing_ * 1.001, took);  // forgets a look that was too short to be true
      if (took > 3 * nothing_ + 0.3e-6 && took < kAway) busy = now;
      before = now;
    } while (before - busy < kAfterwards && before - begin < kLongest);
  }

 private:
  MPI_Comm comm_;
  double nothing_ = 1;  ///< seconds of a look that finds nothing
};

}  // namespace

std::int64_t sets_of_tags() {
  int* most = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  return found != 0 ? (std::int64_t{*most} + 1) / kChannelTags : 1;
}

std::vector<int> nodes_of(MPI_Comm comm, Together& all, int pretended) {
  if (pretended != 0) return run::pretended_nodes(all.size(), pretended);
  std::vector<int> nodes(static_cast<std::size_t>(all.size()));
  MPI_Comm node = MPI_COMM_NULL;
  all.most();
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, all.rank(), MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int first = all.rank();
  all.most();
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  MPI_Comm_free(&node);
  all.most();
  all.talk().gather(&first, sizeof first, nodes.data());
  return run::numbered(std::move(nodes));
}

run::Fabric make_fabric(Together& all, Channel channel, std::vector<int> nodes, const Options& options) {
  return std::move(make_fabrics(all, std::move(channel), std::move(nodes), options, {}).front());
}

std::vector<run::Fabric> make_fabrics(Together& all, Channel channel, std::vector<int> nodes, const Options& options,
                                      const run::Boards& boards) {
  run::Fabric fabric;
  fabric.rank = all.rank();
  fabric.size = all.size();
  fabric.profile = options.profile;
  if (channel.first_tag >= 0) {
    const auto open = std::make_shared<OpenChannel>(channel, fabric.rank, fabric.size);
    fabric.messages = std::make_shared<Messages>(open, options.blocking_waits);
    run::cut_messages(fabric, Messages::kLongest);
    if (options.blocking_waits) fabric.timing = simulated_time();
    else
      fabric.faults =
          std::make_shared<run::NewsByPost>(fabric.rank, fabric.size, std::make_shared<Post>(open), stamp_of(all));
    if (options.around) fabric.messages = options.around(std::move(fabric.messages));
  }
  NodeRanks node(all, nodes);
  const auto further =
      run::put_on_nodes(fabric, node, std::move(nodes),
                        {run::cores_of(node), options.slots, options.cross_memory, options.stage_ring, boards});
  if (!options.blocking_waits && fabric.board != nullptr) {
    fabric.idle = [progress = LivelyProgress(channel.comm)]() mutable { progress.run(); };
  }
  std::vector<run::Fabric> all_of_them{std::move(fabric)};
  for (const auto& board : further) {
    all_of_them.push_back(all_of_them.front());
    all_of_them.back().board = board;
  }
  return all_of_them;
}

}  // namespace chasqui::mpi
