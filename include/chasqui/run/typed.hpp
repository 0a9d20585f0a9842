// SPDX-License-Identifier: MIT
// The typed face of a communicator: contiguous ranges (spans, vectors, arrays) and values of any trivially copyable type.
// `Derived` offers run(Call), start(Call, kept), refuse(text), rank() and size(). Names beginning with i start a collective and return
// a Request.
#pragma once

#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/run/call.hpp"
#include "chasqui/run/request.hpp"

namespace chasqui::run {

/// Elements that lie `stride` elements apart.
template <typename T>
struct Strided {
  T* first;             ///< the first element
  std::int64_t count;   ///< how many
  std::int64_t stride;  ///< elements from one to the next
};

/// A range whose elements lie side by side and can be copied as bytes.
template <typename R>
concept Buffer = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
/// One that can be written to.
template <typename R>
concept Writable = Buffer<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
/// One that outlives the call it is passed to: no temporary vector.
template <typename R>
concept Lasting = Buffer<R> && std::ranges::borrowed_range<R>;
/// A value that means the same on every rank as far as its type tells: neither a pointer nor a view of something elsewhere.
template <typename T>
concept Value = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T> && !std::ranges::view<T>;
/// A function that folds two values into one.
template <typename F, typename T>
concept Folds = std::is_invocable_r_v<T, const F&, const T&, const T&>;

/// The collectives on ranges and values of trivially copyable types. `i…` forms return a Request and need their buffers until it is
/// complete; they copy their operator.
template <typename Derived>
class Typed {
 public:
  void barrier() { self().run({}); }               ///< returns when all ranks have called it
  Request ibarrier() { return self().start({}); }  ///< non-blocking

  template <Writable R> requires Lasting<R>
  void broadcast(R&& data, int root = 0) { self().run(broadcast_call(to(data), root)); }  ///< The root's data, at every rank.
  template <Value T> requires(!Buffer<T&>)
  void broadcast(T& value, int root = 0) { self().run(broadcast_call(std::span<T>(&value, 1), root)); }  ///< one value
  /// Elements that do not lie side by side.
  template <typename T>
  void broadcast(Strided<T> data, int root = 0) {
    Call call = broadcast_call(std::span<T>(data.first, static_cast<std::size_t>(data.count)), root);
    call.layout.stride = data.stride * static_cast<std::ptrdiff_t>(sizeof(T));
    self().run(call);
  }
  template <Writable R> requires Lasting<R>
  Request ibroadcast(R&& data, int root = 0) { return self().start(broadcast_call(to(data), root)); }  ///< non-blocking
  template <Value T> requires(!Buffer<T&>)
  Request ibroadcast(T& value, int root = 0) { return self().start(broadcast_call(std::span<T>(&value, 1), root)); }  ///< one value

  /// `out` counts at the root only; in.data() == out.data() there is in place.
  template <Buffer In, Writable Out, Folds<std::ranges::range_value_t<Out>> F = Sum>
  void reduce(In&& in, Out&& out, int root, F op = {}) {
    self().run(fold_call(Kind::reduce, from(in), to(out), root, op));
  }
  /// Non-blocking.
  template <Lasting In, Writable Out, Folds<std::ranges::range_value_t<Out>> F = Sum> requires Lasting<Out>
  Request ireduce(In&& in, Out&& out, int root, F op = {}) {
    return start_fold(Kind::reduce, from(in), to(out), root, std::move(op));
  }
  /// The fold of all contributions, at every rank; `allreduce(data, data)` is in place.
  template <Buffer In, Writable Out, Folds<std::ranges::range_value_t<Out>> F = Sum>
  void allreduce(In&& in, Out&& out, F op = {}) {
    self().run(fold_call(Kind::allreduce, from(in), to(out), 0, op));
  }
  /// One value.
  template <Value T, Folds<T> F = Sum>
  T allreduce(const T& value, F op = {}) {
    T result = value;
    self().run(fold_call(Kind::allreduce, std::span<const T>(&value, 1), std::span<T>(&result, 1), 0, op));
    return result;
  }
  /// Non-blocking.
  template <Lasting In, Writable Out, Folds<std::ranges::range_value_t<Out>> F = Sum> requires Lasting<Out>
  Request iallreduce(In&& in, Out&& out, F op = {}) {
    return start_fold(Kind::allreduce, from(in), to(out), 0, std::move(op));
  }
  /// Rank i gets the fold of ranks 0 .. i.
  template <Buffer In, Writable Out, Folds<std::ranges::range_value_t<Out>> F = Sum>
  void scan(In&& in, Out&& out, F op = {}) {
    self().run(fold_call(Kind::scan, from(in), to(out), 0, op));
  }
  /// Rank 0 keeps what `out` held.
  template <Buffer In, Writable Out, Folds<std::ranges::range_value_t<Out>> F = Sum>
  void exclusive_scan(In&& in, Out&& out, F op = {}) {
    Call call = fold_call(Kind::scan, from(in), to(out), 0, op);
    call.exclusive = true;
    self().run(call);
  }
  /// Non-blocking.
  template <Lasting In, Writable Out, Folds<std::ranges::range_value_t<Out>> F = Sum> requires Lasting<Out>
  Request iscan(In&& in, Out&& out, F op = {}) {
    return start_fold(Kind::scan, from(in), to(out), 0, std::move(op));
  }

