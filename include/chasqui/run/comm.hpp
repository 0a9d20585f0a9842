// SPDX-License-Identifier: MIT
// The communicator: collectives that programs call. It runs on a board (ranks of one node), on messages, or on both;
// which plan runs is decided by predicted cost. All ranks call the same collectives in the same order; several may be
// in flight. One rank's Comm is used by one thread at a time.
// Typed calls take contiguous ranges (spans, vectors, arrays), elements that lie apart (Strided) and values of any
// trivially copyable type. Names beginning with i start a collective and return a Request: its buffers must stay until
// that is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chasqui/run/call.hpp"

namespace chasqui {
struct Profile;
}

namespace chasqui::run {

struct Choice;
struct Topology;
struct Operation;
class Engine;

/// A collective that was started; empty: one that is complete. Waiting, or testing until true, completes it; the
/// communicator and the buffers must live until then.
class [[nodiscard("wait for it, or its buffers may go too early")]] Request {
 public:
  Request() = default;
  Request(Engine * engine, std::shared_ptr<Operation> operation);  ///< for Comm::start

  /// True when the collective is complete; advances all collectives in flight. Throws the Error it failed with.
  bool test();
  void wait();                                           ///< returns when it is complete; throws the collective's Error
  bool active() const { return operation_ != nullptr; }  ///< started and not yet known to be complete?

 private:
  void end();

  Engine* engine_ = nullptr;
  std::shared_ptr<Operation> operation_;
};

/// Elements that lie `stride` elements apart: a column of a matrix. The stride may be negative, and is not 0.
template <typename T>
struct Strided {
  T* first;             ///< the first element
  std::int64_t count;   ///< how many
  std::int64_t stride;  ///< elements from one to the next
};
template <typename R>
inline constexpr bool is_strided = false;  ///< is R a Strided<T>?
template <typename T>
inline constexpr bool is_strided<Strided<T>> = std::is_trivially_copyable_v<T>;  ///< it is

/// A range whose elements lie side by side and can be copied as bytes.
template <typename R>
concept Buffer = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
/// One that can be written to.
template <typename R>
concept Writable = Buffer<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
/// What a collective reads: a range, or Strided.
template <typename R>
concept Source = Buffer<R> || is_strided<std::remove_cvref_t<R>>;
/// What it writes to.
template <typename R>
concept Target = Writable<R> ||(is_strided<std::remove_cvref_t<R>> &&
                                !std::is_const_v<std::remove_pointer_t<decltype(std::remove_cvref_t<R>::first)>>);
/// One that outlives the call it is passed to: no temporary vector.
template <typename R>
concept Lasting = is_strided<std::remove_cvref_t<R>> ||(Buffer<R>&& std::ranges::borrowed_range<R>);
/// A value that means the same on every rank as far as its type tells: neither a pointer nor a view of something elsewhere.
template <typename T>
concept Value = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T> &&
                !std::ranges::view<T> && !is_strided<T>;
/// A function that folds two values into one.
template <typename F, typename T>
concept Folds = std::is_invocable_r_v<T, const F&, const T&, const T&>;

/// The type of the elements of a source or target.
template <typename R>
struct ElementOf {
  using type = std::ranges::range_value_t<R>;  ///< of a range
};
/// Of Strided.
template <typename R>
requires is_strided<std::remove_cvref_t<R>>
struct ElementOf<R> {
  using type = std::remove_cv_t<std::remove_pointer_t<decltype(std::remove_cvref_t<R>::first)>>;  ///< without const
};
template <typename R>
using Element = typename ElementOf<R>::type;  ///< the same, shorter

/// Collectives for the ranks of one communicator. Every Comm is the face of an engine (src/run/comm/engine.hpp), which
/// whoever makes communicators builds: threads::Team, mpi::make_comm.
class Comm {
 public:
  virtual ~Comm();  ///< an exception on its way through here counts as leave()
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return rank_; }  ///< this rank
  int size() const { return size_; }  ///< ranks

  /// Runs a collective to its end. Throws Error: bad arguments, sizes that disagree, another rank's failure.
  /// Bad arguments leave the communicator usable if all ranks pass them; after anything else every call fails.
  void run(const Call& call);

  /// Begins a collective. The buffers must stay until the request is complete; so must the operator's function, unless `kept`
  /// holds it: that is let go when the collective is complete.
  Request start(const Call& call, std::shared_ptr<const void> kept = nullptr);

  /// Advances everything in flight here. True if something moved.
  bool progress();

  /// A communicator of the ranks that pass the same colour, ordered by key; nullptr for a negative colour. Collective: it ends
  /// what is in flight here first. The new one may outlive this one.
  std::unique_ptr<Comm> split(int colour, int key);

