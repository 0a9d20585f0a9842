// SPDX-License-Identifier: MIT
// The typed face of a communicator: spans and values of any trivially copyable type. `Derived` offers run(Call),
// start(Call), refuse(text), rank() and size(). Names beginning with i start a collective and return a Request.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

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
/// The collectives on spans, vectors and values of trivially copyable types. `i…` forms return a Request and need their buffers until it is complete.
template <typename Derived>
class Typed {
 public:
  void barrier() { self().run({}); }               ///< returns when all ranks have called it
  Request ibarrier() { return self().start({}); }  ///< non-blocking

  template <typename T>
  void broadcast(std::span<T> data, int root = 0) { self().run(broadcast_call(data, root)); }  ///< The root's data, at every rank.
  template <typename T>
  void broadcast(T& value, int root = 0) { broadcast(std::span<T>(&value, 1), root); }  ///< one value
  template <typename T>
  void broadcast(std::vector<T>& data, int root = 0) { broadcast(std::span<T>(data), root); }  ///< a vector whose size all ranks know
  /// Elements that do not lie side by side.
  template <typename T>
  void broadcast(Strided<T> data, int root = 0) {
    Call call = broadcast_call(std::span<T>(data.first, static_cast<std::size_t>(data.count)), root);
    call.layout.stride = data.stride * static_cast<std::ptrdiff_t>(sizeof(T));
    self().run(call);
  }
  template <typename T>
  Request ibroadcast(std::span<T> data, int root = 0) { return self().start(broadcast_call(data, root)); }  ///< non-blocking

  /// `out` counts at the root only; in.data() == out.data() there is in place.
  template <typename T, typename F = Sum>
  void reduce(std::span<const T> in, std::span<T> out, int root, const F& op = constant<F>) {
    self().run(fold_call(Kind::reduce, in, out, root, op));
  }
  /// Non-blocking.
  template <typename T, typename F = Sum>
  Request ireduce(std::span<const T> in, std::span<T> out, int root, const F& op = constant<F>) {
    return self().start(fold_call(Kind::reduce, in, out, root, op));
  }
  /// The fold of all contributions, at every rank.
  template <typename T, typename F = Sum>
  void allreduce(std::span<const T> in, std::span<T> out, const F& op = constant<F>) {
    self().run(fold_call(Kind::allreduce, in, out, 0, op));
  }
  /// One value.
  template <typename T, typename F = Sum>
  T allreduce(const T& value, const F& op = constant<F>) requires std::is_trivially_copyable_v<T> {
    T result = value;
    self().run(fold_call(Kind::allreduce, std::span<const T>(&value, 1), std::span<T>(&result, 1), 0, op));
    return result;
  }
  /// Non-blocking.
  template <typename T, typename F = Sum>
  Request iallreduce(std::span<const T> in, std::span<T> out, const F& op = constant<F>) {
    return self().start(fold_call(Kind::allreduce, in, out, 0, op));
  }
  /// Rank i gets the fold of ranks 0 .. i.
  template <typename T, typename F = Sum>
  void scan(std::span<const T> in, std::span<T> out, const F& op = constant<F>) {
    self().run(fold_call(Kind::scan, in, out, 0, op));
  }
  /// Rank 0 keeps what `out` held.
  template <typename T, typename F = Sum>
  void exclusive_scan(std::span<const T> in, std::span<T> out, const F& op = constant<F>) {
    Call call = fold_call(Kind::scan, in, out, 0, op);
    call.exclusive = true;
    self().run(call);
  }
  /// Non-blocking.
  template <typename T, typename F = Sum>
  Request iscan(std::span<const T> in, std::span<T> out, const F& op = constant<F>) {
    return self().start(fold_call(Kind::scan, in, out, 0, op));
  }

  template <typename T>
  void allgather(std::span<const T> in, std::span<T> out) { self().run(gather_call(Kind::allgather, in, out, 0)); }  ///< all contributions in rank order, at every rank; out holds P times as much as in
  /// Non-blocking.
  template <typename T>
  Request iallgather(std::span<const T> in, std::span<T> out) {
    return self().start(gather_call(Kind::allgather, in, out, 0));
  }
  /// All contributions in rank order, at the root.
  template <typename T>
  void gather(std::span<const T> in, std::span<T> out, int root = 0) {
    self().run(gather_call(Kind::gather, in, out, root));
  }
  /// Non-blocking.
  template <typename T>
  Request igather(std::span<const T> in, std::span<T> out, int root = 0) {
    return self().start(gather_call(Kind::gather, in, out, root));
  }
  template <typename T>
  void scatter(std::span<const T> in, std::span<T> out, int root = 0) { self().run(scatter_call(in, out, root)); }  ///< part r of the root's data to rank r
  /// Non-blocking.
  template <typename T>
  Request iscatter(std::span<const T> in, std::span<T> out, int root = 0) {
    return self().start(scatter_call(in, out, root));
  }

 private:
  template <typename F>
  static constexpr F constant{};

  Derived& self() { return static_cast<Derived&>(*this); }

  template <typename T>
  static Layout layout() {
    static_assert(std::is_trivially_copyable_v<T>);
    return {.element = sizeof(T)};
  }
  template <typename T>
  static Call broadcast_call(std::span<T> data, int root) {
    return {.kind = Kind::broadcast, .out = data.data(), .count = std::ssize(data), .layout = layout<T>(), .root = root};
  }
  template <typename T, typename F>
  Call fold_call(Kind kind, std::span<const T> in, std::span<T> out, int root, const F& op) {
    const bool writes = kind != Kind::reduce || self().rank() == root;
    if (writes && out.size() != in.size()) {
      self().refuse(fmt::format("{}: {} elements in and room for {} out: they must be the same", to_string(kind), in.size(), out.size()));
    }
    return {.kind = kind, .in = in.data(), .out = out.data(), .count = std::ssize(in), .layout = layout<T>(),
            .op = operator_of<T>(op, commutes<F>), .root = root};
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
