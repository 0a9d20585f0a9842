// SPDX-License-Identifier: MIT
#include "random_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <random>

#include "chasqui/bsp/variable.hpp"

namespace chasqui::bsp::random_program {

namespace {

struct Odd {
  std::array<unsigned char, 3> bytes;
};
/// x -> a x + b: composition does not commute.
struct Line {
  std::uint32_t a = 1, b = 0;

  friend Line operator*(const Line& f, const Line& g) { return {f.a * g.a, g.a * f.b + g.b}; }
  std::int64_t number() const { return static_cast<std::int64_t>(a) << 32 | b; }
};
Line line_of(const Step& step, int rank) {
  return {static_cast<std::uint32_t>(2 * rank + 3), static_cast<std::uint32_t>(step.mark + rank)};
}

constexpr int kStreams = 4;
int value(std::int64_t mark, int index) { return static_cast<int>((mark * 7919 + index * 31) % 1'000'003); }
std::int64_t mark_of(const Step& step, std::size_t index) { return step.mark * 100 + static_cast<std::int64_t>(index); }
/// As a stream carries it.
std::int64_t carried(int stream, int value) { return stream == 2 ? value % 251 : value; }

class Digest {
 public:
  void add(std::int64_t value) { hash_ = (hash_ ^ static_cast<std::uint64_t>(value)) * 1099511628211U, ++count_; }
  std::int64_t number() const { return static_cast<std::int64_t>(hash_ * 1000 + count_ % 1000); }