  /// Which methods are there for this call, the chosen one first (choose.hpp).
  std::vector<Choice> choices_for(const Call& call) const;
  const Topology& topology() const;  ///< how the ranks lie, for explain()
  const Profile& profile() const;    ///< what the choice of methods goes by

  /// Forces a method (measurements and tests), the same on all ranks. A call that it cannot run is refused with an Error
  /// that says why.
  void force(const Choice& choice);
  void unforce();  ///< the cheapest is chosen again

  /// Bad arguments: tells the ranks that wait in this collective, and throws the Error.
  [[noreturn]] void refuse(const std::string& why);

  /// Says to all ranks that this one will not come back: whoever waits for it gets an Error.
  void leave(const std::string& why);

  void barrier() { run({}); }               ///< returns when all ranks have called it
  Request ibarrier() { return start({}); }  ///< non-blocking

  /// The root's data, at every rank.
  template <Target R>
  requires Lasting<R>
  void broadcast(R&& data, int root = 0) { run(broadcast_call(to(data), root)); }
  /// One value.
  template <Value T>
  requires(!Buffer<T&>) void broadcast(T& value, int root = 0) { run(broadcast_call(one(value), root)); }
  /// Non-blocking.
  template <Target R>
  requires Lasting<R> Request ibroadcast(R&& data, int root = 0) { return start(broadcast_call(to(data), root)); }
  /// One value, non-blocking.
  template <Value T>
  requires(!Buffer<T&>) Request ibroadcast(T& value, int root = 0) { return start(broadcast_call(one(value), root)); }

  /// `out` counts at the root only; `reduce(data, data, root)` is in place.
  template <Source In, Target Out, Folds<Element<Out>> F = Sum>
  void reduce(In&& in, Out&& out, int root, F op = {}) {
    run(fold_call(Kind::reduce, from(in), to(out), root, op));
  }
  /// Non-blocking.
  template <Lasting In, Target Out, Folds<Element<Out>> F = Sum>
  requires Lasting<Out> Request ireduce(In&& in, Out&& out, int root, F op = {}) {
    return start_fold(Kind::reduce, from(in), to(out), root, std::move(op));
  }
  /// The fold of all contributions, at every rank; `allreduce(data, data)` is in place.
  template <Source In, Target Out, Folds<Element<Out>> F = Sum>
  void allreduce(In&& in, Out&& out, F op = {}) {
    run(fold_call(Kind::allreduce, from(in), to(out), 0, op));
  }
  /// One value.
  template <Value T, Folds<T> F = Sum>
  T allreduce(const T& value, F op = {}) {
    T result = value;
    allreduce(one(value), one(result), std::move(op));
    return result;
  }
  /// Non-blocking.
  template <Lasting In, Target Out, Folds<Element<Out>> F = Sum>
  requires Lasting<Out> Request iallreduce(In&& in, Out&& out, F op = {}) {
    return start_fold(Kind::allreduce, from(in), to(out), 0, std::move(op));
  }
  /// Rank i gets the fold of ranks 0 .. i.
  template <Source In, Target Out, Folds<Element<Out>> F = Sum>
  void scan(In&& in, Out&& out, F op = {}) {
    run(fold_call(Kind::scan, from(in), to(out), 0, op));
  }
  /// One value.
  template <Value T, Folds<T> F = Sum>
  T scan(const T& value, F op = {}) {
    T result = value;
    scan(one(value), one(result), std::move(op));
    return result;
  }
  /// Rank i gets the fold of ranks 0 .. i-1; rank 0 keeps what `out` held.
  template <Source In, Target Out, Folds<Element<Out>> F = Sum>
  void exclusive_scan(In&& in, Out&& out, F op = {}) {
    run(fold_call(Kind::scan, from(in), to(out), 0, op, true));
  }
  /// One value; rank 0 gets `first`.
  template <Value T, Folds<T> F = Sum>
  T exclusive_scan(const T& value, F op = {}, std::type_identity_t<T> first = {}) {
    exclusive_scan(one(value), one(first), std::move(op));
    return first;
  }
  /// Non-blocking.
  template <Lasting In, Target Out, Folds<Element<Out>> F = Sum>
  requires Lasting<Out> Request iscan(In&& in, Out&& out, F op = {}) {
    return start_fold(Kind::scan, from(in), to(out), 0, std::move(op));
  }
  /// Non-blocking.
  template <Lasting In, Target Out, Folds<Element<Out>> F = Sum>
  requires Lasting<Out> Request iexclusive_scan(In&& in, Out&& out, F op = {}) {
    return start_fold(Kind::scan, from(in), to(out), 0, std::move(op), true);
  }

