// SPDX-License-Identifier: MIT
#include "machine.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <unordered_map>

namespace chasqui::weak {
namespace {

constexpr int kThreads = 4;
constexpr std::size_t kWords = 256, kStack = 256 * 1024, kCell = 8;
constexpr std::uint64_t kEndless = 1'000'000;

/// What is known of others: how far each had come, and of each word which stores are too old to be read.
struct View {
  std::array<std::uint16_t, kWords> oldest{};
  std::array<std::uint32_t, kThreads> clock{};

  void join(const View& other, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) oldest[i] = std::max(oldest[i], other.oldest[i]);
    for (std::size_t i = 0; i < kThreads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
  }
};

using Steps = std::array<std::uint32_t, kThreads>;

struct Store {
  std::uint64_t value = 0;
  int writer = -1;  ///< -1: it was there from the beginning
  std::uint32_t clock = 0;
  std::shared_ptr<const View> released;  ///< what an acquire load gets
  Steps after{};                         ///< the steps of each thread without which it would not have been made
};

struct Word {
  std::vector<Store> history;
  std::size_t sequential = 0;  ///< the last store that was sequentially consistent
};

struct Cell {
  bool touched = false;
  int writer = -1;
  std::uint32_t written = 0;
  std::array<std::uint32_t, kThreads> read{};
};

struct Memory {
  std::uintptr_t begin = 0, end = 0;
  std::vector<Cell> cells;
  std::vector<std::uint32_t> touched;  ///< cells that are not as they were
};

struct Operation {
  Access access = Access::load;
  std::uintptr_t address = 0;
  int order = __ATOMIC_SEQ_CST;
  std::uint64_t value = 0, expected = 0;  ///< of a store; of a compare-exchange
  bool changed = false;                   ///< it did
  std::uint64_t result = 0;               ///< what was read
};

enum class State { ready, waits, spins, ended };

struct Fiber {
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStack);
  ucontext_t start;
  jmp_buf here;
  bool begun = false;
  State state = State::ready;
  Operation operation;
  std::size_t wants = 0;  ///< a store not before this one
  bool asleep = false;    ///< all that begins with its operation has been tried, until another one meets it
  View view;
  Steps after{};           ///< its own last step, and those it depends on
  std::size_t stored = 0;  ///< choices on the path when it stored last
  std::vector<std::pair<std::uint16_t, std::size_t>>
      looked;  ///< words read since its last store, and stores seen there
};

/// A choice on the present path.
struct Choice {
  std::size_t taken = 0, options = 1;
  int thread = -1;            ///< whose load; -1: which thread goes on
  std::uint16_t word = 0;     ///< that it reads
  std::uint32_t step = 0;     ///< of that thread
  std::size_t stores = 0;     ///< that it may read now
  bool may_be_later = false;  ///< others have stored there since: the last option is to wait for that
  bool in_vain = false;       ///< it made its thread spin, which looks again
};

class Machine {
 public:
  Found explore(const Program& program);
  std::vector<const void*> record(const std::function<void()>& action, void* memory, std::size_t bytes);

