// SPDX-License-Identifier: MIT
#include "chasqui/group/join.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/model/profile.hpp"
#include "group/meeting.hpp"
#include "group/origin.hpp"
#include "group/watch.hpp"
#include "run/board/node_memory.hpp"
#include "run/board/process_memory.hpp"
#include "run/comm/fabric.hpp"
#include "run/faults/departures.hpp"
#include "run/wait/launcher.hpp"

namespace chasqui::group {
namespace {

constexpr int kMostRanks = 1024;

/// What the ranks of one communicator need of the whole group.
struct Members {
  std::shared_ptr<Watch> watch;
  std::vector<int> ranks;  ///< in the group, of each rank
};

/// Finds out who of them has died, and says so to all.
class Mourner {
 public:
  Mourner(Members members, std::shared_ptr<run::Board> board, std::shared_ptr<run::Departures> departures)
      : members_(std::move(members)), board_(board.get()), departures_(std::move(departures)) {}
  void operator()() {
    constexpr double kBetween = 20e6;  // nanoseconds
    const double now = clock_now();
    if (now - looked_ < kBetween) return;
    looked_ = now;
    for (int r = 0; r < board_->ranks(); ++r) {
      if (r == board_->rank() || members_.watch->alive(members_.ranks[static_cast<std::size_t>(r)])) continue;
      if (!departures_->left(r)) departures_->die(r, board_->finished(r));
      board_->bury(r);
    }
  }

