// SPDX-License-Identifier: MIT
// random [seed [calls [forms [first]]]]: collectives left to chance, on communicators that come and go, of one rank and more: all kinds, in place or
// not, with nothing in some blocks, ranks that describe the same data with different types (gaps, elements that begin before their address or
// interleave, absolute addresses), operations that do not commute; messages of the program between them; each rank asks and waits for what is
// under way in an order of its own. forms: letters of b (blocking), n (non-blocking), p (persistent); Open MPI 4.1.4 itself waits for ever now and
// then for those of the last two, MPICH 4.0.2 is wrong in the last one. Each call follows from the seed and its number alone: calls before `first`
// can be left out, to see which ones are needed for what is found. RANDOM_SEEDS=n: n seeds, from this one on.
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <numeric>
#include <utility>

#include "random_call.hpp"

namespace {

using namespace conformance;

/// What this rank does where it does not end: each says so.
char doing[400] = "";
constexpr unsigned kHangs = 200;  ///< seconds
extern "C" void say_what_hangs(int) {
  static_cast<void>(!write(STDERR_FILENO, doing, std::strlen(doing)));
  _exit(1);
}
void say(const std::string& what) {
  std::snprintf(doing, sizeof doing, "hangs: %.350s\n", what.c_str());
  alarm(kHangs);
}

/// A message of ints.
class Message final : public Work {
 public:
  Message(Draws draws, int number)
      : count_(draws.one_in(8) ? 1 + draws.below(20'000) : draws.below(40)), draws_(draws), tag_(number % 30'000) {
    name = "message " + std::to_string(number) + " of " + std::to_string(count_);
    ints_.resize(index(count_ + 1), -1);
    for (int i = 0; i < count_; ++i) right_.push_back(draws_.below(1'000'000));
  }
  void send(MPI_Comm comm, int to, bool waits) {
    std::copy(right_.begin(), right_.end(), ints_.begin());
    if (waits) MPI_Send(ints_.data(), count_, MPI_INT, to, tag_, comm);
    else MPI_Isend(ints_.data(), count_, MPI_INT, to, tag_, comm, &request);
  }
  void receive(MPI_Comm comm, int from, bool waits) {
    if (waits) MPI_Recv(ints_.data(), count_, MPI_INT, from, tag_, comm, MPI_STATUS_IGNORE);
    else MPI_Irecv(ints_.data(), count_, MPI_INT, from, tag_, comm, &request);
  }
  void check() override {
    part = name.c_str();
    equal("behind the message", ints_.back(), -1);
    for (std::size_t i = 0; i < right_.size(); ++i) equal("an int", ints_[i], right_[i]);
  }

 private:
  int count_;
  Draws draws_;
  int tag_;
  std::vector<int> ints_, right_;
};

/// All ranks know of all communicators.
struct Group {
  MPI_Comm comm = MPI_COMM_NULL;  ///< of those that this rank is in
  std::vector<int> members;       ///< ranks of the world
  std::vector<std::unique_ptr<Collective>> persistent{};
  bool quiet = false;         ///< a receive of anything waits here all the time
  bool never_blocks = false;  ///< no collective here does
};

class Program {
 public:
  Program(std::uint64_t seed, int calls, std::string forms, int first)
      : seed_(seed), calls_(calls), forms_(std::move(forms)), first_(first), world_(MPI_COMM_WORLD) {}

  void run() {
    std::vector<int> all(index(world_.size));
    std::iota(all.begin(), all.end(), 0);
    groups_.push_back({MPI_COMM_WORLD, all});
    groups_.push_back({MPI_COMM_NULL, all});
    groups_[1].quiet = true;
    MPI_Comm_dup(MPI_COMM_WORLD, &groups_[1].comm);
    for (Group& each : groups_) MPI_Barrier(each.comm);
    int got = -1;
    MPI_Request anything;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, groups_[1].comm, &anything);
    for (int number = 1; number <= calls_; ++number) {
      step(number);
      wait_a_little(number);
    }
    wait_for_all();
    part = "a receive of anything";
    say(part);
    equal("nothing has come", got, -1);
    MPI_Barrier(groups_[1].comm);
    MPI_Send(&world_.rank, 1, MPI_INT, (world_.rank + 1) % world_.size, 3, groups_[1].comm);
    MPI_Wait(&anything, MPI_STATUS_IGNORE);
    equal("what has come", got, (world_.rank + world_.size - 1) % world_.size);
    while (groups_.size() > 1) free_group(groups_.size() - 1);
    forget_persistent(groups_[0]);
  }