  /// Is this the machine's business?
  bool shares(std::uintptr_t address) const { return running_ >= 0 && memory_of(address) != nullptr; }
  std::uint64_t load(std::uintptr_t address, int order);
  void store(std::uintptr_t address, std::uint64_t value, int order);
  bool exchange(std::uintptr_t address, std::uint64_t& expected, std::uint64_t value, int order);
  void look(std::uintptr_t address, std::size_t bytes, bool writes);
  void spin();
  void fail(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

 private:
  void run_once();
  bool next();
  void step();
  void finish();
  void resume(int thread);
  void pause();
  static void enter();
  Choice& choose(std::size_t options, int thread = -1);
  std::uint16_t number_of(std::uintptr_t address);
  Word& word(std::uint16_t number) { return words_[number]; }
  Memory* memory_of(std::uintptr_t address) const;
  int weakened(const Operation& operation) const;
  const Operation& read(const Operation& operation);  ///< a load or a change of the running thread, when it is done
  void perform(int thread, std::size_t read);
  void put(int thread, Operation& operation, const Store* follows);
  std::size_t newest(const Operation& operation) { return word(number_of(operation.address)).history.size() - 1; }
  std::vector<std::size_t> readable(int thread);
  /// Does it matter which of the two comes first?
  static bool meet(const Operation& one, const Operation& other) {
    return one.address == other.address && (one.access != Access::load || other.access != Access::load);
  }
  static bool sequential(const Operation& operation) {
    return operation.access == Access::change || operation.order == __ATOMIC_SEQ_CST;
  }

  const Program* program_ = nullptr;
  mutable std::vector<Memory> memory_;
  std::vector<Fiber> fibers_;
  std::vector<Word> words_;
  std::unordered_map<std::uintptr_t, std::uint16_t> numbers_;
  std::vector<Choice> path_;
  std::size_t depth_ = 0;
  bool fair_ = false;  ///< no choices any more: everybody reads what is newest
  std::uint64_t steps_ = 0, stores_ = 0;
  int running_ = -1;
  jmp_buf scheduler_;
  std::string violation_;
  std::vector<const void*>* recorded_ = nullptr;
};

Machine machine;

Memory* Machine::memory_of(std::uintptr_t address) const {
  for (Memory& each : memory_) {
    if (address >= each.begin && address < each.end) return &each;
  }
  return nullptr;
}

std::uint16_t Machine::number_of(std::uintptr_t address) {
  const auto [at, fresh] = numbers_.try_emplace(address, static_cast<std::uint16_t>(numbers_.size()));
  if (fresh && numbers_.size() > kWords) {
    std::fprintf(stderr, "more than %zu atomic words\n", kWords);
    std::abort();
  }
  if (words_.size() < numbers_.size()) words_.resize(numbers_.size());
  Word& found = words_[at->second];
  if (found.history.empty()) found.history.emplace_back();
  return at->second;
}

Choice& Machine::choose(std::size_t options, int thread) {
  if (depth_ == path_.size()) path_.push_back({0, options, thread, 0, 0, options, false, false});
  Choice& choice = path_[depth_++];
  choice.in_vain = false;
  return choice;
}

/// The next path: the last choice that has an option left takes it.
bool Machine::next() {
  while (!path_.empty() && path_.back().taken + 1 == path_.back().options) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().taken;
  return true;
}

void Machine::enter() {
  try {
    machine.program_->body(machine.running_);
  } catch (const std::exception& error) {
    machine.fail(std::string("thread ") + std::to_string(machine.running_) + " threw: " + error.what());
  }
  machine.fibers_[static_cast<std::size_t>(machine.running_)].state = State::ended;
  _longjmp(machine.scheduler_, 1);
}

void Machine::resume(int thread) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
  running_ = thread;
  fiber.state = State::ready;
  if (_setjmp(scheduler_) == 0) {
    if (fiber.begun) _longjmp(fiber.here, 1);
    fiber.begun = true;
    setcontext(&fiber.start);
  }
  running_ = -1;
}

void Machine::pause() {
  if (_setjmp(fibers_[static_cast<std::size_t>(running_)].here) == 0) _longjmp(scheduler_, 1);
}

int Machine::weakened(const Operation& operation) const {
  return program_ != nullptr && program_->weaken
             ? program_->weaken(reinterpret_cast<const void*>(operation.address), operation.access, operation.order)
             : operation.order;
}

/// Which stores the load, or the failing change, of this thread may read, the newest first; those it waits for only. A change
/// that succeeds reads the newest.
std::vector<std::size_t> Machine::readable(int thread) {
  const Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
  const Operation& operation = fiber.operation;
  const std::uint16_t number = number_of(operation.address);
  const Word& from = word(number);
  std::size_t oldest = std::max<std::size_t>(fiber.view.oldest[number], fiber.wants);
  if (operation.order == __ATOMIC_SEQ_CST) oldest = std::max(oldest, from.sequential);
  std::vector<std::size_t> found;
  for (std::size_t i = from.history.size(); i-- > oldest;) {
    if (operation.access == Access::load || i + 1 == from.history.size() || from.history[i].value != operation.expected)
      found.push_back(i);
  }
  return found;
}

void Machine::put(int thread, Operation& operation, const Store* follows) {
  if (operation.order == kLost) return;
  Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
  const std::uint16_t number = number_of(operation.address);
  Word& to = word(number);
  const Store& last = to.history.back();
  if (follows == nullptr && last.writer >= 0 && last.writer != thread &&
      fiber.view.clock[static_cast<std::size_t>(last.writer)] < last.clock) {
    fail("two threads store to one word, in no order");
  }
  fiber.view.oldest[number] = static_cast<std::uint16_t>(to.history.size());
  Store made;
  made.value = operation.value;
  made.writer = thread;
  made.clock = fiber.view.clock[static_cast<std::size_t>(thread)];
  const bool releases =
      operation.order == __ATOMIC_RELEASE || operation.order == __ATOMIC_ACQ_REL || operation.order == __ATOMIC_SEQ_CST;
  if (releases || (follows != nullptr && follows->released != nullptr)) {
    auto carried = std::make_shared<View>();
    if (releases) *carried = fiber.view;
    if (follows != nullptr && follows->released != nullptr) carried->join(*follows->released, words_.size());
    made.released = std::move(carried);
  }
  ++fiber.view.clock[static_cast<std::size_t>(thread)];
  made.after = fiber.after;
  fiber.looked.clear();
  fiber.stored = depth_;
  to.history.push_back(std::move(made));
  for (std::size_t i = 0; i < depth_ && !fair_; ++i) {
    Choice& choice = path_[i];
    if (choice.thread < 0 || choice.thread == thread || choice.word != number || choice.may_be_later ||
        choice.in_vain || fiber.after[static_cast<std::size_t>(choice.thread)] >= choice.step)
      continue;
    choice.may_be_later = true;
    ++choice.options;
  }
  if (operation.order == __ATOMIC_SEQ_CST) to.sequential = to.history.size() - 1;
  ++stores_;
  for (Fiber& each : fibers_) each.asleep = each.asleep && each.operation.address != operation.address;
}

/// Of a load and of a change: reading that store.
void Machine::perform(int thread, std::size_t read) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
  Operation& operation = fiber.operation;
  fiber.wants = 0;
  if (operation.access == Access::store) return put(thread, operation, nullptr);
  const std::uint16_t number = number_of(operation.address);
  const Store from = word(number).history[read];
  for (std::size_t i = 0; i < kThreads; ++i) fiber.after[i] = std::max(fiber.after[i], from.after[i]);
  fiber.looked.emplace_back(number, read + 1);
  const bool changes =
      operation.access == Access::change && from.value == operation.expected && read + 1 == word(number).history.size();
  fiber.view.oldest[number] = std::max(fiber.view.oldest[number], static_cast<std::uint16_t>(read));
  const bool acquires = operation.order != __ATOMIC_RELAXED && operation.order != __ATOMIC_RELEASE;
  if (acquires && from.released != nullptr) fiber.view.join(*from.released, words_.size());
  operation.result = from.value;
  operation.changed = changes;
  if (changes) put(thread, operation, &from);
}

