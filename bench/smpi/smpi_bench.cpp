// SPDX-License-Identifier: MIT
// Collectives in SimGrid's simulated time, checked: the same sources as everywhere, compiled with smpicxx.
//   smpi_bench KIND[,KIND…] BYTES[,BYTES…] ours|taken|native L_ns o_ns G_ns_per_byte shared|strict
//       [RANKS_A_NODE PUBLISH_ns EACH_ns COPY_ns_per_byte]
// shared: messages under way share the link. Common start (all sleep until an agreed simulated time), latest finish. Prints for each case
// the nanoseconds of what is chosen, with its prediction; native: those of the simulator's own collective. CHASQUI_METHOD=items:40 forces a
// method, CHASQUI_LIST lists them all. Several cases are run one after another (some native algorithms leave stray messages behind: give
// those a process each). With RANKS_A_NODE rank r lies on node r / RANKS_A_NODE, the last of which may have fewer; boards are memory of this process that costs what is
// given, and one leader a node and lanes are timed, too (taken: not the lanes). Of a step that has a root, as a reduction, the root and the
// others are busy for one half each; CHASQUI_OTHERS=0.67: the others for so much of it, and the root for the rest.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/sample_call.hpp"
#include "mpi/native.hpp"
#include "run/board/shape.hpp"
#include "run/call/kinds.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/comm/fabric.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"

using chasqui::Estimate;
using chasqui::Kind;
using namespace chasqui::run;

namespace {

/// `numbers`: L, o, G; and of nodes with several ranks what a board costs.
std::shared_ptr<const chasqui::Profile> machine(const std::vector<double>& numbers, bool shares) {
  const double L = numbers[0], o = numbers[1], G = numbers[2];
  const bool boards = numbers.size() > 3;
  chasqui::Profile profile = chasqui::default_profile();
  profile.bsp_g = Estimate::exactly(0);
  for (auto& level : profile.levels) {
    if (boards && level.name == "node") {
      level.publish = Estimate::exactly(numbers[3]);
      level.publish_per_rank = Estimate::exactly(numbers[4]);
      level.copy = Estimate::exactly(numbers[5]);
      continue;
    }
    level.L = Estimate::exactly(L + 16 * G);  // the simulator adds 16 bytes of envelope to each message
    level.o_s = level.o_r = level.g = Estimate::exactly(o);
    level.G = Estimate::exactly(G);
    if (boards) level.node_g = Estimate::exactly(16 * G);  // messages of a host share its link, and nothing else
    if (boards) level.node_G = Estimate::exactly(G);
    level.shares_bandwidth = shares;
    level.receives_in_parallel = !shares;
  }
  return std::make_shared<const chasqui::Profile>(profile);
}

/// What the ranks of a node have brought to one step on their board, and who waits for it. One thread simulates all ranks.
struct Step {
  int brought = 0;
  std::vector<std::vector<double>> given;  ///< by place
  int waiting = 0;
  simgrid::s4u::SemaphorePtr gate = simgrid::s4u::Semaphore::create(0);
  int left = 0;  ///< ranks that are done with it
};

class SimulatedBoard {
 public:
  SimulatedBoard(int node, int place, int size, const LaneCosts& costs, const chasqui::Profile& profile,
                 const Timing& timing)
      : node_(node), place_(place), size_(size), costs_(costs), profile_(profile), timing_(timing) {}