 private:
  void step(int number) {
    Draws draws{seed_, word(number), 0};
    const int what = draws.below(30);
    if (what == 0 && groups_.size() < 7) return make_group(draws);
    if (what == 1 && groups_.size() > 2)
      return free_group(index(2 + draws.below(static_cast<int>(groups_.size()) - 2)));
    Group& group = groups_[index(draws.below(static_cast<int>(groups_.size())))];
    if (number < first_ || group.comm == MPI_COMM_NULL) return;
    if (what < 5 && !group.quiet) return send_message(draws, group, number);
    if (what < 8 && !group.persistent.empty()) return start_persistent(draws, group, number);
    const int form = group.never_blocks ? 5 : draws.below(10);
    make(group, number, form < 5 ? Form::blocking : form < 9 ? Form::nonblocking : Form::persistent);
  }

  void make(Group& group, int number, Form form) {
    const bool wanted = forms_.find("bnp"[static_cast<int>(form)]) != std::string::npos;
    if (!wanted || (form == Form::persistent && group.persistent.size() >= 4)) form = Form::blocking;
    auto call = std::make_unique<Collective>(seed_, number, group.comm, form);
    say(call->name);
    call->make();
    switch (form) {
      case Form::blocking: return call->check();
      case Form::nonblocking:
        active_.push_back(call.get());
        owned_.push_back(std::move(call));
        return;
      case Form::persistent: group.persistent.push_back(std::move(call));
    }
  }

  /// Each rank in an order of its own.
  void start_persistent(Draws& draws, Group& group, int number) {
    std::vector<Collective*> chosen;
    for (const auto& each : group.persistent) {
      if (draws.one_in(2)) chosen.push_back(each.get());
    }
    Draws own{seed_, word(number), 7, word(world_.rank)};
    for (std::size_t i = chosen.size(); i > 1; --i)
      std::swap(chosen[i - 1], chosen[index(own.below(static_cast<int>(i)))]);
    for (Collective* const each : chosen) {
      if (const auto found = std::find(active_.begin(), active_.end(), each); found != active_.end())
        wait_for(index(static_cast<int>(found - active_.begin())));
    }
    for (Collective* const each : chosen) {
      each->prepare();
      say("start of " + each->name);
      MPI_Start(&each->request);
      active_.push_back(each);
    }
  }

  void send_message(Draws& draws, const Group& group, int number) {
    const int size = static_cast<int>(group.members.size());
    const int from = draws.below(size), to = draws.below(size);
    const Place me(group.comm);
    Draws own{seed_, word(number), 8, word(world_.rank)};
    const Draws content = draws;
    for (const bool gives : {true, false}) {
      if (me.rank != (gives ? from : to)) continue;
      auto message = std::make_unique<Message>(content, number);
      const bool waits = from != to && own.one_in(2);
      say(message->name);
      gives ? message->send(group.comm, to, waits) : message->receive(group.comm, from, waits);
      if (waits) {
        message->check();
        continue;
      }
      active_.push_back(message.get());
      owned_.push_back(std::move(message));
    }
  }