  /// All contributions in rank order, at every rank; `out` holds P times as much as `in`.
  template <Source In, Target Out>
  void allgather(In&& in, Out&& out) {
    run(gather_call(Kind::allgather, from(in), to(out), 0));
  }
  /// One value of each rank.
  template <Value T>
  requires(!Buffer<const T&>) std::vector<T> allgather(const T& value) {
    std::vector<T> all(static_cast<std::size_t>(size()));
    allgather(one(value), std::span<T>(all));
    return all;
  }
  /// Non-blocking.
  template <Lasting In, Target Out>
  requires Lasting<Out> Request iallgather(In&& in, Out&& out) {
    return start(gather_call(Kind::allgather, from(in), to(out), 0));
  }
  /// All contributions in rank order, at the root; elsewhere `out` may be empty.
  template <Source In, Target Out>
  void gather(In&& in, Out&& out, int root = 0) {
    run(gather_call(Kind::gather, from(in), to(out), root));
  }
  /// Non-blocking.
  template <Lasting In, Target Out>
  requires Lasting<Out> Request igather(In&& in, Out&& out, int root = 0) {
    return start(gather_call(Kind::gather, from(in), to(out), root));
  }
  /// Part r of the root's data to rank r; elsewhere `in` may be empty.
  template <Source In, Target Out>
  void scatter(In&& in, Out&& out, int root = 0) {
    run(scatter_call(from(in), to(out), root));
  }
  /// Non-blocking.
  template <Lasting In, Target Out>
  requires Lasting<Out> Request iscatter(In&& in, Out&& out, int root = 0) {
    return start(scatter_call(from(in), to(out), root));
  }
  /// Block r of every rank's data to rank r, who gets them in rank order; both hold P blocks. `alltoall(data, data)` is in place.
  template <Source In, Target Out>
  void alltoall(In&& in, Out&& out) {
    run(exchange_call(from(in), to(out)));
  }
  /// Non-blocking.
  template <Lasting In, Target Out>
  requires Lasting<Out> Request ialltoall(In&& in, Out&& out) { return start(exchange_call(from(in), to(out))); }
  /// Blocks of different lengths, side by side: in_counts[r] elements for rank r, out_counts[r] from rank r.
  template <Buffer In, Writable Out>
  void alltoallv(In&& in, std::span<const std::int64_t> in_counts, Out&& out,
                 std::span<const std::int64_t> out_counts) {
    const SideBySide blocks = side_by_side(in_counts, out_counts);
    run(uneven_call(Kind::alltoall, from(in), to(out), blocks));
  }
  /// Non-blocking; the counts may go at once.
  template <Buffer In, Writable Out>
  requires(Lasting<In>&& Lasting<Out>) Request ialltoallv(In&& in, std::span<const std::int64_t> in_counts, Out&& out,
                                                          std::span<const std::int64_t> out_counts) {
    const auto blocks = std::make_shared<const SideBySide>(side_by_side(in_counts, out_counts));
    return start(uneven_call(Kind::alltoall, from(in), to(out), *blocks), blocks);
  }

  /// Every rank has a block for each; rank r gets the fold of all blocks r, in `out`.
  template <Source In, Target Out, Folds<Element<Out>> F = Sum>
  void reduce_scatter(In&& in, Out&& out, F op = {}) {
    run(fold_call(Kind::reduce_scatter, from(in), to(out), 0, op));
  }
  /// Non-blocking.
  template <Lasting In, Target Out, Folds<Element<Out>> F = Sum>
  requires Lasting<Out> Request ireduce_scatter(In&& in, Out&& out, F op = {}) {
    return start_fold(Kind::reduce_scatter, from(in), to(out), 0, std::move(op));
  }
  /// Blocks of different lengths, side by side: counts[r] elements for rank r, the same counts on all ranks.
  template <Buffer In, Writable Out, Folds<Element<Out>> F = Sum>
  void reduce_scatterv(In&& in, std::span<const std::int64_t> counts, Out&& out, F op = {}) {
    const SideBySide blocks = side_by_side(counts, {});
    Call call = uneven_call(Kind::reduce_scatter, from(in), to(out), blocks);
    call.op = operator_of<Element<Out>>(op, commutes<F, Element<Out>>);
    run(call);
  }

 private:
  friend class Engine;
  /// Counts of blocks on both sides, and where the blocks begin.
  struct SideBySide {
    std::vector<std::int64_t> in_counts, in_first, out_counts, out_first;
  };
  Comm(int rank, int size) : rank_(rank), size_(size) {}

  template <typename F>
  static constexpr F constant{};