/// One thread goes on by one operation that others can notice.
void Machine::step() {
  const int threads = program_->threads;
  for (int t = 0; t < threads; ++t) {
    const Fiber& fiber = fibers_[static_cast<std::size_t>(t)];
    if (fiber.state == State::spins && std::any_of(fiber.looked.begin(), fiber.looked.end(), [this](const auto& each) {
          return word(each.first).history.size() > each.second;
        }))
      return resume(t);
  }
  for (int t = 0; t < threads; ++t) {
    Fiber& fiber = fibers_[static_cast<std::size_t>(t)];
    if (fiber.state != State::waits || sequential(fiber.operation)) continue;
    const auto stores = readable(t);
    if (stores.empty()) continue;
    Choice& choice = choose(stores.size(), t);
    choice.word = number_of(fiber.operation.address);
    choice.step = fiber.after[static_cast<std::size_t>(t)];
    // Who reads a word again without having stored anything has looked in vain before.
    for (std::size_t i = depth_ - 1; i-- > fiber.stored;) {
      Choice& before = path_[i];
      if (before.thread != t || before.word != choice.word || before.taken == before.stores) continue;
      before.in_vain = true;
      if (before.may_be_later) --before.options;
      before.may_be_later = false;
    }
    if (choice.taken == choice.stores) {
      fiber.wants = stores.front() + 1;
      return;
    }
    perform(t, stores[choice.taken]);
    return resume(t);
  }
  std::vector<std::pair<int, std::size_t>> options;
  for (int t = 0; t < threads; ++t) {
    const Fiber& fiber = fibers_[static_cast<std::size_t>(t)];
    if (fiber.state != State::waits || !sequential(fiber.operation) || fiber.asleep) continue;
    if (fiber.operation.access == Access::store) options.emplace_back(t, 0);
    else
      for (const std::size_t store : readable(t)) options.emplace_back(t, store);
  }
  if (options.empty()) {
    fair_ = true;
    return;
  }
  const auto [thread, store] = options[choose(options.size()).taken];
  const Operation& operation = fibers_[static_cast<std::size_t>(thread)].operation;
  for (const auto& [earlier, read] : options) {
    if (earlier == thread) break;
    fibers_[static_cast<std::size_t>(earlier)].asleep = true;
  }
  for (Fiber& each : fibers_) each.asleep = each.asleep && !meet(each.operation, operation);
  perform(thread, store);
  resume(thread);
}