  /// All contributions in rank order, at every rank; `out` holds P times as much as `in`.
  template <Buffer In, Writable Out>
  void allgather(In&& in, Out&& out) { self().run(gather_call(Kind::allgather, from(in), to(out), 0)); }
  /// Non-blocking.
  template <Lasting In, Writable Out> requires Lasting<Out>
  Request iallgather(In&& in, Out&& out) { return self().start(gather_call(Kind::allgather, from(in), to(out), 0)); }
  /// All contributions in rank order, at the root; elsewhere `out` may be empty.
  template <Buffer In, Writable Out>
  void gather(In&& in, Out&& out, int root = 0) { self().run(gather_call(Kind::gather, from(in), to(out), root)); }
  /// Non-blocking.
  template <Lasting In, Writable Out> requires Lasting<Out>
  Request igather(In&& in, Out&& out, int root = 0) { return self().start(gather_call(Kind::gather, from(in), to(out), root)); }
  /// Part r of the root's data to rank r; elsewhere `in` may be empty.
  template <Buffer In, Writable Out>
  void scatter(In&& in, Out&& out, int root = 0) { self().run(scatter_call(from(in), to(out), root)); }
  /// Non-blocking.
  template <Lasting In, Writable Out> requires Lasting<Out>
  Request iscatter(In&& in, Out&& out, int root = 0) { return self().start(scatter_call(from(in), to(out), root)); }

 private:
  template <typename F>
  static constexpr F constant{};

  Derived& self() { return static_cast<Derived&>(*this); }

  template <typename R>
  static auto from(const R& range) {
    return std::span<const std::ranges::range_value_t<R>>(std::ranges::data(range), std::ranges::size(range));
  }
  template <typename R>
  static auto to(R& range) {
    return std::span<std::ranges::range_value_t<R>>(std::ranges::data(range), std::ranges::size(range));
  }

  template <typename T>
  static Layout layout() {
    static_assert(std::is_trivially_copyable_v<T>);
    return {.element = sizeof(T)};
  }
  template <typename T>
  static Call broadcast_call(std::span<T> data, int root) {
    return {.kind = Kind::broadcast, .out = data.data(), .count = std::ssize(data), .layout = layout<T>(), .root = root};
  }
  /// A started collective outlives the operator it was given, which may well be a temporary: it keeps a copy.
  template <typename T, typename F>
  Request start_fold(Kind kind, std::span<const T> in, std::span<T> out, int root, F op) {
    if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
      return self().start(fold_call(kind, in, out, root, constant<F>));
    } else {
      const auto kept = std::make_shared<const F>(std::move(op));
      return self().start(fold_call(kind, in, out, root, *kept), kept);
    }
  }
  template <typename T, typename F>
  Call fold_call(Kind kind, std::span<const T> in, std::span<T> out, int root, const F& op) {
    const bool writes = kind != Kind::reduce || self().rank() == root;
    if (writes && out.size() != in.size()) {
      self().refuse(fmt::format("{}: {} elements in and room for {} out: they must be the same", to_string(kind), in.size(), out.size()));
    }
    return {.kind = kind, .in = in.data(), .out = out.data(), .count = std::ssize(in), .layout = layout<T>(),
            .op = operator_of<T>(op, commutes<F, T>), .root = root};
  }
  template <typename T>
  Call gather_call(Kind kind, std::span<const T> in, std::span<T> out, int root) {
    const bool writes = kind != Kind::gather || self().rank() == root;
    const auto needed = in.size() * static_cast<std::size_t>(self().size());
    if (writes && out.size() != needed) {
      self().refuse(fmt::format("{}: room for {} elements where {} ranks bring {}", to_string(kind), out.size(), self().size(), needed));
    }
    return {.kind = kind, .in = in.data(), .out = out.data(), .count = std::ssize(in), .layout = layout<T>(), .root = root};
  }
  template <typename T>
  Call scatter_call(std::span<const T> in, std::span<T> out, int root) {
    const auto needed = out.size() * static_cast<std::size_t>(self().size());
    if (self().rank() == root && in.size() != needed) {
      self().refuse(fmt::format("scatter: {} elements for {} ranks of {}", in.size(), self().size(), out.size()));
    }
    return {.kind = Kind::scatter, .in = in.data(), .out = out.data(), .count = std::ssize(out), .layout = layout<T>(),
            .root = root};
  }
};

}  // namespace chasqui::run