  /// `step` with its buffers; the same buffer: in place.
  void run(const BoardStep& what, const double* in, double* out) {
    const Kind kind = what.kind;
    const std::size_t count = what.count, own = static_cast<std::size_t>(place_) * count;
    const auto key = std::pair(node_, number_++);
    Step& step = steps()[key];
    step.given.resize(static_cast<std::size_t>(size_));
    const bool one_gives = kind == Kind::broadcast || kind == Kind::scatter;
    const bool one_gets = kind == Kind::reduce || kind == Kind::gather;
    const bool blocks = kind == Kind::scatter || kind == Kind::alltoall || kind == Kind::reduce_scatter;
    const int wanted = one_gives ? 1 : what.contributors != 0 ? what.contributors : size_;
    const bool brings = one_gives ? place_ == what.root : place_ < wanted;
    const bool reads = one_gives ? place_ != what.root || kind == Kind::scatter : !one_gets || place_ == what.root;
    const double total = what.contributors != 0
                             ? costs_.one_read + (what.contributors - 1) * costs_.more_reads
                             : board_time(profile_, kind, static_cast<double>(count * sizeof(double)), size_, false);
    const double others = (one_gives || one_gets ? share_of_others() : 0.5) * total;
    const double publish = one_gives ? total - others : others;
    if (brings) {
      if (!one_gets || place_ != what.root) sleep(publish);  // nobody else reads the root's
      const bool in_place = in == out && (kind == Kind::allgather || (kind == Kind::gather && place_ == what.root));
      const double* from = in_place ? out + own : in;
      step.given[static_cast<std::size_t>(place_)].assign(from,
                                                          from + count * static_cast<std::size_t>(blocks ? size_ : 1));
      if (++step.brought == wanted) {
        for (int i = 0; i < step.waiting; ++i) step.gate->release();
      }
    }
    if (reads) {
      if (step.brought < wanted) {
        ++step.waiting;
        step.gate->acquire();
      }
      sleep(total - publish);
      const std::size_t offset = blocks ? own : 0;
      const bool folds = chasqui::combines(kind);
      const int first = one_gives ? what.root : 0, last = one_gives            ? what.root + 1
                                                          : kind == Kind::scan ? place_
                                                                               : wanted;
      for (int i = first; i < last; ++i) {
        const double* from = step.given[static_cast<std::size_t>(i)].data() + offset;
        double* to = out + (folds || one_gives ? 0 : static_cast<std::size_t>(i) * count);
        for (std::size_t k = 0; k < count; ++k) to[k] = folds && i > first ? to[k] + from[k] : from[k];
      }
    }
    if (++step.left == size_) steps().erase(key);
  }

 private:
  static double share_of_others() {
    static const char* const given = std::getenv("CHASQUI_OTHERS");
    return given != nullptr ? std::atof(given) : 0.5;
  }
  static std::map<std::pair<int, std::uint64_t>, Step>& steps() {
    static std::map<std::pair<int, std::uint64_t>, Step> all;
    return all;
  }
  void sleep(double nanoseconds) const { timing_.sleep_until(timing_.now() + nanoseconds); }

  int node_, place_, size_;
  const LaneCosts& costs_;
  const chasqui::Profile& profile_;
  const Timing& timing_;
  std::uint64_t number_ = 0;
};

void forced(Comm& comm, const Call& call, const Choice& choice) {
  comm.force(choice);
  comm.run(call);
  comm.unforce();
}

/// The chosen method, or the one asked for.
Choice choose(const Comm& comm, const Call& call) {
  const auto list = comm.choices_for(call);
  Choice choice = list.front();
  const char* wanted = std::getenv("CHASQUI_METHOD");
  for (const Choice& other : list) {
    const auto name = fmt::format("{}:{}", to_string(other.method), other.parts);
    if (wanted != nullptr && name == wanted) choice = other;
    if (comm.rank() == 0 && std::getenv("CHASQUI_LIST") != nullptr)
      std::printf("%s %.1f\n", name.c_str(), other.nanoseconds);
  }
  return choice;
}

/// A case with everything that its three ways share.
class Contest {
 public:
  Contest(Comm& comm, const Call& call, int ranks_a_node, std::shared_ptr<const chasqui::Profile> profile)
      : comm_(comm), call_(call), profile_(std::move(profile)), fabric_(fabric_of(comm)), n_(ranks_a_node),
        node_(comm.rank() / n_), place_(comm.rank() % n_) {
    topology_.ranks = comm.size();
    topology_.nodes = (comm.size() + n_ - 1) / n_;
    last_ = comm.size() - (topology_.nodes - 1) * n_;
    topology_.largest_node = n_;
    topology_.smallest_node = last_;
    topology_.board = true;
    topology_.native = false;
    topology_.wide = BoardShape::for_ranks(n_).wide;
    costs_ = lane_costs(query_of(call), topology_, *profile_);
    choices_ = shared_choices(topology_);
  }

  std::optional<Choice> find(bool lanes) const {
    for (const Choice& choice : choices_) {
      if (choice.method == Method::two_level && (choice.parts > 1) == lanes) return choice;
    }
    return {};
  }
  const Choice& chosen() const { return choices_.front(); }

  void run(const Choice& choice, std::uint64_t number, bool plain) {
    if (choice.method != Method::two_level) return forced(comm_, call_, choice);
    SimulatedBoard board(node_, place_, node_ + 1 < topology_.nodes ? n_ : last_, costs_, *profile_, fabric_.timing);
    board_ = &board;
    tag_ = 31'000 + static_cast<std::uint32_t>(number % 900);
    if (plain || !by_lanes(choice.parts)) by_leaders();
  }

 private:
  /// All simulated ranks choose alike.
  const std::vector<Choice>& shared_choices(const Topology& topology) const {
    static std::map<std::tuple<Kind, std::size_t, int, int>, std::vector<Choice>> known;
    const Query query = query_of(call_);
    auto& list = known[{query.kind, query.bytes, topology.ranks, topology.nodes}];
    if (list.empty()) list = choices(query, topology, *profile_);
    return list;
  }