  void make_group(Draws& draws) {
    const Group& parent = groups_[index(draws.below(static_cast<int>(groups_.size())))];
    const int size = static_cast<int>(parent.members.size()), how = parent.quiet ? draws.below(2) : draws.below(3),
              seven = draws.below(100);
    const bool in_parent = parent.comm != MPI_COMM_NULL,
               never_blocks = forms_.find('n') != std::string::npos && seven % 3 == 0;
    say("a communicator");
    MPI_Comm made = MPI_COMM_NULL;
    if (how == 0) {
      if (in_parent) MPI_Comm_dup(parent.comm, &made);
      add_group(made, parent.members, never_blocks);
      return;
    }
    // Ranks of the parent in an order of chance, in two parts.
    std::vector<int> order(index(size)), part_of(index(size), 0);
    std::iota(order.begin(), order.end(), 0);
    for (int i = size; i > 1; --i) std::swap(order[index(i - 1)], order[index(draws.below(i))]);
    const int cut = 1 + draws.below(size);
    for (int i = 0; i < size; ++i) part_of[index(order[index(i)])] = i < cut ? 0 : 1;
    std::vector<int> parts[2], ranks;
    for (int i = 0; i < size; ++i) parts[i < cut ? 0 : 1].push_back(parent.members[index(order[index(i)])]);
    if (how == 1) {
      if (in_parent) {
        const Place me(parent.comm);
        const int key = static_cast<int>(std::find(order.begin(), order.end(), me.rank) - order.begin());
        const bool none = part_of[index(me.rank)] == 1 && seven < 30;
        MPI_Comm_split(parent.comm, none ? MPI_UNDEFINED : part_of[index(me.rank)], key, &made);
      }
      const auto has_me = [&](const std::vector<int>& members) {
        return std::find(members.begin(), members.end(), world_.rank) != members.end();
      };
      add_group(has_me(parts[0]) ? made : MPI_COMM_NULL, parts[0], never_blocks);
      if (!parts[1].empty() && seven >= 30) add_group(has_me(parts[1]) ? made : MPI_COMM_NULL, parts[1], false);
      return;
    }
    const auto inside = std::find(parts[0].begin(), parts[0].end(), world_.rank) != parts[0].end();
    if (in_parent && inside) {
      MPI_Group all, some;
      MPI_Comm_group(parent.comm, &all);
      MPI_Group_incl(all, cut, order.data(), &some);
      MPI_Comm_create_group(parent.comm, some, 30'001, &made);  // of no message
      MPI_Group_free(&all);
      MPI_Group_free(&some);
    }
    add_group(made, parts[0], never_blocks);
  }

  /// Its first call is a blocking one, after which non-blocking ones may be served, or it sees nothing but those.
  void add_group(MPI_Comm comm, std::vector<int> members, bool never_blocks) {
    if (comm != MPI_COMM_NULL && !never_blocks) MPI_Barrier(comm);
    groups_.push_back({comm, std::move(members)});
    groups_.back().never_blocks = never_blocks;
  }
  void free_group(std::size_t which) {
    Group& group = groups_[which];
    say("freeing a communicator");
    if (group.comm != MPI_COMM_NULL) {
      wait_for_all();
      forget_persistent(group);
      MPI_Comm_free(&group.comm);
    }
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void forget_persistent(Group& group) {
    for (const auto& each : group.persistent) MPI_Request_free(&each->request);
    group.persistent.clear();
  }

  /// What is under way, one or several.
  void wait_a_little(int number) {
    Draws own{seed_, word(number), 9, word(world_.rank)};
    const int how = own.below(active_.size() > 30 ? 1 : 12);
    if (active_.empty() || how > 5) return;
    const std::size_t which = index(own.below(static_cast<int>(active_.size())));
    if (how == 0) return wait_for_all();
    if (how == 1) return wait_for(which);
    if (how == 2) {
      int done = 0;
      say("asking for " + active_[which]->name);
      for (int i = 0; i < 5 && done == 0; ++i) MPI_Test(&active_[which]->request, &done, MPI_STATUS_IGNORE);
      if (done != 0) ended(which);
      return;
    }
    std::vector<MPI_Request> requests = requests_of_all();
    const int count = static_cast<int>(requests.size());
    std::vector<int> which_ones(requests.size());
    int found = 0;
    say("waiting for some, among them " + active_[which]->name);
    if (how == 3) MPI_Testsome(count, requests.data(), &found, which_ones.data(), MPI_STATUSES_IGNORE);
    if (how == 4) MPI_Waitsome(count, requests.data(), &found, which_ones.data(), MPI_STATUSES_IGNORE);
    if (how == 5) MPI_Waitany(count, requests.data(), which_ones.data(), MPI_STATUS_IGNORE), found = 1;
    for (std::size_t i = 0; i < active_.size(); ++i) active_[i]->request = requests[i];
    std::sort(which_ones.begin(), which_ones.begin() + found);
    for (int i = found; i-- > 0;) ended(index(which_ones[index(i)]));
  }
  void wait_for(std::size_t which) {
    say("waiting for " + active_[which]->name);
    MPI_Wait(&active_[which]->request, MPI_STATUS_IGNORE);
    ended(which);
  }
  void wait_for_all() {
    if (active_.empty()) return;
    std::vector<MPI_Request> requests = requests_of_all();
    say("waiting for all, the first of which is " + active_[0]->name);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < active_.size(); ++i) active_[i]->request = requests[i];
    while (!active_.empty()) ended(active_.size() - 1);
  }
  std::vector<MPI_Request> requests_of_all() const {
    std::vector<MPI_Request> requests;
    for (const Work* each : active_) requests.push_back(each->request);
    return requests;
  }
  void ended(std::size_t which) {
    Work* const work = active_[which];
    work->check();
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(which));
    const auto mine = std::find_if(owned_.begin(), owned_.end(), [&](const auto& each) { return each.get() == work; });
    if (mine != owned_.end()) owned_.erase(mine);
  }

  std::uint64_t seed_;
  int calls_;
  std::string forms_;
  int first_;
  Place world_;
  std::vector<Group> groups_;
  std::vector<Work*> active_;                 ///< in no order
  std::vector<std::unique_ptr<Work>> owned_;  ///< but for persistent ones
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  signal(SIGALRM, say_what_hangs);
  const Place me(MPI_COMM_WORLD);
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 17;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 400, first = argc > 4 ? std::atoi(argv[4]) : 1;
  const std::string forms = argc > 3 ? argv[3] : "b";
  const char* const more = std::getenv("RANDOM_SEEDS");
  const std::uint64_t seeds = more != nullptr ? std::strtoull(more, nullptr, 10) : 1;
  make_pairs();
  make_foldings();
  for (std::uint64_t i = 0; i < seeds; ++i) {
    if (me.rank == 0)
      std::printf("seed %llu: %d random collectives on %d ranks\n", static_cast<unsigned long long>(seed + i), calls,
                  me.size);
    std::fflush(stdout);
    Program(seed + i, calls, forms, first).run();
  }
  alarm(0);
  free_foldings();
  free_pairs();
  if (me.rank == 0) std::printf("random collectives: right\n");
  MPI_Finalize();
  return 0;
}