/// Brings the execution to its end: everybody in turn, as far as it gets.
void Machine::finish() {
  for (;;) {
    const std::uint64_t before = stores_;
    bool left = false, moved = false;
    for (int t = 0; t < program_->threads; ++t) {
      Fiber& fiber = fibers_[static_cast<std::size_t>(t)];
      if (fiber.state == State::ended) continue;
      left = true;
      if (fiber.state == State::waits) {
        perform(t, fiber.operation.access == Access::store ? 0 : newest(fiber.operation));
        moved = true;
      }
      resume(t);
      moved = moved || fiber.state == State::ended;
    }
    if (!left) return;
    if (!moved && stores_ == before) {
      std::string who;
      for (int t = 0; t < program_->threads; ++t) {
        if (fibers_[static_cast<std::size_t>(t)].state != State::ended) who += " " + std::to_string(t);
      }
      return fail("a deadlock: nobody gets on of threads" + who);
    }
    if (steps_ > kEndless) return fail("no end");
  }
}

void Machine::run_once() {
  for (Word& each : words_) each = Word{{Store{}}, 0};
  for (Memory& each : memory_) {
    for (const std::uint32_t i : each.touched) each.cells[i] = Cell{};
    each.touched.clear();
  }
  program_->reset();
  depth_ = 0;
  steps_ = stores_ = 0;
  fair_ = false;
  for (int t = 0; t < program_->threads; ++t) {
    Fiber& fiber = fibers_[static_cast<std::size_t>(t)];
    fiber.begun = false;
    fiber.wants = 0;
    fiber.asleep = false;
    fiber.after = {};
    fiber.looked.clear();
    fiber.stored = 0;
    fiber.view = {};
    fiber.view.clock[static_cast<std::size_t>(t)] = 1;
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack.get();
    fiber.start.uc_stack.ss_size = kStack;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, &Machine::enter, 0);
  }
  for (int t = 0; t < program_->threads; ++t) resume(t);
  const auto over = [&] {
    return std::all_of(fibers_.begin(), fibers_.begin() + program_->threads,
                       [](const Fiber& each) { return each.state == State::ended; });
  };
  while (!fair_ && violation_.empty() && !over()) step();
  if (violation_.empty()) finish();
}

Found Machine::explore(const Program& program) {
  program_ = &program;
  fibers_.resize(kThreads);
  memory_.clear();
  words_.clear();
  numbers_.clear();
  path_.clear();
  violation_.clear();
  for (const auto& [at, bytes] : program.memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    memory_.push_back({begin, begin + bytes, std::vector<Cell>(bytes / kCell + 1), {}});
  }
  Found found;
  do {
    run_once();
    ++found.executions;
    if (!fair_) ++found.ended;
  } while (violation_.empty() && next() && found.executions < program.most);
  found.violation = violation_;
  found.all = path_.empty();
  program_ = nullptr;
  return found;
}