 private:
  Members members_;
  run::Board* board_;
  std::shared_ptr<run::Departures> departures_;
  double looked_ = 0;  ///< when
};

std::unique_ptr<run::Comm> split(run::Comm& comm, int colour, int key, const Members& members, const Options& options);

std::unique_ptr<run::Comm> make_comm(Meeting& meeting, const Members& members, const Options& options) {
  run::Fabric fabric;
  fabric.rank = meeting.rank();
  fabric.size = meeting.size();
  fabric.board = run::make_board(meeting, run::cores_of(meeting), options.stage_ring);
  if (fabric.board == nullptr)
    throw Error("no shared memory for {} ranks: the processes' limits on memory (ulimit, control group) are too low",
                fabric.size);
  fabric.process_memory = run::open_process_memory(meeting, options.cross_memory);
  std::vector<run::Departures::Word*> ended;
  for (int r = 0; r < fabric.size; ++r) ended.push_back(fabric.board->ended(r));
  fabric.departures = std::make_shared<run::Departures>(fabric.board->any_ended(), std::move(ended));
  fabric.idle = Mourner(members, fabric.board, fabric.departures);
  fabric.board->watch(fabric.idle);
  fabric.profile = options.profile;
  fabric.split = [members, options](run::Comm& whole, int colour, int key) {
    return split(whole, colour, key, members, options);
  };
  auto made = run::make_comm(std::move(fabric));
  run::set_timeout(*made, options.patience);
  return made;
}

/// The ranks of each colour meet around the first of them, at a socket whose name and password go over the whole.
std::unique_ptr<run::Comm> split(run::Comm& comm, int colour, int key, const Members& members, const Options& options) {
  struct Wish {
    int colour, key, rank;
  };
  const Wish mine{colour, key, comm.rank()};
  std::vector<Wish> all(static_cast<std::size_t>(comm.size()));
  comm.allgather(std::span<const Wish>(&mine, 1), std::span<Wish>(all));
  std::vector<Wish> part;
  std::copy_if(all.begin(), all.end(), std::back_inserter(part),
               [&](const Wish& each) { return each.colour == colour; });
  std::stable_sort(part.begin(), part.end(), [](const Wish& a, const Wish& b) { return a.key < b.key; });
  struct Invitation {
    char name[16] = {}, password[40] = {};
  };
  Invitation invitation;
  MeetingPlace place{.address = {.kind = Address::Kind::name, .text = "a part of the group", .where = {}},
                     .timeout = options.timeout};
  if (colour >= 0 && part.front().rank == comm.rank() && part.size() > 1) {
    place.listener = listen_anywhere(place.address.where);
    place.address.where.copy(invitation.name, sizeof invitation.name - 1);
    const Nonce random = fresh_nonce();
    for (std::size_t i = 0; i < random.size(); ++i) fmt::format_to(invitation.password + 2 * i, "{:02x}", random[i]);
  }
  std::vector<Invitation> invitations(all.size());
  comm.allgather(std::span<const Invitation>(&invitation, 1), std::span<Invitation>(invitations));
  if (colour < 0) return nullptr;
  const Invitation& accepted = invitations[static_cast<std::size_t>(part.front().rank)];
  place.address.where = accepted.name;
  place.secret = accepted.password;
  Members some{members.watch, {}};
  int rank = 0;
  for (const Wish& each : part) {
    if (each.rank == comm.rank()) rank = static_cast<int>(some.ranks.size());
    some.ranks.push_back(members.ranks[static_cast<std::size_t>(each.rank)]);
  }
  place.look = [&some] {
    for (std::size_t r = 0; r < some.ranks.size(); ++r) {
      if (!some.watch->alive(some.ranks[r]))
        throw Error("rank {} of a part of the group has ended while it was made", r);
    }
  };
  Meeting meeting(rank, static_cast<int>(part.size()), std::move(place));
  Options modest = options;
  modest.profile = run::fabric_of(comm).profile;
  modest.stage_ring = std::size_t{1} << 20;  // there may be very many of them
  return make_comm(meeting, some, modest);
}

/// As rank 0 reads it: ranks with different profiles would choose different methods.
std::shared_ptr<const Profile> profile_for_all(Meeting& meeting) {
  std::string text, error;
  const char* const path = std::getenv("CHASQUI_PROFILE");
  if (meeting.rank() == 0 && path != nullptr && *path != '\0') {
    try {
      // A pipe would be waited for, and the whole group with it.
      if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
        throw Error("{}: is not a regular file: write the profile into one", path);
      text = to_json(read_profile(path));
    } catch (const std::exception& found) {
      error = found.what();
    }
  }
  error = meeting.text_of_first(error);
  if (!error.empty()) throw Error("{}", error);
  text = meeting.text_of_first(text);
  return std::make_shared<const Profile>(text.empty() ? default_profile()
                                                      : profile_from_json(text, "the profile of rank 0"));
}

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

/// What was left to the launcher.
void complete(Options& options) {
  const auto launched = run::launched();
  if ((options.rank < 0) != (options.size < 0))
    throw Error("join: rank and size are given together, or both left to the launcher");
  if (options.rank < 0) {
    if (!launched) {
      throw Error(
          "join: no launcher says which rank this is: chasqui launch -n 4 ./program, or set CHASQUI_RANK, CHASQUI_SIZE and "
          "CHASQUI_RENDEZVOUS");
    }
    if (launched->local_size != launched->size) {
      throw Error(
          "join: {} started {} of {} processes on this node: groups are processes of one node; over several use MPI",
          launched->launcher, launched->local_size, launched->size);
    }
    options.rank = launched->rank;
    options.size = launched->size;
  }
  if (options.size < 1 || options.size > kMostRanks || options.rank >= options.size)
    throw Error("join: rank {} of {}: expected 0 .. size-1 of at most {}", options.rank, options.size, kMostRanks);
  if (!(options.timeout > 0)) throw Error("join: a timeout of {} s: expected more than 0", options.timeout);
  if (options.secret.empty()) options.secret = variable("CHASQUI_SECRET");
  if (!options.rendezvous.empty() || options.size == 1) return;
  options.rendezvous = variable("CHASQUI_RENDEZVOUS");
  if (!options.rendezvous.empty()) return;
  if (!launched) throw Error("join: where do the ranks meet? Set the rendezvous, or CHASQUI_RENDEZVOUS");
  options.rendezvous = rendezvous_of(*launched);
}

}  // namespace

std::unique_ptr<run::Comm> join(Options options) {
  complete(options);
  MeetingPlace place{.address = {}, .secret = options.secret, .timeout = options.timeout};
  if (options.size > 1) place.address = parse_address(options.rendezvous);
  Meeting meeting(options.rank, options.size, std::move(place));
  if (options.profile == nullptr) options.profile = profile_for_all(meeting);
  Members members{std::make_shared<Watch>(meeting), {}};
  for (int r = 0; r < options.size; ++r) members.ranks.push_back(r);
  return make_comm(meeting, members, options);
}

void set_timeout(run::Comm& comm, double seconds) { run::set_timeout(comm, seconds); }

}  // namespace chasqui::group