  void play(const Program& program, const Group& group, Buffers buffers) {
    Scratch scratch;
    scratch.fit(program);
    Player player(program, group, buffers, call_.op, scratch);
    const auto go_on = [&] {
      while (!player.ready()) player.block();
    };
    for (const BoardStep& step : program.steps) {
      go_on();
      on_board(step, player.at(step.in), player.at(step.out));
    }
    go_on();
  }

  void on_board(const BoardStep& step, const void* in, void* out) {
    board_->run(step, static_cast<const double*>(in), static_cast<double*>(out));
  }
  void on_board(Kind kind, const void* in, void* out) {
    constexpr Address nowhere{Memory::scratch, 0};  // the buffers are given
    on_board({kind, 0, 0, nowhere, nowhere, count()}, in, out);
  }

  /// False: leaders, with messages and boards one after the other.
  bool by_lanes(std::int64_t lanes) {
    chasqui::Nodes nodes;
    nodes.add(n_, topology_.nodes - 1);
    nodes.add(last_);
    std::vector<int> ranks(static_cast<std::size_t>(comm_.size()));
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<int>(r);
    const Program program = program_on_lanes(shape_of(call_, comm_.rank(), comm_.size()), query_of(call_), lanes, nodes,
                                             ranks, topology_, *profile_);
    if (program.list.empty()) return false;
    play(program, {fabric_.messages.get(), {}, comm_.rank(), comm_.size(), tag_, fabric_.timing},
         buffers_of(call_, comm_.rank()));
    return true;
  }

  /// As Engine::two_level_fold does it; the root is rank 0. REQUIRES broadcast, reduce, allreduce or barrier.
  void by_leaders() {
    std::vector<double> folded(count());
    const void* in = call_.in;
    if (call_.kind != Kind::broadcast) {
      on_board(Kind::reduce, in, folded.data());
      in = folded.data();
    }
    if (place_ == 0) {
      Topology flat;
      flat.ranks = flat.nodes = topology_.nodes;
      flat.native = false;
      const Choice between = shared_choices(flat).front();
      Group group{fabric_.messages.get(), {}, node_, topology_.nodes, tag_, fabric_.timing};
      for (int node = 0; node < topology_.nodes; ++node) group.members.push_back(node * n_);
      const Program program = program_of(shape_of(call_, node_, topology_.nodes), between.method, between.parts,
                                         {*profile_->level("network"), *profile_, topology_.nodes});
      Call outer = call_;
      outer.in = call_.kind == Kind::broadcast ? nullptr : in;
      play(program, group, buffers_of(outer, node_));
    }
    if (call_.kind != Kind::reduce) on_board(Kind::broadcast, call_.out, call_.out);
  }
  std::size_t count() const { return call_.kind == Kind::barrier ? 0 : static_cast<std::size_t>(call_.count); }

