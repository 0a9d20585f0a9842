// SPDX-License-Identifier: MIT
#include "chasqui/group/join.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/model/profile.hpp"
#include "group/appointment.hpp"
#include "group/hosts.hpp"
#include "group/lifeline.hpp"
#include "group/rendezvous.hpp"
#include "group/ucx.hpp"
#include "group/watch.hpp"
#include "run/board/board.hpp"
#include "run/comm/node_fabric.hpp"
#include "run/faults/departures.hpp"
#include "run/wait/launcher.hpp"

namespace chasqui::group {
namespace {

constexpr int kMostRanks = 1024;

/// The group, as one of its processes knows it.
struct Company {
  Hosts hosts;
  std::string host;                    ///< the address of this rank's, between hosts
  std::shared_ptr<Watch> watch;        ///< over the ranks of this rank's host
  std::shared_ptr<Lifeline> lifeline;  ///< to the other hosts; null: there are none, or they are not watched
};

/// What the ranks of one communicator need of the whole group.
struct Members {
  std::shared_ptr<const Company> company;
  std::vector<int> ranks;  ///< in the group, of each rank

  Hosts hosts() const {
    Hosts own;
    for (const int r : ranks) {
      own.host_of.push_back(company->hosts.host_of[static_cast<std::size_t>(r)]);
      own.machine_of.push_back(company->hosts.machine_of[static_cast<std::size_t>(r)]);
    }
    return {run::numbered(std::move(own.host_of)), run::numbered(std::move(own.machine_of))};
  }
  /// As far as its host can tell.
  bool alive(int rank) const {
    const auto& hosts = company->hosts.host_of;
    const auto in_group = static_cast<std::size_t>(ranks[static_cast<std::size_t>(rank)]);
    const auto before = hosts.begin() + static_cast<std::ptrdiff_t>(in_group);
    return hosts[in_group] != company->watch->host() ||
           company->watch->alive(static_cast<int>(std::count(hosts.begin(), before, hosts[in_group])));
  }
};

/// Finds out who of this host has died, and says so to all of it. A board that spans the group counts its calls. Else it counts
/// its own steps, and who dies is missed by those who wait in one that it has not completed; they tell the other hosts.
class Mourner {
 public:
  Mourner(Members members, const run::Fabric& fabric)
      : members_(std::move(members)), board_(fabric.board.get()), departures_(fabric.departures) {
    for (int r = 0; r < fabric.size; ++r) {
      if (fabric.node_of[static_cast<std::size_t>(r)] == fabric.node_of[static_cast<std::size_t>(fabric.rank)])
        here_.push_back(r);
    }
    spans_ = board_->ranks() == fabric.size;
  }
  void operator()() {
    constexpr double kBetween = 20e6;  // nanoseconds
    const double now = clock_now();
    if (now - looked_ < kBetween) return;
    looked_ = now;
    for (int place = 0; place < board_->ranks(); ++place) {
      const int rank = here_[static_cast<std::size_t>(place)];
      if (place == board_->rank() || members_.alive(rank)) continue;
      const std::uint64_t finished = board_->finished(place);
      if (!departures_->left(rank) && (spans_ || finished < board_->current()))
        departures_->die(rank, spans_ ? finished : 0);
      board_->buffers().leave_for(place);
    }
  }