std::vector<const void*> Machine::record(const std::function<void()>& action, void* memory, std::size_t bytes) {
  std::vector<const void*> words;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  memory_ = {{begin, begin + bytes, {}, {}}};
  recorded_ = &words;
  running_ = 0;
  action();
  running_ = -1;
  recorded_ = nullptr;
  return words;
}

const Operation& Machine::read(const Operation& operation) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(running_)];
  fiber.operation = operation;
  fiber.operation.order = weakened(fiber.operation);
  ++fiber.after[static_cast<std::size_t>(running_)];
  ++steps_;
  if (fair_) {
    perform(running_, newest(fiber.operation));
  } else {
    fiber.state = State::waits;
    pause();
  }
  return fiber.operation;
}

std::uint64_t Machine::load(std::uintptr_t address, int order) {
  if (recorded_ != nullptr) return 0;
  return read({Access::load, address, order, 0, 0, false, 0}).result;
}

void Machine::store(std::uintptr_t address, std::uint64_t value, int order) {
  if (recorded_ != nullptr) {
    recorded_->push_back(reinterpret_cast<const void*>(address));
    return;
  }
  Fiber& fiber = fibers_[static_cast<std::size_t>(running_)];
  fiber.operation = {Access::store, address, order, value, 0, false, 0};
  fiber.operation.order = weakened(fiber.operation);
  ++fiber.after[static_cast<std::size_t>(running_)];
  ++steps_;
  if (!fair_ && sequential(fiber.operation)) {
    fiber.state = State::waits;
    pause();
  } else {
    put(running_, fiber.operation, nullptr);
  }
}

bool Machine::exchange(std::uintptr_t address, std::uint64_t& expected, std::uint64_t value, int order) {
  const Operation& done = read({Access::change, address, order, value, expected, false, 0});
  expected = done.result;
  return done.changed;
}

void Machine::look(std::uintptr_t address, std::size_t bytes, bool writes) {
  if (running_ < 0 || recorded_ != nullptr || bytes == 0) return;
  Memory* const memory = memory_of(address);
  if (memory == nullptr) return;
  const auto me = static_cast<std::size_t>(running_);
  const auto& clock = fibers_[me].view.clock;
  for (std::size_t i = (address - memory->begin) / kCell; i <= (address + bytes - 1 - memory->begin) / kCell; ++i) {
    Cell& cell = memory->cells[i];
    if (!cell.touched) memory->touched.push_back(static_cast<std::uint32_t>(i));
    cell.touched = true;
    if (cell.writer >= 0 && cell.writer != running_ && clock[static_cast<std::size_t>(cell.writer)] < cell.written) {
      fail("a race: thread " + std::to_string(running_) + (writes ? " writes" : " reads") + " what thread " +
           std::to_string(cell.writer) + " writes, at byte " + std::to_string(i * kCell));
    }
    for (std::size_t t = 0; writes && t < kThreads; ++t) {
      if (t != me && clock[t] < cell.read[t]) {
        fail("a race: thread " + std::to_string(running_) + " writes what thread " + std::to_string(t) +
             " reads, at byte " + std::to_string(i * kCell));
      }
    }
    if (writes) {
      cell.writer = running_;
      cell.written = clock[me];
    } else {
      cell.read[me] = clock[me];
    }
  }
}

/// Reading what was newer would have been another path; so is every one on which it looks again too early.
void Machine::spin() {
  if (running_ < 0 || recorded_ != nullptr) return;
  ++steps_;
  Fiber& fiber = fibers_[static_cast<std::size_t>(running_)];
  fiber.state = State::spins;
  if (!fair_) {
    const auto [last, seen] = fiber.looked.back();
    if (word(last).history.size() > seen) fair_ = true;
    for (auto& [number, stores] : fiber.looked) stores = word(number).history.size();
  }
  pause();
  fiber.looked.clear();
}

}  // namespace

Found explore(const Program& program) { return machine.explore(program); }
void spin() { machine.spin(); }
void expect(bool holds, const std::string& otherwise) {
  if (!holds) machine.fail(otherwise);
}
std::vector<const void*> stored_by(const std::function<void()>& action, void* memory, std::size_t bytes) {
  return machine.record(action, memory, bytes);
}

}  // namespace chasqui::weak