 private:
  std::uint64_t hash_ = 14695981039346656037U, count_ = 0;
};

bool splits(Kind kind) { return kind == Kind::split || kind == Kind::split_in_sizes || kind == Kind::split_by; }

/// The ranks of each part.
std::vector<std::vector<int>> parts_of(const Step& step, int size) {
  std::vector<std::vector<int>> parts(step.parts.size());
  const int count = static_cast<int>(parts.size());
  if (step.kind == Kind::split_by) {
    for (int rank = 0; rank < size; ++rank)
      parts[static_cast<std::size_t>(step.numbers[static_cast<std::size_t>(rank)])].push_back(rank);
    return parts;
  }
  int rank = 0;
  for (int part = 0; part < count; ++part) {
    const int members = step.kind == Kind::split ? size / count + (part < size % count ? 1 : 0)
                                                 : step.numbers[static_cast<std::size_t>(part)];
    for (int i = 0; i < members; ++i) parts[static_cast<std::size_t>(part)].push_back(rank++);
  }
  return parts;
}

// Making.

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Steps steps(int size, int depth) {
    Steps made;
    const int count = depth == 0 ? 4 + below(12) : below(6);
    for (int i = 0; i < count; ++i) made.push_back(step(size, depth));
    return made;
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  bool one_in(int n) { return below(n) == 0; }
  int values() { return one_in(20) ? below(20'000) : one_in(4) ? below(40) : one_in(8) ? 0 : 1; }

  Kind kind(int depth) {
    constexpr Kind kOften[] = {Kind::barrier, Kind::barrier, Kind::expecting, Kind::subset};
    constexpr Kind kSeldom[] = {Kind::nothing, Kind::array,          Kind::array,  Kind::free,
                                Kind::blocks,  Kind::broadcast,      Kind::reduce, Kind::allreduce,
                                Kind::scan,    Kind::exclusive_scan, Kind::gather};
    constexpr Kind kDeep[] = {Kind::split, Kind::split_in_sizes, Kind::split_by};
    if (depth < 3 && one_in(5)) return kDeep[below(3)];
    return one_in(2) ? kOften[below(4)] : kSeldom[below(11)];
  }

  Step step(int size, int depth) {
    Step made{.kind = kind(depth), .mark = ++marks_};
    if (one_in(6)) made.late.push_back(below(size));
    if (!one_in(4)) {
      const int most = one_in(4) ? 40 : 2 * size;
      for (int i = below(most + 1); i > 0; --i)
        made.sends.push_back({below(size), below(size), below(kStreams), values()});
      for (int i = below(size + 1); i > 0; --i)
        made.puts.push_back({below(size), below(size), below(4), below(40), 1 + below(9)});
      for (int i = one_in(2) ? below(size + 1) : 0; i > 0; --i)
        made.gets.push_back({below(size), below(size), below(4), below(40), below(9)});
    }
    switch (made.kind) {
      case Kind::subset:
        for (int rank = 0; rank < size; ++rank) {
          if (one_in(2)) made.numbers.push_back(rank);
        }
        break;
      case Kind::array:
        for (int rank = 0; rank < size; ++rank) made.numbers.push_back(one_in(9) ? below(5000) : below(60));
        break;
      case Kind::free: made.numbers.push_back(below(4)); break;
      case Kind::blocks: made.numbers.push_back(one_in(2) ? 1 : 1 << below(20)); break;
      case Kind::broadcast:
      case Kind::reduce:
      case Kind::gather: made.numbers.push_back(below(size)); break;
      case Kind::split: made.parts.resize(static_cast<std::size_t>(1 + below(size))); break;
      case Kind::split_in_sizes:
        for (int left = size; left > 0; left -= made.numbers.back()) made.numbers.push_back(1 + below(left));
        made.parts.resize(made.numbers.size());
        break;
      case Kind::split_by: {
        const int colors = 1 + below(3);
        for (int rank = 0; rank < size; ++rank) made.numbers.push_back(below(colors));
        made.parts.resize(static_cast<std::size_t>(colors));
        break;
      }
      default: break;
    }
    if (splits(made.kind)) {
      const auto parts = parts_of(made, size);
      for (std::size_t part = 0; part < parts.size(); ++part) {
        if (!parts[part].empty()) made.parts[part] = steps(static_cast<int>(parts[part].size()), depth + 1);
      }
    }
    return made;
  }

  std::mt19937_64 random_;
  std::int64_t marks_ = 0;
};

// Running without a machine.

struct Message {
  int from, stream, values;
  std::int64_t mark;
};
struct Write {
  int array, at, values;
  std::int64_t mark;
};

/// A machine as a few tables.
class Model {
 public:
  Model(std::vector<int> members, Seen& seen)
      : members_(std::move(members)), seen_(seen), size_(static_cast<int>(members_.size())) {
    pending_.resize(members_.size(), std::vector<Pending>(members_.size()));
    inbox_.resize(members_.size());
  }

  void run(Steps& steps) {
    for (std::size_t i = 0; i < steps.size();) {
      if (take(steps[i])) ++i;
      else steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!anything_pending()) return;
    steps.push_back({.kind = Kind::barrier});
    take(steps.back());
  }

 private:
  struct Pending {
    std::vector<Message> messages;
    std::vector<Write> writes;
  };
  using Array = std::vector<std::vector<int>>;  ///< by rank; no ranks: it is freed

  bool anything_pending() const {
    return std::ranges::any_of(pending_, [](const auto& from) {
      return std::ranges::any_of(from, [](const Pending& one) { return !one.messages.empty() || !one.writes.empty(); });
    });
  }
  bool reaches(int array, int rank, int at, int values) const {
    const auto which = static_cast<std::size_t>(array);
    return which < arrays_.size() && !arrays_[which].empty() &&
           static_cast<std::size_t>(at + values) <= arrays_[which][static_cast<std::size_t>(rank)].size();
  }
  bool is_there(int rank) const { return rank < size_; }
  std::vector<std::int64_t>& log(std::size_t rank) { return seen_[static_cast<std::size_t>(members_[rank])]; }

  /// False: it makes no sense.
  bool take(Step& step) {
    const auto in_subset = [&](int rank) { return std::ranges::find(step.numbers, rank) != step.numbers.end(); };
    if (step.kind == Kind::subset && step.numbers.empty()) return false;
    if (step.kind == Kind::free && !may_free(step)) return false;
    std::erase_if(step.sends, [&](const Send& one) { return !is_there(one.from) || !is_there(one.to); });
    std::erase_if(step.puts, [&](const Put& one) {
      return !is_there(one.from) || !is_there(one.to) || !reaches(one.array, one.to, one.at, one.values);
    });
    std::erase_if(step.gets, [&](const Get& one) {
      return !is_there(one.by) || !is_there(one.from) || !reaches(one.array, one.from, one.at, one.values) ||
             (step.kind != Kind::barrier && (step.kind != Kind::subset || !in_subset(one.by) || !in_subset(one.from)));
    });
    for (std::size_t i = 0; i < step.sends.size(); ++i) {
      const Send& one = step.sends[i];
      between(one.from, one.to).messages.push_back({one.from, one.stream, one.values, mark_of(step, i)});
    }
    for (std::size_t i = 0; i < step.puts.size(); ++i) {
      const Put& one = step.puts[i];
      between(one.from, one.to).writes.push_back({one.array, one.at, one.values, mark_of(step, i)});
    }
    std::vector<int> all(members_.size());
    std::iota(all.begin(), all.end(), 0);
    switch (step.kind) {
      case Kind::nothing:
      case Kind::blocks: break;
      case Kind::barrier: deliver(step, all); break;
      case Kind::expecting:
        step.expected.assign(members_.size(), 0);
        for (const int from : all) {
          for (const int to : all)
            step.expected[static_cast<std::size_t>(to)] +=
                static_cast<std::int64_t>(between(from, to).messages.size() + between(from, to).writes.size());
        }
        deliver(step, all);
        break;
      case Kind::subset: deliver(step, step.numbers); break;
      case Kind::array: {
        Array& added = arrays_.emplace_back();
        for (const int rank : all)
          added.emplace_back(static_cast<std::size_t>(step.numbers[static_cast<std::size_t>(rank)]), rank);
        break;
      }
      case Kind::free: arrays_[static_cast<std::size_t>(step.numbers[0])].clear(); break;
      case Kind::split:
      case Kind::split_in_sizes:
      case Kind::split_by: {
        const auto parts = parts_of(step, size_);
        for (std::size_t part = 0; part < parts.size(); ++part) {
          if (parts[part].empty()) continue;
          std::vector<int> members;
          for (const int rank : parts[part]) members.push_back(members_[static_cast<std::size_t>(rank)]);
          Model(std::move(members), seen_).run(step.parts[part]);
        }
        break;
      }
      default: collective(step); break;
    }
    for (const int rank : all) look(static_cast<std::size_t>(rank));
    return true;
  }

  bool may_free(const Step& step) const {
    const int array = step.numbers[0];
    if (static_cast<std::size_t>(array) >= arrays_.size() || arrays_[static_cast<std::size_t>(array)].empty())
      return false;
    if (std::ranges::any_of(step.puts, [&](const Put& one) { return one.array == array; })) return false;
    for (const auto& from : pending_) {
      for (const Pending& one : from) {
        if (std::ranges::any_of(one.writes, [&](const Write& write) { return write.array == array; })) return false;
      }
    }
    return true;
  }

  Pending& between(int from, int to) { return pending_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]; }

  void deliver(const Step& step, const std::vector<int>& ranks) {
    for (const Get& one : step.gets) {
      const auto& theirs = arrays_[static_cast<std::size_t>(one.array)][static_cast<std::size_t>(one.from)];
      Digest digest;
      for (int i = 0; i < one.values; ++i) digest.add(theirs[static_cast<std::size_t>(one.at + i)]);
      log(static_cast<std::size_t>(one.by)).push_back(digest.number());
    }
    for (const int to : ranks) {
      auto& inbox = inbox_[static_cast<std::size_t>(to)];
      inbox.clear();
      for (const int from : ranks) {
        Pending& one = between(from, to);
        inbox.insert(inbox.end(), one.messages.begin(), one.messages.end());
        for (const Write& write : one.writes) {
          auto& array = arrays_[static_cast<std::size_t>(write.array)][static_cast<std::size_t>(to)];
          for (int i = 0; i < write.values; ++i) array[static_cast<std::size_t>(write.at + i)] = value(write.mark, i);
        }
        one = {};
      }
    }
  }

  void collective(const Step& step) {
    std::optional<Line> before;
    Line all;
    for (int rank = 0; rank < size_; ++rank) all = rank == 0 ? line_of(step, rank) : all * line_of(step, rank);
    for (int rank = 0; rank < size_; ++rank) {
      auto& seen = log(static_cast<std::size_t>(rank));
      const Line mine = line_of(step, rank), until = before ? *before * mine : mine;
      const bool root = !step.numbers.empty() && step.numbers[0] == rank;
      if (step.kind == Kind::broadcast) seen.push_back(line_of(step, step.numbers[0]).number());
      if (step.kind == Kind::reduce && root) seen.push_back(all.number());
      if (step.kind == Kind::allreduce) seen.push_back(all.number());
      if (step.kind == Kind::scan) seen.push_back(until.number());
      if (step.kind == Kind::exclusive_scan) seen.push_back(before.value_or(Line{}).number());
      if (step.kind == Kind::gather && root) {
        for (int from = 0; from < size_; ++from) seen.push_back(line_of(step, from).number());
      }
      before = until;
    }
  }

  /// What a rank has now.
  void look(std::size_t rank) {
    for (int stream = 0; stream < kStreams; ++stream) {
      Digest digest;
      for (const Message& one : inbox_[rank]) {
        if (one.stream != stream) continue;
        digest.add(one.from);
        digest.add(one.values);
        for (int i = 0; i < one.values; ++i) digest.add(carried(stream, value(one.mark, i)));
      }
      log(rank).push_back(digest.number());
    }
    for (const Array& array : arrays_) {
      if (array.empty()) continue;
      Digest digest;
      for (const int each : array[rank]) digest.add(each);
      log(rank).push_back(digest.number());
    }
  }

  std::vector<int> members_;
  Seen& seen_;
  int size_;
  std::vector<std::vector<Pending>> pending_;  ///< by sender, by receiver
  std::vector<std::vector<Message>> inbox_;    ///< by rank
  std::vector<Array> arrays_;
};

// Running on a machine.

struct Leaves {};

/// One processor, in all machines that it belongs to.
class Executor {
 public:
  Executor(std::vector<std::int64_t>& seen, const Sabotage& sabotage, int rank)
      : seen_(seen), sabotage_(sabotage.rank == rank ? sabotage : Sabotage{}) {}

  void run(World& w, const Steps& steps) {
    Queue<std::int64_t> longs(w);
    Queue<Odd> odds(w);
    Queue<int> ints(w);
    Arrays arrays;
    for (const Step& step : steps) {
      const bool now = steps_++ == sabotage_.step;
      if (now && sabotage_.what == Sabotage::What::throws) throw Sabotaged();
      if (now && sabotage_.what == Sabotage::What::leaves) throw Leaves();
      if (now && sabotage_.what == Sabotage::What::skips) continue;
      if (std::ranges::find(step.late, w.rank()) != step.late.end()) usleep(200);
      for (std::size_t i = 0; i < step.sends.size(); ++i) {
        const Send& one = step.sends[i];
        if (one.from == w.rank()) send(w, longs, odds, ints, one, mark_of(step, i));
      }
      for (std::size_t i = 0; i < step.puts.size(); ++i) {
        const Put& one = step.puts[i];
        if (one.from != w.rank()) continue;
        array_of(arrays, one.array)
            .put(one.to, static_cast<std::size_t>(one.at), values_of<int>(0, one.values, mark_of(step, i)));
      }
      std::vector<Future<int>> futures;
      for (const Get& one : step.gets) {
        if (one.by == w.rank())
          futures.push_back(array_of(arrays, one.array)
                                .get(one.from, static_cast<std::size_t>(one.at), static_cast<std::size_t>(one.values)));
      }
      w.charge(step.mark % 5 + w.rank());
      end(w, step, arrays);
      for (const auto& future : futures) {
        Digest digest;
        for (const int each : future.values()) digest.add(each);
        seen_.push_back(digest.number());
      }
      look(w.received<int>());
      look(longs.received());
      look(odds.received());
      look(ints.received());
      for (const auto& array : arrays) {
        if (!array) continue;
        Digest digest;
        for (const int each : *array) digest.add(each);
        seen_.push_back(digest.number());
      }
    }
  }

 private:
  using Arrays = std::vector<std::optional<Array<int>>>;

  /// Who has skipped a step may not have it.
  static Array<int>& array_of(Arrays& arrays, int index) {
    if (static_cast<std::size_t>(index) >= arrays.size() || !arrays[static_cast<std::size_t>(index)]) throw Sabotaged();
    return *arrays[static_cast<std::size_t>(index)];
  }
  template <typename T>
  static std::vector<T> values_of(int stream, int count, std::int64_t mark) {
    std::vector<T> values;
    for (int i = 0; i < count; ++i) {
      const std::int64_t one = carried(stream, value(mark, i));
      if constexpr (std::is_same_v<T, Odd>) values.push_back({{static_cast<unsigned char>(one), 1, 2}});
      else values.push_back(static_cast<T>(one));
    }
    return values;
  }

  static void send(World& w, Queue<std::int64_t>& longs, Queue<Odd>& odds, Queue<int>& ints, const Send& one,
                   std::int64_t mark) {
    switch (one.stream) {
      case 0:
        if (one.values == 1) w.send(one.to, value(mark, 0));
        else w.send(one.to, values_of<int>(0, one.values, mark));
        break;
      case 1: longs.send(one.to, values_of<std::int64_t>(1, one.values, mark)); break;
      case 2: odds.send(one.to, values_of<Odd>(2, one.values, mark)); break;
      default:
        std::ranges::copy(values_of<int>(3, one.values, mark),
                          ints.room(one.to, static_cast<std::size_t>(one.values)).begin());
    }
  }

  void end(World& w, const Step& step, Arrays& arrays) {
    const auto me = static_cast<std::size_t>(w.rank());
    const Line mine = line_of(step, w.rank());
    const auto compose = [](const Line& f, const Line& g) { return f * g; };
    const int root = step.numbers.empty() ? 0 : step.numbers[0];
    switch (step.kind) {
      case Kind::nothing: break;
      case Kind::barrier: w.sync(); break;
      case Kind::expecting: w.sync(step.expected[me]); break;
      case Kind::subset:
        if (std::ranges::find(step.numbers, w.rank()) != step.numbers.end()) w.sync(step.numbers);
        break;
      case Kind::array: arrays.emplace_back(Array<int>(w, static_cast<std::size_t>(step.numbers[me]), w.rank())); break;
      case Kind::free:
        array_of(arrays, root);
        arrays[static_cast<std::size_t>(root)].reset();
        break;
      case Kind::blocks: w.set_block_bytes(root); break;
      case Kind::broadcast: seen_.push_back(w.broadcast(mine, root).number()); break;
      case Kind::reduce: {
        const Line folded = w.reduce(mine, compose, root);
        if (w.rank() == root) seen_.push_back(folded.number());
        break;
      }
      case Kind::allreduce: seen_.push_back(w.allreduce(mine, compose).number()); break;
      case Kind::scan: seen_.push_back(w.scan(mine, compose).number()); break;
      case Kind::exclusive_scan: seen_.push_back(w.exclusive_scan(mine, compose, Line{}).number()); break;
      case Kind::gather:
        for (const Line& each : w.gather(mine, root)) seen_.push_back(each.number());
        break;
      case Kind::split: {
        const int parts = static_cast<int>(step.parts.size());
        World part = w.split(parts);
        run(part, step.parts[static_cast<std::size_t>(w.part(parts))]);
        break;
      }
      case Kind::split_in_sizes: {
        World part = w.split(std::span<const int>(step.numbers));
        const auto ranks = parts_of(step, w.size());
        for (std::size_t i = 0; i < ranks.size(); ++i) {
          if (std::ranges::find(ranks[i], w.rank()) != ranks[i].end()) run(part, step.parts[i]);
        }
        break;
      }
      case Kind::split_by: {
        World part = w.split_by(step.numbers[me]);
        run(part, step.parts[static_cast<std::size_t>(step.numbers[me])]);
        break;
      }
    }
    if (step.mark % 11 == 0) static_cast<void>(w.costs());
  }

  template <typename T>
  void look(const Messages<T>& messages) {
    Digest digest;
    for (const auto& one : messages) {
      digest.add(one.from);
      digest.add(static_cast<std::int64_t>(one.values.size()));
      for (const T& each : one.values) {
        if constexpr (std::is_same_v<T, Odd>) digest.add(each.bytes[0]);
        else digest.add(each);
      }
    }
    seen_.push_back(digest.number());
  }

  std::vector<std::int64_t>& seen_;
  const Sabotage sabotage_;
  int steps_ = 0;
};

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"nothing", "barrier",   "expecting",      "subset",    "array", "free",
                                    "blocks",  "broadcast", "reduce",         "allreduce", "scan",  "exclusive_scan",
                                    "gather",  "split",     "split_in_sizes", "split_by"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace

RandomProgram make(std::uint64_t seed, int processors) { return {processors, Maker(seed).steps(processors, 0)}; }

Seen settle(RandomProgram& program) {
  Seen seen(static_cast<std::size_t>(program.processors));
  std::vector<int> all(seen.size());
  std::iota(all.begin(), all.end(), 0);
  Model(std::move(all), seen).run(program.steps);
  return seen;
}

void execute(World& w, const RandomProgram& program, std::vector<std::int64_t>& seen, const Sabotage& sabotage) {
  try {
    Executor(seen, sabotage, w.rank()).run(w, program.steps);
  } catch (const Leaves&) {
  }
}

std::vector<std::vector<std::int64_t>> counted(const Ledger& ledger) {
  std::vector<std::vector<std::int64_t>> all;
  for (const MachineCosts& machine : ledger.machines) {
    all.push_back({static_cast<std::int64_t>(machine.id), static_cast<std::int64_t>(machine.parent), machine.size});
    for (const Superstep& step : machine.supersteps)
      all.push_back({step.work, step.messages, step.blocks, step.bytes, step.total_messages, step.total_blocks,
                     step.total_bytes});
  }
  return all;
}

std::string to_string(const Steps& steps, int indent) {
  std::string text;
  for (const Step& step : steps) {
    text += fmt::format("{:{}}{} #{}", "", indent, name_of(step.kind), step.mark);
    for (const int number : step.numbers) text += fmt::format(" {}", number);
    for (const Send& one : step.sends)
      text += fmt::format(" | {}->{} {} in {}", one.from, one.to, one.values, one.stream);
    for (const Put& one : step.puts)
      text += fmt::format(" | {} puts {}+{} of {} of {}", one.from, one.at, one.values, one.array, one.to);
    for (const Get& one : step.gets)
      text += fmt::format(" | {} gets {}+{} of {} of {}", one.by, one.at, one.values, one.array, one.from);
    for (const int rank : step.late) text += fmt::format(" | {} is late", rank);
    text += "\n";
    for (std::size_t part = 0; part < step.parts.size(); ++part)
      text += fmt::format("{:{}}part {}:\n{}", "", indent + 2, part, to_string(step.parts[part], indent + 4));
  }
  return text;
}

namespace {

/// Tries the program without each thing of a list that is in it. True: it has become smaller.
template <typename Things>
bool without_each(RandomProgram& program, const std::function<Things&(RandomProgram&)>& of,
                  const std::function<bool(const RandomProgram&)>& fails) {
  bool smaller = false;
  for (std::size_t i = of(program).size(); i-- > 0;) {
    if (i >= of(program).size()) continue;
    RandomProgram less = program;
    Things& things = of(less);
    things.erase(things.begin() + static_cast<std::ptrdiff_t>(i));
    settle(less);
    if (!fails(less)) continue;
    program = std::move(less);
    smaller = true;
  }
  return smaller;
}

bool shrink_steps(RandomProgram& program, const std::function<Steps&(RandomProgram&)>& of,
                  const std::function<bool(const RandomProgram&)>& fails) {
  bool smaller = without_each<Steps>(program, of, fails);
  for (std::size_t i = 0; i < of(program).size(); ++i) {
    const auto step = [&of, i](RandomProgram& one) -> Step& { return of(one)[i]; };
    const auto is_there = [&] { return i < of(program).size(); };
    const auto try_list = [&](auto list) {
      using Things = std::remove_reference_t<decltype(list(program))>;
      if (is_there()) smaller = without_each<Things>(program, list, fails) || smaller;
    };
    try_list([&](RandomProgram& one) -> std::vector<Send>& { return step(one).sends; });
    try_list([&](RandomProgram& one) -> std::vector<Put>& { return step(one).puts; });
    try_list([&](RandomProgram& one) -> std::vector<Get>& { return step(one).gets; });
    try_list([&](RandomProgram& one) -> std::vector<int>& { return step(one).late; });
    for (std::size_t part = 0; is_there() && part < step(program).parts.size(); ++part)
      smaller = shrink_steps(
                    program, [&](RandomProgram& one) -> Steps& { return step(one).parts[part]; }, fails) ||
                smaller;
  }
  return smaller;
}

}  // namespace

RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails) {
  while (shrink_steps(
      program, [](RandomProgram& one) -> Steps& { return one.steps; }, fails)) {
  }
  return program;
}

}  // namespace chasqui::bsp::random_program
