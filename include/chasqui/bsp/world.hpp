// SPDX-License-Identifier: MIT
// A processor's view of its machine. Programs are written against this class; it does not matter to them
// whether the machine is made of threads, of virtual processors or of MPI ranks.
//
//   chasqui::bsp::run(4, [](World& w) {
//     w.send((w.rank() + 1) % w.size(), 42);
//     w.sync();
//     for (const auto& m : w.received<int>()) fmt::print("{} from {}\n", m.value(), m.from);
//   });
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "chasqui/base/source_location.hpp"
#include "chasqui/bsp/detail/core.hpp"
#include "chasqui/bsp/message.hpp"

namespace chasqui::bsp {
/// The machine as one processor sees it.
class World {
 public:
  using Where = SourceLocation;  ///< where a program said it

  explicit World(std::shared_ptr<detail::Core> core) : core_(std::move(core)) {}  ///< for the engines
  World(World&&) = default;
  World& operator=(World&&) = default;

  int rank() const { return core_->rank(); }  ///< 0 .. size() - 1 in the present machine
  int size() const { return core_->size(); }  ///< processors of the present machine

  // Messages: delivered by the next sync, in the order of sender, then of sending.
  /// One value, received after the next sync.
  template <Sendable T>
  void send(int to, const T& value) {
    std::memcpy(core_->add_message(to, detail::kTypeChannel<T>, sizeof(T)), &value, sizeof(T));
  }
  /// Several values as one message, received as the same type whether they are const here or not.
  template <typename T, std::size_t Extent>
  requires Sendable<std::remove_const_t<T>>
  void send(int to, std::span<T, Extent> values) {
    std::byte* const place = core_->add_message(to, detail::kTypeChannel<std::remove_const_t<T>>, values.size_bytes());
    if (!values.empty()) std::memcpy(place, values.data(), values.size_bytes());
  }
  /// Several values as one message.
  template <Sendable T>
  void send(int to, const std::vector<T>& values) {
    send(to, std::span<const T>(values));
  }
  /// The messages of type T that the last sync delivered.
  template <Sendable T>
  Messages<T> received() const {
    return {core_->inbox(), detail::kTypeChannel<T>};
  }

  /// Ends the superstep: waits for everybody, delivers messages, serves gets, then puts.
  /// BSP costs: w + g h + L. BSP*: w + g (s + h B) + L. Where anybody has asked for a get there is a second exchange, and L twice.
  void sync(Where where = Where::current()) { core_->sync(where); }
  /// Ends the superstep as soon as `expected` messages and puts are in, without a barrier. Everybody ends
  /// this superstep so, each with its own number. Gets need sync().
  void sync(std::int64_t expected, Where where = Where::current()) { core_->sync_expecting(expected, where); }
  /// Ends the superstep for these processors only (all of them call it): messages between them are delivered,
  /// messages to others stay for a later sync. The first time with these ranks takes O(size) more.
  void sync(std::span<const int> ranks, Where where = Where::current()) { core_->sync_among(ranks, where); }
  /// Ends the superstep for these ranks only; nobody else waits.
  void sync(std::initializer_list<int> ranks, Where where = Where::current()) {
    core_->sync_among(std::span<const int>(ranks.begin(), ranks.size()), where);
  }

  // Submachines (D-BSP): independent machines that synchronise on their own. They join again when the World
  // returned goes out of scope; this one must not sync before. Everybody calls split with the same arguments; nothing is sent.
  /// `parts` submachines of consecutive processors, sizes as equal as possible, larger ones first.
  World split(int parts);
  /// Submachines of consecutive processors, of these sizes (they add up to size()).
  World split(std::span<const int> sizes);
  /// One submachine for each color, in rank order. Gathers the colors first: O(size) a processor.
  World split_by(int color, Where where = Where::current());
  /// The submachine that split(parts) puts this processor in.
  int part(int parts) const;
  /// The first rank of submachine `index` of split(parts).
  int first_of(int parts, int index) const;