// What ThreadSanitizer's instrumentation calls. Names and meanings are its own.
using chasqui::weak::machine;

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define PLAIN(bytes)                                                                                                \
  void __tsan_read##bytes(void* at) { machine.look(reinterpret_cast<std::uintptr_t>(at), bytes, false); }           \
  void __tsan_write##bytes(void* at) { machine.look(reinterpret_cast<std::uintptr_t>(at), bytes, true); }           \
  void __tsan_unaligned_read##bytes(void* at) { machine.look(reinterpret_cast<std::uintptr_t>(at), bytes, false); } \
  void __tsan_unaligned_write##bytes(void* at) { machine.look(reinterpret_cast<std::uintptr_t>(at), bytes, true); } \
  void __tsan_volatile_read##bytes(void* at) { machine.look(reinterpret_cast<std::uintptr_t>(at), bytes, false); }  \
  void __tsan_volatile_write##bytes(void* at) { machine.look(reinterpret_cast<std::uintptr_t>(at), bytes, true); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
#undef PLAIN
void __tsan_read_range(void* at, long bytes) {
  machine.look(reinterpret_cast<std::uintptr_t>(at), static_cast<std::size_t>(bytes), false);
}
void __tsan_write_range(void* at, long bytes) {
  machine.look(reinterpret_cast<std::uintptr_t>(at), static_cast<std::size_t>(bytes), true);
}

#define ATOMIC(bits)                                                                                                 \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* at, int order) {                \
    const auto address = reinterpret_cast<std::uintptr_t>(at);                                                       \
    if (!machine.shares(address)) return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                      \
    return static_cast<std::uint##bits##_t>(machine.load(address, order));                                           \
  }                                                                                                                  \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* at, std::uint##bits##_t value, int order) {         \
    const auto address = reinterpret_cast<std::uintptr_t>(at);                                                       \
    if (machine.shares(address)) machine.store(address, value, order);                                               \
    else __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                              \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile std::uint##bits##_t* at, std::uint##bits##_t value,   \
                                                      int) {                                                         \
    if (machine.shares(reinterpret_cast<std::uintptr_t>(at))) std::abort(); /* the board has none */                 \
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                                  \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile std::uint##bits##_t* at, std::uint##bits##_t* expected, \
                                                    std::uint##bits##_t value, int order, int) {                     \
    const auto address = reinterpret_cast<std::uintptr_t>(at);                                                       \
    if (!machine.shares(address))                                                                                    \
      return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
    std::uint64_t found = *expected;                                                                                 \
    const bool changed = machine.exchange(address, found, value, order);                                             \
    *expected = static_cast<std::uint##bits##_t>(found);                                                             \
    return changed;                                                                                                  \
  }                                                                                                                  \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                                    \
      volatile std::uint##bits##_t* at, std::uint##bits##_t expected, std::uint##bits##_t value, int order,          \
      int otherwise) {                                                                                               \
    __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, order, otherwise);                           \
    return expected;                                                                                                 \
  }                                                                                                                  \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile std::uint##bits##_t* at, std::uint##bits##_t* expected,   \
                                                  std::uint##bits##_t value, int order, int otherwise) {             \
    return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, order, otherwise);                     \
  }
ATOMIC(8)
ATOMIC(32)
ATOMIC(64)
#undef ATOMIC

// Copies: GCC does not instrument them, and the linker brings them here; clang calls them by names of their own.
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memmove(void* to, const void* from, std::size_t bytes);
int __wrap_sched_yield();
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  machine.look(reinterpret_cast<std::uintptr_t>(from), bytes, false);
  machine.look(reinterpret_cast<std::uintptr_t>(to), bytes, true);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  machine.look(reinterpret_cast<std::uintptr_t>(from), bytes, false);
  machine.look(reinterpret_cast<std::uintptr_t>(to), bytes, true);
  return __real_memmove(to, from, bytes);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) { return __wrap_memcpy(to, from, bytes); }
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) { return __wrap_memmove(to, from, bytes); }
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  machine.look(reinterpret_cast<std::uintptr_t>(to), bytes, true);
  return std::memset(to, value, bytes);
}
int __wrap_sched_yield() {
  chasqui::weak::spin();
  return 0;
}
}
