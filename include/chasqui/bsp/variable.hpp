// SPDX-License-Identifier: MIT
// Registered variables: memory that other processors put to and get from. All processors of a machine create
// them in the same order; an Array may have a different length everywhere. Gets see the values of before the
// puts; puts are applied in the order of sender, then of issue.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "chasqui/base/source_location.hpp"
#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {

/// What a get will bring, there after the next sync.
template <Sendable T>
class Future {
 public:
  /// What get() returns; filled by the next sync.
  Future(std::shared_ptr<detail::Fetched> fetched, std::size_t count) : fetched_(std::move(fetched)), count_(count) {}
  /// The values. REQUIRES a sync since the get.
  std::span<const T> values() const {
    if (!fetched_->ready) throw MachineError(Fault::not_ready, "the result of a get is read before the next sync()");
    return {reinterpret_cast<const T*>(fetched_->bytes.data()), count_};
  }
  const T& value() const { return values().front(); }  ///< the first of them

 private:
  std::shared_ptr<detail::Fetched> fetched_;
  std::size_t count_;
};
/// A distributed array: each processor has a part, of a length of its own; the others put to it and get from it.
template <Sendable T>
class Array {
 public:
  using Where = SourceLocation;  ///< where a program said it
  /// Collective: every processor makes it, in the same order as its other variables. `length` is that of its own part.
  Array(World& world, std::size_t length, const T& fill = T{})
      : core_(world.core()), id_(core_->register_variable(length, sizeof(T))), length_(length) {
    std::ranges::fill(local(), fill);
  }
  /// Takes over; the other is empty then.
  Array(Array&& other) noexcept : core_(std::move(other.core_)), id_(other.id_), length_(other.length_) {}
  /// Takes over; what this one had is freed.
  Array& operator=(Array&& other) noexcept {
    if (this != &other) {
      free();
      core_ = std::move(other.core_), id_ = other.id_, length_ = other.length_;
    }
    return *this;
  }
  ~Array() { free(); }

  /// This processor's part. With Options::spill it may move between supersteps: ask again after a sync.
  std::span<T> local() const { return {reinterpret_cast<T*>(core_->memory(id_).data()), length_}; }
  std::size_t size() const { return length_; }  ///< elements of this processor's part
  /// Element i of this processor's part. Each access asks the machine for the array: in a loop take local() once.
  T& operator[](std::size_t i) const { return local()[i]; }
  auto begin() const { return local().begin(); }  ///< of this processor's part
  auto end() const { return local().end(); }      ///< of this processor's part
  /// Writes into the part of `to`, seen there after the next sync.
  void put(int to, std::size_t at, std::span<const T> values) {
    core_->put(id_, to, detail::bytes_of(at, sizeof(T)), std::as_bytes(values));
  }
  void put(int to, std::size_t at, const T& value) { put(to, at, std::span<const T>(&value, 1)); }  ///< one value
  /// Asks for `count` elements of the part of `from`, as they are before the puts; there after the next sync, which takes a second exchange.
  Future<T> get(int from, std::size_t at, std::size_t count = 1) {
    return {core_->get(id_, from, detail::bytes_of(at, sizeof(T)), detail::bytes_of(count, sizeof(T))), count};
  }

  /// Gives the memory back before the handle ends; uses after that are a named error, here and from afar.
  void free(Where where = Where::current()) noexcept {
    if (core_) core_->free_variable(id_, where);
  }

 private:
  std::shared_ptr<detail::Core> core_;
  std::uint32_t id_;
  std::size_t length_;
};

/// A registered variable of one value.
template <Sendable T>
class Var {
 public:
  explicit Var(World& world, const T& value = T{}) : array_(world, 1, value) {}  ///< collective, like Array

  T& value() const { return array_[0]; }                          ///< this processor's
  void put(int to, const T& value) { array_.put(to, 0, value); }  ///< writes it on `to`, seen after the next sync
  Future<T> get(int from) { return array_.get(from, 0); }         ///< asks `from` for its value
  /// Gives this processor's memory back, as Array::free.
  void free(SourceLocation where = SourceLocation::current()) noexcept { array_.free(where); }

 private:
  Array<T> array_;
};

}  // namespace chasqui::bsp