  // Collectives, along the library's plans. A processor leaves when its own part is done; nobody is
  // synchronised. Everybody calls them in the same order. Operators are associative; they may be
  // non-commutative.
  /// The root's value, at every processor, along an optimal tree for Options::latency, overhead and gap. No superstep.
  template <Sendable T>
  T broadcast(T value, int root = 0, Where where = Where::current()) {
    return play({.kind = Kind::broadcast, .root = {root}}, value, {}, where);
  }
  /// The fold in rank order at `root`; elsewhere the value is unspecified.
  template <Sendable T, typename Op>
  T reduce(T value, const Op& op, int root = 0, Where where = Where::current()) {
    return play({.kind = Kind::reduce, .root = {root}, .commutative = false}, value, fold<T>(op), where);
  }
  /// The fold of all values in rank order, at every processor. Collective.
  template <Sendable T, typename Op>
  T allreduce(T value, const Op& op, Where where = Where::current()) {
    return play({.kind = Kind::allreduce, .commutative = false}, value, fold<T>(op), where);
  }
  /// The fold of ranks 0 .. rank().
  template <Sendable T, typename Op>
  T scan(T value, const Op& op, Where where = Where::current()) {
    return play({.kind = Kind::scan}, value, fold<T>(op), where);
  }
  /// The fold of ranks 0 .. rank()-1; `identity` on rank 0.
  template <Sendable T, typename Op>
  T exclusive_scan(T value, const Op& op, const T& identity, Where where = Where::current()) {
    const T before = play({.kind = Kind::scan, .exclusive = true}, value, fold<T>(op), where);
    return rank() > 0 ? before : identity;
  }
  /// At the root: everybody's value in rank order. Elsewhere: empty.
  template <Sendable T>
  std::vector<T> gather(const T& value, int root = 0, Where where = Where::current()) {
    std::vector<T> all(rank() == root ? static_cast<std::size_t>(size()) : 0, value);
    core_->play({.kind = Kind::gather, .root = {root}}, &value, all.data(), sizeof(T), {}, where);
    return all;
  }

  // Costs.
  /// Charges local work, in the unit of your choice; without charges the measured time is used.
  void charge(std::int64_t work) { core_->charge(work); }
  /// The supersteps so far, except the last one, which not everybody has reported yet. Over MPI: the
  /// submachines this processor took part in. run() returns the whole ledger. Time: O(all supersteps so far), copied.
  Ledger costs() const { return core_->ledger(); }
  /// The critical block size in bytes (BSP*): messages to one destination travel in blocks of about this
  /// size.
  std::int64_t block_bytes() const { return core_->block_bytes(); }
  /// BSP*: messages to one processor are packed into blocks of this size.
  void set_block_bytes(std::int64_t bytes) { core_->set_block_bytes(bytes); }
  /// How many supersteps this machine has completed; those of subsets do not count.
  std::uint64_t superstep() const { return core_->step(); }

  const std::shared_ptr<detail::Core>& core() const { return core_; }  ///< for the library's own algorithms

 private:
  template <typename T>
  T play(const Problem& problem, T value, const detail::Fold& fold, const Where& where) {
    core_->play(problem, &value, &value, sizeof(T), fold, where);
    return value;
  }
  template <typename T, typename Op>
  static detail::Fold fold(const Op& op) {
    return {[](const void* context, const std::byte* left, const std::byte* right, std::byte* result) {
              std::array<T, 2> operand;
              std::memcpy(&operand[0], left, sizeof(T));
              std::memcpy(&operand[1], right, sizeof(T));
              const T folded = (*static_cast<const Op*>(context))(operand[0], operand[1]);
              std::memcpy(result, &folded, sizeof(T));
            },
            &op};
  }

  std::shared_ptr<detail::Core> core_;
};

/// A stream of messages of its own. All processors create their queues in the same order.
template <Sendable T>
class Queue {
 public:
  /// Collective: every processor makes its queues in the same order.
  explicit Queue(World& world) : core_(world.core()), channel_(core_->new_channel()) {}

  /// One value.
  void send(int to, const T& value) { std::memcpy(core_->add_message(to, channel_, sizeof(T)), &value, sizeof(T)); }
  /// Several values as one message.
  void send(int to, std::span<const T> values) {
    std::byte* const place = core_->add_message(to, channel_, values.size_bytes());
    if (!values.empty()) std::memcpy(place, values.data(), values.size_bytes());
  }
  /// Room for several values as one message; the caller fills it before it sends to `to` again.
  std::span<T> room(int to, std::size_t count) {
    return {reinterpret_cast<T*>(core_->add_message(to, channel_, detail::bytes_of(count, sizeof(T)))), count};
  }
  Messages<T> received() const { return {core_->inbox(), channel_}; }  ///< what arrived at the last sync
  auto begin() const { return received().begin(); }                    ///< of what arrived
  auto end() const { return received().end(); }                        ///< of what arrived

 private:
  std::shared_ptr<detail::Core> core_;
  std::uint32_t channel_;
};

}  // namespace chasqui::bsp