  template <typename R, typename T = Element<R>>
  static Strided<T> to(R& range) {
    if constexpr (is_strided<std::remove_cvref_t<R>>) return {range.first, range.count, range.stride};
    else return {std::ranges::data(range), static_cast<std::int64_t>(std::ranges::size(range)), 1};
  }
  template <typename R>
  static Strided<const Element<R>> from(R& range) {
    return to<R, const Element<R>>(range);
  }
  template <typename T>
  static Strided<T> one(T& value) {
    return {&value, 1, 1};
  }

  template <typename T>
  Layout layout(const Strided<T>& data) {
    if (data.stride == 1) return {};
    if (data.stride == 0) refuse("a stride of 0: elements that lie on each other cannot be told apart");
    return {.stride = data.stride * static_cast<std::ptrdiff_t>(sizeof(T))};
  }
  template <typename T>
  Call broadcast_call(const Strided<T>& data, int root) {
    return {.kind = Kind::broadcast,
            .out = data.first,
            .count = data.count,
            .element = sizeof(T),
            .out_layout = layout(data),
            .root = root};
  }
  template <typename T>
  Call call_of(Kind kind, const Strided<const T>& in, const Strided<T>& out, std::int64_t count, int root) {
    return {.kind = kind,
            .in = in.first,
            .out = out.first,
            .count = count,
            .element = sizeof(T),
            .in_layout = layout(in),
            .out_layout = layout(out),
            .root = root};
  }
  /// A started collective outlives the operator it was given, which may well be a temporary: it keeps a copy.
  template <typename T, typename F>
  Request start_fold(Kind kind, const Strided<const T>& in, const Strided<T>& out, int root, F op,
                     bool exclusive = false) {
    if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
      return start(fold_call(kind, in, out, root, constant<F>, exclusive));
    } else {
      const auto kept = std::make_shared<const F>(std::move(op));
      return start(fold_call(kind, in, out, root, *kept, exclusive), kept);
    }
  }
  template <typename T, typename F>
  Call fold_call(Kind kind, const Strided<const T>& in, const Strided<T>& out, int root, const F& op,
                 bool exclusive = false) {
    const bool writes = kind != Kind::reduce || rank() == root;
    const bool in_place = in.first == out.first && in.count == out.count && in.stride == out.stride;
    const std::int64_t blocks = kind == Kind::reduce_scatter ? size() : 1;
    const std::int64_t given = in.count / blocks;
    const bool whole = in.count == given * blocks && (given == out.count || (blocks != 1 && in_place));
    if (writes && !whole) refuse_counts(kind, in.count, out.count);
    Call call = call_of(kind, in, out, given, root);
    call.op = operator_of<T>(op, commutes<F, T>);
    call.exclusive = exclusive;
    return call;
  }
  template <typename T>
  Call gather_call(Kind kind, const Strided<const T>& in, const Strided<T>& out, int root) {
    const bool writes = kind != Kind::gather || rank() == root;
    if (writes && out.count != in.count * size()) refuse_counts(kind, in.count, out.count);
    return call_of(kind, in, out, in.count, root);
  }
  template <typename T>
  Call scatter_call(const Strided<const T>& in, const Strided<T>& out, int root) {
    if (rank() == root && in.count != out.count * size()) refuse_counts(Kind::scatter, in.count, out.count);
    return call_of(Kind::scatter, in, out, out.count, root);
  }
  template <typename T>
  Call exchange_call(const Strided<const T>& in, const Strided<T>& out) {
    if (in.count != out.count || in.count % size() != 0) refuse_counts(Kind::alltoall, in.count, out.count);
    return call_of(Kind::alltoall, in, out, in.count / size(), 0);
  }
  template <typename T>
  Call uneven_call(Kind kind, const Strided<const T>& in, const Strided<T>& out, const SideBySide& blocks) {
    check_blocks(kind, blocks, in.count, out.count);
    Call call = call_of(kind, in, out, 0, 0);
    call.in_blocks = {blocks.in_counts.data(), blocks.in_first.data()};
    if (kind == Kind::alltoall) call.out_blocks = {blocks.out_counts.data(), blocks.out_first.data()};
    return call;
  }
  static SideBySide side_by_side(std::span<const std::int64_t> in_counts, std::span<const std::int64_t> out_counts);
  /// Refuses counts that are not one for each rank, or blocks that do not lie in buffers of so many elements.
  void check_blocks(Kind kind, const SideBySide& blocks, std::int64_t in, std::int64_t out);
  /// Says which counts do not fit each other.
  [[noreturn]] void refuse_counts(Kind kind, std::int64_t in, std::int64_t out);

  const int rank_;
  const int size_;
};

}  // namespace chasqui::run
