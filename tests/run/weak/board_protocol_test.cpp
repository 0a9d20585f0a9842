// SPDX-License-Identifier: MIT
// The board's protocol on a machine with weak memory: the sources of src/run/board as they are, but for sizes (two rows of
// slots, stages of two chunks) and for switches that make them wrong. Every execution of a few calls in a row is tried; each
// result is compared, and every buffer is written again as soon as its call has returned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "mutants.hpp"
#include "run/board/collectives.hpp"
#include "run/board/exposed.hpp"
#include "run/board/slots.hpp"
#include "run/comm/board_faults.hpp"
#include "run/same_process.hpp"
#include "sweep.hpp"

namespace chasqui::run {
namespace {

constexpr std::size_t kElements = 72;  ///< of a buffer
constexpr std::align_val_t kPage{4096};

struct Step {
  Method method = Method::slots;
  Kind kind = Kind::allreduce;
  std::int64_t count = 1;  ///< elements of 8 bytes
  int root = 0;
};

/// What rank `rank` brings in step `step`; of a scatter, what it gets.
std::uint64_t value(int rank, std::size_t step, std::size_t i) {
  return 10'000 * (step + 1) + 100 * static_cast<std::uint64_t>(rank + 1) + i;
}

template <typename State>
void wait_for(Board& board, const Call& call) {
  State state(board, call);
  while (!state.poll()) weak::spin();
}

void wait_for(Task task) {
  Activity activity(std::move(task));
  while (!activity.poll()) weak::spin();
}

void run_on(Board& board, const Call& call, Method method) {
  SameProcess memory;
  switch (method) {
    case Method::slots: return wait_for<SlotCall>(board, call);
    case Method::relay: return wait_for<Relay>(board, call);
    case Method::grouped_fold: return wait_for<GroupedFold>(board, call);
    case Method::level_fold: return wait_for<LevelFold>(board, call);
    case Method::shared_fold: return wait_for<SharedFold>(board, call);
    case Method::exposed_fold: return wait_for<ExposedFold>(board, call);
    case Method::direct: return wait_for(direct(board, call));
    case Method::cross_memory: return wait_for(cross_memory(board, memory, call));
    default: return wait_for(call.exchanges() ? staged_exchange(board, nullptr, call) : staged(board, call));
  }
}

/// A board for a few ranks, made anew for every execution, and a buffer for each way of each rank.
class Node {
 public:
  explicit Node(int ranks, std::size_t stage = 2 * kLine) {
    shape_.ranks = ranks;
    shape_.stage = stage;
    shape_.wide = 4 * kLine;
    memory_ = static_cast<std::byte*>(::operator new(shape_.bytes(), kPage));
    buffers_ = std::vector<std::uint64_t>(2 * kElements * static_cast<std::size_t>(ranks));
    std::vector<Seat> seats(static_cast<std::size_t>(ranks), kNoSeat);
    for (std::size_t r = 0; r < seats.size(); ++r) seats[r][0] = static_cast<int>(r / 2);
    if (ranks > 2) shape_.near = std::make_shared<const Nearness>(seats);
    make();
  }
  ~Node() { ::operator delete(memory_, kPage); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  int ranks() const { return shape_.ranks; }
  Board& board(int rank) { return boards_[static_cast<std::size_t>(rank)]; }
  std::uint64_t* in(int rank) { return buffers_.data() + 2 * kElements * static_cast<std::size_t>(rank); }
  std::uint64_t* out(int rank) { return in(rank) + kElements; }

  void make() {
    std::fill_n(memory_, shape_.zeroed(), std::byte{0});
    boards_.clear();
    for (int r = 0; r < shape_.ranks; ++r) {
      boards_.emplace_back(memory_, shape_, r, 1);
      const auto groups = Grouping::neighbours(shape_.ranks, 2);
      BoardGroups all{{groups, groups, groups}};
      if (shape_.near != nullptr) all.climbs = {{{1, 1}, {1, 0}, {1, 0}}}, all.relay = 1;  // one line is told
      boards_.back().arrange(all);
    }
  }

  weak::Program program(std::function<void(int)> body) {
    weak::Program program;
    program.threads = shape_.ranks;
    program.reset = [this] { make(); };
    program.body = std::move(body);
    program.memory = {{memory_, shape_.bytes()}, {buffers_.data(), buffers_.size() * sizeof(std::uint64_t)}};
    return program;
  }

  /// The word that `action` of rank 0 stores to, as one of rank `rank`'s.
  template <typename Action>
  std::vector<const void*> words(Action action) {
    std::vector<const void*> all;
    for (int r = 0; r < shape_.ranks; ++r) {
      for (const void* word : weak::stored_by([&] { action(board(r)); }, memory_, shape_.bytes())) all.push_back(word);
    }
    return all;
  }

 private:
  BoardShape shape_;
  std::byte* memory_;
  std::vector<std::uint64_t> buffers_;
  std::deque<Board> boards_;
};

/// One rank's part of one step: fills what it brings, calls, compares, and writes over both.
void take(Node& node, int me, const Step& step, std::size_t number) {
  const int ranks = node.ranks();
  const auto count = static_cast<std::size_t>(step.count);
  std::uint64_t* const in = node.in(me);
  std::uint64_t* const out = node.out(me);
  const bool at_root = me == step.root;
  static Sum sum;
  Call call;
  call.kind = step.kind;
  call.in = in;
  call.out = out;
  call.count = step.count;
  call.element = sizeof(std::uint64_t);
  call.root = step.root;
  call.op = operator_of<std::uint64_t>(sum, true);
  if (step.kind == Kind::scatter) {
    for (std::size_t i = 0; at_root && i < count * static_cast<std::size_t>(ranks); ++i)
      in[i] = value(static_cast<int>(i / count), number, i % count);
  } else if (step.kind == Kind::broadcast) {
    for (std::size_t i = 0; at_root && i < count; ++i) out[i] = value(me, number, i);
  } else if (step.kind != Kind::barrier) {
    const std::size_t blocks = call.exchanges() ? static_cast<std::size_t>(ranks) : 1;
    for (std::size_t i = 0; i < count * blocks; ++i) in[i] = value(me, number, i);
  }
  run_on(node.board(me), call, step.method);
  const auto right = [&](std::size_t at, std::uint64_t wanted) {
    weak::expect(out[at] == wanted,
                 fmt::format("step {}, rank {}: element {} is {}, not {}", number, me, at, out[at], wanted));
  };
  for (std::size_t i = 0; call.exchanges() && i < count; ++i) {
    const std::size_t mine = static_cast<std::size_t>(me) * count + i;
    std::uint64_t folded = 0;
    for (int r = 0; r < ranks; ++r) {
      folded += value(r, number, mine);
      if (step.kind == Kind::alltoall) right(static_cast<std::size_t>(r) * count + i, value(r, number, mine));
    }
    if (step.kind == Kind::reduce_scatter) right(i, folded);
  }
  for (std::size_t i = 0; !call.exchanges() && i < count; ++i) {
    std::uint64_t folded = 0;
    for (int r = 0; r < (step.kind == Kind::scan ? me + 1 : ranks); ++r) folded += value(r, number, i);
    const bool reads = at_root || !has_root(step.kind);
    if (step.kind == Kind::broadcast) right(i, value(step.root, number, i));
    else if (step.kind == Kind::scatter) right(i, value(me, number, i));
    else if (combines(step.kind) && step.kind != Kind::barrier && reads) right(i, folded);
    else if ((step.kind == Kind::gather && reads) || step.kind == Kind::allgather)
      for (int r = 0; r < ranks; ++r) right(static_cast<std::size_t>(r) * count + i, value(r, number, i));
  }
  for (std::size_t i = 0; i < count; ++i) in[i] = out[i] = 7;
}

std::function<void(int)> all_of(Node& node, const std::vector<Step>& steps) {
  return [&node, steps](int me) {
    for (std::size_t i = 0; i < steps.size(); ++i) take(node, me, steps[i], i);
  };
}

weak::Found tried(int ranks, const std::vector<Step>& steps, std::size_t stage = 2 * kLine) {
  Node node(ranks, stage);
  return weak::explore(node.program(all_of(node, steps)));
}

void expect_right(int ranks, const std::vector<Step>& steps, std::size_t stage = 2 * kLine) {
  const auto found = tried(ranks, steps, stage);
  const std::string what = fmt::format("{} {}, {} ranks, {} calls of {}", to_string(steps[0].method),
                                       to_string(steps[0].kind), ranks, steps.size(), steps[0].count);
  std::printf("  %s: %llu executions, %llu ended\n", what.c_str(), static_cast<unsigned long long>(found.executions),
              static_cast<unsigned long long>(found.ended));
  std::fflush(stdout);
  EXPECT_EQ(found.violation, "") << what;
  EXPECT_TRUE(found.all) << what << ": there are more executions than were tried";
}

std::vector<Step> repeated(const Step& step, std::size_t times) { return std::vector<Step>(times, step); }

constexpr Kind kAll[] = {Kind::broadcast, Kind::scatter,   Kind::gather, Kind::allgather,
                         Kind::reduce,    Kind::allreduce, Kind::scan,   Kind::barrier};

/// One line, two lines, beside the lines. Each row is used more than once.
TEST(Protocol, Slots) {
  for (const Kind kind : kAll) {
    for (const std::int64_t count : {1, 9, 15}) expect_right(2, repeated({Method::slots, kind, count, 0}, 5));
    expect_right(3, repeated({Method::slots, kind, 1, 0}, kind == Kind::scan ? 3 : 4));
    expect_right(3, repeated({Method::slots, kind, 9, 0}, 3));
  }
}

TEST(Protocol, SlotsOfSeveralKinds) {
  const std::vector<Step> steps = {{Method::slots, Kind::broadcast, 1, 0},
                                   {Method::slots, Kind::reduce, 1, 1},
                                   {Method::slots, Kind::broadcast, 1, 1},
                                   {Method::slots, Kind::allreduce, 1, 0},
                                   {Method::slots, Kind::scan, 1, 0}};
  for (const int ranks : {2, 3}) expect_right(ranks, steps);
}

/// Rank 2 publishes again for rank 3 what rank 0 has, rank 0 for rank 1 what rank 3 has.
TEST(Protocol, Relay) {
  for (const std::int64_t count : {1, 9, 15}) expect_right(3, repeated({Method::relay, Kind::broadcast, count, 0}, 3));
  expect_right(4, repeated({Method::relay, Kind::broadcast, 1, 0}, 3));
  expect_right(4, {{Method::relay, Kind::broadcast, 15, 3}, {Method::relay, Kind::broadcast, 15, 0}});
}

TEST(Protocol, GroupedFold) {
  for (const Kind kind : {Kind::allreduce, Kind::barrier}) {
    expect_right(3, repeated({Method::grouped_fold, kind, 1, 0}, 4));
    expect_right(4, repeated({Method::grouped_fold, kind, 1, 0}, 3));
  }
  for (const Kind kind : {Kind::allreduce, Kind::reduce}) {
    expect_right(2, repeated({Method::grouped_fold, kind, 9, 1}, 4));
  }
}

/// Three lines, folded by two members of each group.
TEST(Protocol, GroupedFoldOfManyLines) {
  for (const Kind kind : {Kind::allreduce, Kind::reduce}) {
    expect_right(2, repeated({Method::grouped_fold, kind, 20, 1}, 3));
    expect_right(3, {{Method::grouped_fold, kind, 20, 1}});
  }
}

/// One line, whose total a rank of each pair tells the other; more lines, of which all read what the pairs have.
TEST(Protocol, LevelFold) {
  for (const Kind kind : {Kind::allreduce, Kind::reduce, Kind::barrier}) {
    expect_right(3, repeated({Method::level_fold, kind, 1, 0}, 3));
    expect_right(4, repeated({Method::level_fold, kind, 1, 1}, kind == Kind::allreduce ? 2 : 3));
  }
  for (const std::int64_t count : {9, 20}) expect_right(3, {{Method::level_fold, Kind::allreduce, count, 0}});
}

/// Contribution and result of a scan beside the lines; what is handed on, if it is there.
TEST(Protocol, ScansBesideTheLines) { expect_right(3, repeated({Method::slots, Kind::scan, 15, 0}, 3)); }

TEST(Protocol, SharedAndExposedFold) {
  for (const int ranks : {2, 3}) {
    expect_right(ranks, repeated({Method::shared_fold, Kind::allreduce, 20, 0}, 3));
    expect_right(ranks, repeated({Method::shared_fold, Kind::reduce, 20, 1}, 3));
    expect_right(ranks, repeated({Method::exposed_fold, Kind::allreduce, 20, 0}, ranks == 2 ? 3 : 2));
  }
}

/// More rounds than a stage has chunks.
TEST(Protocol, Staged) {
  for (const Kind kind : kAll) {
    if (kind == Kind::barrier) continue;
    const bool rooted = kind == Kind::scatter || kind == Kind::gather;
    if (kind == Kind::allreduce && !kWholeSweeps) {  // the most executions of all
      expect_right(2, {{Method::staged, kind, 24, 0}});
      expect_right(2, repeated({Method::staged, kind, 16, 0}, 2));
    } else {
      expect_right(2, repeated({Method::staged, kind, rooted ? 16 : 24, 0}, 2));
    }
    const bool everywhere = kind == Kind::allgather || kind == Kind::allreduce;
    expect_right(3, {{Method::staged, kind, kind == Kind::scatter ? 8 : everywhere ? 16 : 24, 0}});
  }
  expect_right(3, repeated({Method::staged, Kind::broadcast, 16, 0}, 2));
}

TEST(Protocol, Direct) {
  for (const Kind kind : kAll) {
    if (kind == Kind::barrier) continue;
    expect_right(2, repeated({Method::direct, kind, 4, 0}, 3));
    if (kind == Kind::allreduce && !kWholeSweeps) continue;  // likewise
    expect_right(3, repeated({Method::direct, kind, 4, 0}, has_root(kind) && kind != Kind::reduce ? 2 : 1));
  }
}

TEST(Protocol, CrossMemory) {
  for (const Kind kind : {Kind::scatter, Kind::gather, Kind::allgather, Kind::reduce, Kind::allreduce}) {
    expect_right(2, repeated({Method::cross_memory, kind, 15, 0}, 2));
    expect_right(3, repeated({Method::cross_memory, kind, 15, 0}, kind == Kind::allreduce ? 1 : 2));
  }
}

/// One line, two lines and beside them; more rounds than a stage has chunks; buffers of the others.
TEST(Protocol, Exchanges) {
  for (const Kind kind : {Kind::alltoall, Kind::reduce_scatter}) {
    for (const std::int64_t count : {1, 5, 8}) expect_right(2, repeated({Method::slots, kind, count, 0}, 5));
    expect_right(3, repeated({Method::slots, kind, 1, 0}, 4));
    expect_right(2, {{Method::staged, kind, 24, 0}}, 4 * kLine);
    expect_right(2, repeated({Method::staged, kind, 8, 0}, 2), 4 * kLine);
    expect_right(3, {{Method::staged, kind, 8, 0}}, 6 * kLine);
    expect_right(2, repeated({Method::direct, kind, 4, 0}, 3));
    expect_right(3, {{Method::direct, kind, 4, 0}});
    expect_right(2, repeated({Method::cross_memory, kind, 15, 0}, 2));
    expect_right(3, repeated({Method::cross_memory, kind, 15, 0}, 2));
  }
}

const std::vector<Step> kFoldThenBroadcasts = {{Method::slots, Kind::allreduce, 1, 0},
                                               {Method::slots, Kind::broadcast, 1, 0},
                                               {Method::slots, Kind::broadcast, 1, 0}};
/// The stage is divided anew between the calls.
const std::vector<Step> kTwoDivisions = {{Method::staged, Kind::broadcast, 16, 0},
                                         {Method::staged, Kind::allreduce, 16, 0}};

/// A root need not ask how far those are who were roots since; two rounds a call, which fill the stage.
const std::vector<Step> kRootsByTurns = {{Method::staged, Kind::broadcast, 16, 0},
                                         {Method::staged, Kind::broadcast, 16, 1},
                                         {Method::staged, Kind::broadcast, 16, 1}};

TEST(Protocol, SeveralMethods) {
  expect_right(3, kFoldThenBroadcasts);
  expect_right(2, kRootsByTurns);
  expect_right(2, kTwoDivisions, 4 * kLine);
  expect_right(2, {{Method::staged, Kind::broadcast, 16, 0},
                   {Method::cross_memory, Kind::allreduce, 6, 0},
                   {Method::slots, Kind::broadcast, 1, 1},
                   {Method::staged, Kind::reduce, 8, 1}});
}

/// Rank 0 fails while it folds, and takes its buffers back; whoever hears of it does too.
weak::Found tried_with_failure(int ranks, const Step& step,
                               std::function<int(const void*, weak::Access, int)> weaken = nullptr) {
  Node node(ranks);
  auto program = node.program([&node, step](int me) {
    struct Failing {
      bool fails;
      std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
        if (fails) throw Error("tired");
        return a + b;
      }
    } op{me == 0};
    Board& board = node.board(me);
    BoardFaults faults(&board);
    Call call;
    call.kind = step.kind;
    call.in = node.in(me);
    call.out = node.out(me);
    call.count = step.count;
    call.element = sizeof(std::uint64_t);
    call.root = step.root;
    call.op = operator_of<std::uint64_t>(op, true);
    for (std::size_t i = 0; i < kElements; ++i) node.in(me)[i] = node.out(me)[i] = i;
    bool failed = false;
    const auto look = [&](auto poll) {
      while (!failed && !poll()) {
        weak::spin();
        failed = faults.failed(1, {});
      }
    };
    SameProcess memory;
    try {
      if (step.method == Method::exposed_fold) {
        ExposedFold fold(board, call);
        look([&] { return fold.poll(); });
      } else {
        Activity activity(step.method == Method::direct ? direct(board, call) : cross_memory(board, memory, call));
        look([&] { return activity.poll(); });
      }
    } catch (const Error&) {
      failed = true;
    }
    if (failed) faults.report(1, 1, "tired");
    for (std::size_t i = 0; i < kElements; ++i) node.in(me)[i] = node.out(me)[i] = 7;
    if (failed && faults.broken()) weak::expect(faults.failure() == "tired", "a torn reason: " + faults.failure());
  });
  program.weaken = std::move(weaken);
  return weak::explore(program);
}

TEST(Protocol, BuffersOfAFailedCallAreTakenBack) {
  for (const int ranks : {2, 3}) {
    for (const Step& step :
         {Step{Method::direct, Kind::allreduce, 4, 0}, Step{Method::direct, Kind::reduce, 4, 0},
          Step{Method::exposed_fold, Kind::allreduce, 20, 0}, Step{Method::cross_memory, Kind::allreduce, 6, 0}}) {
      const auto found = tried_with_failure(ranks, step);
      std::printf("  failing %s, %d ranks: %llu executions, %llu ended\n", std::string(to_string(step.method)).c_str(),
                  ranks, static_cast<unsigned long long>(found.executions),
                  static_cast<unsigned long long>(found.ended));
      std::fflush(stdout);
      EXPECT_EQ(found.violation, "") << to_string(step.method) << " " << ranks;
      EXPECT_TRUE(found.all);
    }
  }
}

/// What a rank remembers of its calls, read while it is written: never a mixture of two calls.
TEST(Protocol, CallHistory) {
  alignas(64) static std::byte memory[sizeof(CallHistory)];
  weak::Program program;
  program.threads = 2;
  program.memory = {{memory, sizeof memory}};
  program.reset = [] { std::fill_n(memory, sizeof memory, std::byte{0}); };
  program.body = [](int me) {
    auto& history = *reinterpret_cast<CallHistory*>(memory);
    for (std::uint64_t i = 1; me == 0 && i <= 3; ++i) history.note(i, {10 * i, 10 * i + 1, 10 * i + 2});
    if (me == 0) return;
    for (const std::uint64_t number : {2, 3}) {
      const Signature found = history.find(number);
      weak::expect(!found.known() || (found.element == found.count + 1 && found.what == found.count + 2 &&
                                      found.count <= 10 * number),
                   fmt::format("call {} is said to be ({}, {}, {})", number, found.count, found.element, found.what));
    }
  };
  const auto found = weak::explore(program);
  std::printf("  history: %llu executions\n", static_cast<unsigned long long>(found.executions));
  EXPECT_EQ(found.violation, "");
  EXPECT_TRUE(found.all);
}

// --- and does the test notice?

struct Caught {
  Caught() { mutants = {}; }
  ~Caught() { mutants = {}; }
  void by(const char* what, const weak::Found& found) const {
    std::printf("  %s: %s\n", what, found.violation.c_str());
    EXPECT_NE(found.violation, "") << what << " goes unnoticed";
  }
};

TEST(Mutants, OneRowOrChunkTooFew) {
  Caught caught;
  mutants.row = 1;
  caught.by("a row too early", tried(2, repeated({Method::slots, Kind::broadcast, 1, 0}, 4)));
  mutants = {};
  mutants.began = 1;
  caught.by("begun taken for finished", tried(2, kFoldThenBroadcasts));
  mutants = {};
  mutants.root_began = 2;
  caught.by("a root taken to be two calls further", tried(2, {{Method::slots, Kind::broadcast, 1, 0},
                                                              {Method::slots, Kind::broadcast, 1, 1},
                                                              {Method::slots, Kind::broadcast, 1, 1},
                                                              {Method::slots, Kind::broadcast, 1, 1}}));
  mutants = {};
  mutants.root_consumed = 4;
  caught.by("a root taken to be four rounds further", tried(2, kRootsByTurns));
  mutants = {};
  mutants.chunk = 1;
  caught.by("a chunk too early", tried(2, {{Method::staged, Kind::broadcast, 32, 0}}));
  mutants = {};
  mutants.divided = true;
  caught.by("a new division too early", tried(2, kTwoDivisions, 4 * kLine));
}

TEST(Mutants, AWaitThatIsMissing) {
  Caught caught;
  mutants.left = true;
  caught.by("leaving while others use the buffer", tried(2, {{Method::direct, Kind::allgather, 4, 0}}));
  mutants = {};
  mutants.withdrawn = true;
  caught.by("taking back without waiting", tried_with_failure(2, {Method::direct, Kind::allreduce, 4, 0}));
  mutants = {};
  mutants.recheck = true;
  caught.by("using without a second look", tried_with_failure(2, {Method::direct, Kind::allreduce, 4, 0}));
  mutants = {};
  for (const weak::Access weaker : {weak::Access::store, weak::Access::load}) {
    caught.by("release and acquire are not enough to take back",
              tried_with_failure(2, {Method::direct, Kind::allreduce, 4, 0},
                                 [weaker](const void*, weak::Access access, int order) {
                                   if (access != weaker || order != __ATOMIC_SEQ_CST) return order;
                                   return access == weak::Access::load ? int{__ATOMIC_ACQUIRE} : int{__ATOMIC_RELEASE};
                                 }));
  }
}

/// Each order that the head of board.hpp asks for, weakened alone; and each store left out.
TEST(Mutants, AWeakerOrder) {
  struct Handed {
    const char* name;
    std::function<void(Board&)> store;
    int ranks;
    std::vector<Step> steps;
  };
  const Handed all[] = {
      {"header",
       [](Board& board) { board.publish_line(board.rank(), Place::first, nullptr, 0); },
       2,
       {{Method::slots, Kind::broadcast, 1, 0}}},
      {"done", [](Board& board) { board.finish(); }, 2, repeated({Method::slots, Kind::broadcast, 1, 0}, 4)},
      {"posted", [](Board& board) { board.stages().post(0); }, 2, {{Method::staged, Kind::broadcast, 32, 0}}},
      {"result", [](Board& board) { board.stages().post_result(0); }, 2, {{Method::staged, Kind::allreduce, 16, 0}}},
      {"consumed", [](Board& board) { board.stages().consume(0); }, 2, {{Method::staged, Kind::broadcast, 32, 0}}},
  };
  Caught caught;
  for (const Handed& handed : all) {
    for (const bool stores : {true, false}) {
      for (const int order : {int{__ATOMIC_RELAXED}, weak::kLost}) {
        if (!stores && order == weak::kLost) continue;
        Node node(handed.ranks);
        std::vector<const void*> words = node.words(handed.store);
        const bool headers = std::string(handed.name) == "header";
        if (headers)
          words = node.words([](Board& board) {
            board.finish();
            board.stages().post(0);
            board.stages().post_result(0);
            board.stages().consume(0);
          });
        auto program = node.program(all_of(node, handed.steps));
        program.weaken = [words, stores, order, headers](const void* word, weak::Access access, int was) {
          const bool named = std::find(words.begin(), words.end(), word) != words.end();
          return named != headers && (access == weak::Access::store) == stores ? order : was;
        };
        caught.by(fmt::format("{} of {} {}", stores ? "a store" : "a load", handed.name,
                              order == weak::kLost ? "lost" : "relaxed")
                      .c_str(),
                  weak::explore(program));
      }
    }
  }
}

}  // namespace
}  // namespace chasqui::run