 private:
  Members members_;
  run::Board* board_;
  std::shared_ptr<run::Departures> departures_;
  std::vector<int> here_;  ///< the ranks on the board
  bool spans_ = true;
  double looked_ = 0;  ///< when
};

std::unique_ptr<run::Comm> split(run::Comm& comm, int colour, int key, const Members& members, const Options& options);

/// `host`: those of `all` that are on this rank's host.
std::unique_ptr<run::Comm> make_comm(Meeting& all, Meeting& host, const Members& members, const Options& options) {
  run::Fabric fabric;
  fabric.rank = all.rank();
  fabric.size = all.size();
  fabric.profile = options.profile;
  std::function<void()> progress = [] {};
  if (host.size() < all.size()) {
    Wires wires = connect_by_ucx(all);
    fabric.messages = std::move(wires.messages);
    fabric.faults = std::make_shared<run::NewsByPost>(fabric.rank, fabric.size, std::move(wires.post), 1);
    const run::Patience patience = run::patience_from_environment();
    fabric.patience = all.gather(&patience).front();
    run::cut_messages(fabric, ~std::size_t{0});
    progress = std::move(wires.progress);
  }
  HostRanks node(all, host);
  const Hosts hosts = members.hosts();
  run::put_on_nodes(fabric, node, hosts.host_of,
                    {cores_of_host(all, hosts), true, options.cross_memory, options.stage_ring});
  if (fabric.board == nullptr)
    throw Error("no shared memory for {} ranks: the processes' limits on memory (ulimit, control group) are too low",
                host.size());
  static run::Departures::Word nowhere{0};  // other hosts are heard of by their connections
  std::vector<run::Departures::Word*> ended;
  std::vector<std::string> names;
  for (int r = 0, place = 0; r < fabric.size; ++r) {
    const bool here =
        fabric.node_of[static_cast<std::size_t>(r)] == fabric.node_of[static_cast<std::size_t>(fabric.rank)];
    ended.push_back(here ? fabric.board->ended(place++) : &nowhere);
    names.push_back(all.place().called(r));
  }
  const auto& lifeline = members.company->lifeline;
  const auto lookout = std::make_shared<Lookout>(lifeline);
  std::vector<Socket> sockets = all.end();  // of rank 0: to each rank; elsewhere: to rank 0
  for (std::size_t r = 0; lifeline != nullptr && r < sockets.size(); ++r) {
    if (!sockets[r].open() || hosts.host_of[r] == hosts.host_of[static_cast<std::size_t>(fabric.rank)]) continue;
    lifeline->keep(members.ranks[r], std::move(sockets[r]));
    lookout->watch(members.ranks[r], names[r]);
  }
  fabric.departures = std::make_shared<run::Departures>(fabric.board->any_ended(), std::move(ended), std::move(names));
  fabric.idle = [mourner = Mourner(members, fabric), progress, lookout]() mutable {
    mourner();
    progress();
    lookout->look();
  };
  fabric.board->buffers().watch(fabric.idle);
  fabric.split = [members, options](run::Comm& whole, int colour, int key) {
    return split(whole, colour, key, members, options);
  };
  auto made = run::make_comm(std::move(fabric));
  run::set_timeout(*made, options.patience);
  return made;
}

/// The ranks of each colour meet around the first of them, at a socket whose name and password go over the whole.
std::unique_ptr<run::Comm> make_part(run::Comm& comm, int colour, int key, const Members& members,
                                     const Options& options) {
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
  Members some{members.company, {}};
  int rank = 0;
  for (const Wish& each : part) {
    if (each.rank == comm.rank()) rank = static_cast<int>(some.ranks.size());
    some.ranks.push_back(members.ranks[static_cast<std::size_t>(each.rank)]);
  }
  const std::vector<int> hosts = some.hosts().host_of;
  const bool one_host = *std::max_element(hosts.begin(), hosts.end()) == 0;
  MeetingPlace place{.address = {}, .timeout = options.timeout};
  place.names = some.ranks;
  Card card;
  if (colour >= 0 && rank == 0 && part.size() > 1) card = invite(place, one_host ? "" : members.company->host);
  std::vector<Card> cards(all.size());
  comm.allgather(std::span<const Card>(&card, 1), std::span<Card>(cards));
  if (colour < 0) return nullptr;
  follow(place, cards[static_cast<std::size_t>(part.front().rank)], "a part of the group");
  place.look = [&some] {
    for (std::size_t r = 0; r < some.ranks.size(); ++r) {
      if (!some.alive(static_cast<int>(r)))
        throw Error(
            "rank {} of this part, rank {} of the whole: its process has ended, or was killed, while the part was made",
            r, some.ranks[r]);
    }
  };
  Meeting meeting(rank, static_cast<int>(part.size()), std::move(place));
  Options modest = options;
  modest.profile = run::fabric_of(comm).profile;
  modest.stage_ring = std::size_t{1} << 20;  // there may be very many of them
  if (one_host) return make_comm(meeting, meeting, some, modest);
  const auto host = meet_on_host(meeting, hosts, options.timeout);
  return make_comm(meeting, *host, some, modest);
}

std::unique_ptr<run::Comm> split(run::Comm& comm, int colour, int key, const Members& members, const Options& options) {
  try {
    return make_part(comm, colour, key, members, options);
  } catch (const std::exception& error) {
    run::last_error_here() = error.what();
    throw;
  }
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
      error = fmt::format("CHASQUI_PROFILE: {}", found.what());
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

/// Where CHASQUI_RANK or CHASQUI_SIZE makes no sense, no other launcher is asked.
void require_own_variables(const std::optional<run::Launched>& launched) {
  const std::string rank = variable("CHASQUI_RANK"), size = variable("CHASQUI_SIZE");
  if ((rank.empty() && size.empty()) || (launched && launched->rank_variable == "CHASQUI_RANK")) return;
  throw Error("join: CHASQUI_RANK={} and CHASQUI_SIZE={}: expected a number of ranks, and one of 0 .. size-1", rank,
              size);
}

void require_patience(double seconds) {
  if (!(seconds >= 0)) throw Error("a patience of {} s: expected 0 or more (0: never)", seconds);
}

/// What was left to the launcher.
void complete(Options& options) {
  const auto launched = run::launched();
  if ((options.rank < 0) != (options.size < 0))
    throw Error("join: rank and size are given together, or both left to the launcher");
  if (options.rank < 0) {
    require_own_variables(launched);
    if (!launched) {
      throw Error(
          "join: no launcher says which rank this is: chasqui launch -n 4 ./program, or set CHASQUI_RANK, CHASQUI_SIZE and "
          "CHASQUI_RENDEZVOUS");
    }
    if (launched->local_size != launched->size && options.rendezvous.empty() &&
        variable("CHASQUI_RENDEZVOUS").empty()) {
      throw Error(
          "join: {} started {} of {} processes on this node: where do those of all nodes meet? Set "
          "CHASQUI_RENDEZVOUS=tcp://ADDRESS-OF-RANK-0:PORT and CHASQUI_SECRET",
          launched->launcher, launched->local_size, launched->size);
    }
    options.rank = launched->rank;
    options.size = launched->size;
  }
  if (options.size < 1 || options.size > kMostRanks || options.rank >= options.size)
    throw Error("join: rank {} of {}: expected 0 .. size-1 of at most {}", options.rank, options.size, kMostRanks);
  if (!(options.timeout > 0)) throw Error("join: a timeout of {} s: expected more than 0", options.timeout);
  require_patience(options.patience);
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
  const Address address = options.size > 1 ? parse_address(options.rendezvous) : Address{};
  const bool reaches_far = !address.local();
  Meeting all(options.rank, options.size, {.address = address, .secret = options.secret, .timeout = options.timeout});
  if (options.profile == nullptr) options.profile = profile_for_all(all);
  const auto company = std::make_shared<Company>();
  const bool several = options.size > 1 && (options.pretend_node_size != 0 || reaches_far);
  if (several) company->hosts = hosts_of(all, options.pretend_node_size);
  else company->hosts.host_of.assign(static_cast<std::size_t>(options.size), 0);
  if (!several) company->hosts.machine_of = company->hosts.host_of;
  company->host = all.own_host();
  if (several) {
    const double mine = silence_from_environment();
    const double silence = all.gather(&mine).front();
    if (silence != 0) company->lifeline = std::make_shared<Lifeline>(silence);
  }
  std::unique_ptr<Meeting> host;
  if (several) host = meet_on_host(all, company->hosts.host_of, options.timeout);
  Meeting& near = host != nullptr ? *host : all;
  company->watch = std::make_shared<Watch>(near, company->hosts.host_of[static_cast<std::size_t>(options.rank)]);
  Members members{company, {}};
  for (int r = 0; r < options.size; ++r) members.ranks.push_back(r);
  return make_comm(all, near, members, options);
}

void set_timeout(run::Comm& comm, double seconds) {
  require_patience(seconds);
  run::set_timeout(comm, seconds);
}

}  // namespace chasqui::group