  Comm& comm_;
  const Call& call_;
  std::shared_ptr<const chasqui::Profile> profile_;
  const Fabric& fabric_;
  int n_, node_, place_;
  int last_;  ///< ranks of the last node
  Topology topology_;
  LaneCosts costs_;
  std::vector<Choice> choices_;
  SimulatedBoard* board_ = nullptr;
  std::uint32_t tag_ = 0;
};

double value(int rank, std::size_t i) { return (rank + 1) * static_cast<double>(i % 7 + 1); }

bool right(Kind kind, const std::vector<double>& out, std::size_t count, int rank, int size) {
  const auto sum = [](int ranks) { return static_cast<double>(ranks) * (ranks + 1) / 2; };  // of those before it
  for (std::size_t i = 0; i < count; ++i) {
    const double unit = value(0, i), block = unit * (rank + 1);
    const auto at = [&](int r) { return out[static_cast<std::size_t>(r) * count + i]; };
    switch (kind) {
      case Kind::broadcast:
        if (out[i] != unit) return false;
        break;
      case Kind::reduce:
        if (rank != 0) break;
        [[fallthrough]];
      case Kind::allreduce:
        if (out[i] != unit * sum(size)) return false;
        break;
      case Kind::scan:
        if (out[i] != unit * sum(rank + 1)) return false;
        break;
      case Kind::scatter:
        if (out[i] != block) return false;
        break;
      case Kind::reduce_scatter:
        if (out[i] != block * sum(size)) return false;
        break;
      case Kind::gather:
        if (rank != 0) break;
        [[fallthrough]];
      case Kind::allgather:
        for (int r = 0; r < size; ++r)
          if (at(r) != value(r, i)) return false;
        break;
      case Kind::alltoall:
        for (int r = 0; r < size; ++r)
          if (at(r) != block * (r + 1)) return false;
        break;
      default: break;
    }
  }
  return true;
}

/// What all ranks know, at no cost: one thread simulates them.
struct Referee {
  simgrid::s4u::BarrierPtr gate;
  double latest = 0;
  bool right = true;
};

/// One way of one case, from a common start to the latest finish. Collective; true where the result was right everywhere.
bool timed(int rank, int size, chasqui::measure::SampleCall& sample, const std::string& who, const Choice& choice,
           const std::function<void()>& body) {
  namespace s4u = simgrid::s4u;
  constexpr double kQuiet = 60;  // seconds after which nothing is under way any more
  static Referee referee;
  if (referee.gate == nullptr) referee.gate = s4u::Barrier::create(static_cast<unsigned>(size));
  const Kind kind = sample.call().kind;
  const auto count = static_cast<std::size_t>(sample.call().count);
  std::fill(sample.out().begin(), sample.out().end(), -1.0);
  const bool rooted = kind == Kind::scatter;  // whose blocks are those that the root has for all
  for (std::size_t i = 0; i < sample.in().size() && count != 0; ++i) {
    const bool for_each = kind == Kind::scatter || kind == Kind::alltoall || kind == Kind::reduce_scatter;
    const auto reader = static_cast<double>(for_each ? i / count + 1 : 1);
    sample.in()[i] = value(rooted ? 0 : rank, i % count) * reader;
    if (kind == Kind::broadcast && rank == 0) sample.out()[i] = value(0, i);
  }
  referee.gate->wait();
  const double start = s4u::Engine::get_clock() + kQuiet;
  referee.latest = 0;
  referee.right = true;
  s4u::this_actor::sleep_until(start);
  body();
  referee.latest = std::max(referee.latest, s4u::Engine::get_clock() - start);
  if (!right(kind, sample.out(), count, rank, size)) referee.right = false;
  referee.gate->wait();
  if (rank == 0) {
    std::printf("RESULT %s %s %zu %.1f ns %s %s(%ld) predicted %.1f\n", who.c_str(),
                std::string(to_string(kind)).c_str(), count * sizeof(double), referee.latest * 1e9,
                referee.right ? "right" : "WRONG", std::string(to_string(choice.method)).c_str(),
                static_cast<long>(choice.parts), choice.nanoseconds);
  }
  const bool everywhere = referee.right;
  referee.gate->wait();
  return everywhere;
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) found.push_back(word);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 8) return 2;
  bool good = true;
  {
    const std::string side = argv[3];
    const bool ours = side != "native", boards = argc > 11;
    chasqui::mpi::Options options;
    options.slots = options.native = false;
    options.blocking_waits = true;
    std::vector<double> numbers = {std::atof(argv[4]), std::atof(argv[5]), std::atof(argv[6])};
    for (int i = 9; boards && i < 12; ++i) numbers.push_back(std::atof(argv[i]));
    options.profile = machine(numbers, std::string(argv[7]) == "shared");
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::unique_ptr<Comm> comm;  // communicators take the simulator long
    if (ours) comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, options);
    const auto kinds = words(argv[1]), sizes = words(argv[2]);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < std::min(kinds.size(), sizes.size()); ++i) {
      const Kind kind = chasqui::kind_from(kinds[i]).value_or(Kind::barrier);
      chasqui::measure::SampleCall sample(kind, std::strtoull(sizes[i].c_str(), nullptr, 10), size);
      const auto one = [&](const std::string& who, const Choice& choice, const std::function<void()>& body) {
        good = timed(rank, size, sample, who, choice, body) && good;
      };
      if (!ours) {
        const auto native = [&] { chasqui::mpi::run_native_doubles(MPI_COMM_WORLD, sample.call()); };
        if (boards) native();  // the first call of some makes communicators
        one("native", {Method::native, 0, 1, {}}, native);
      } else if (boards) {
        Contest contest(*comm, sample.call(), std::atoi(argv[8]), options.profile);
        const auto by = [&](const std::string& who, const std::optional<Choice>& choice) {
          if (choice) one(who, *choice, [&] { contest.run(*choice, ++number, who == "leaders"); });
        };
        if (side != "taken") by("lanes", contest.find(true));
        if (has_blocks(kind) || kind == Kind::scan) continue;  // what leaders do with these is not played here
        by("leaders", contest.find(false));
        by("ours", contest.chosen());
      } else {
        const Choice choice = choose(*comm, sample.call());
        one("ours", choice, [&] { forced(*comm, sample.call(), choice); });
      }
    }
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
