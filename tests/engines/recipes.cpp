// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include "chasqui/base/error.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

std::uint32_t scramble(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  return static_cast<std::uint32_t>(x >> 32);
}

template <typename T>
T sample(int rank, int index) {
  const std::uint32_t bits =
      scramble(static_cast<std::uint64_t>(rank) * 1'000'003u + static_cast<std::uint64_t>(index) + 17);
  if constexpr (std::is_same_v<T, Affine>) {
    return {bits | 1u, scramble(bits)};
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(bits % 1024);  // sums stay exact
  } else {
    return static_cast<T>(bits);
  }
}

constexpr int kPacked = -1;  ///< instead of a stride: elements lie in reverse order, and the caller packs them

template <typename T>
struct Data {
  std::vector<T> values;
  int count, stride;
  std::size_t place(int i) const { return static_cast<std::size_t>(stride == kPacked ? count - 1 - i : i * stride); }
  T& at(int i) { return values[place(i)]; }
  const T& at(int i) const { return values[place(i)]; }
  Data(int n, int step)
      : values(static_cast<std::size_t>(n) * static_cast<std::size_t>(std::max(step, 1)) + 1), count(n), stride(step) {}
};

struct Shape {
  Kind kind;
  int count;
  int root;
  bool in_place;
  bool exclusive;
  int stride;
};

template <typename T, typename F>
class TypedCase final : public Case {
 public:
  TypedCase(const Shape& shape, int rank, int size)
      : shape_(shape), rank_(rank), size_(size),
        in_(shape.count * ((shape.kind == Kind::scatter && rank == shape.root) || exchanges() ? size : 1),
            shape.stride),
        out_(shape.count * (gathers() || (exchanges() && shape.in_place) ? size : 1), shape.stride) {
    const int count = shape.count;
    const bool place =
        shape.in_place && (shape.kind != Kind::scatter && shape.kind != Kind::gather ? true : rank == shape.root);
    const bool reduces_away = shape.kind == Kind::reduce && rank != shape.root;
    if (shape.kind == Kind::scatter) {
      for (int i = 0; rank == shape.root && i < count * size; ++i) in_.at(i) = sample<T>(shape.root, i);
    } else {
      for (int i = 0; i < in_.count; ++i) in_.at(i) = sample<T>(rank, i);
      const int offset = gathers() && !exchanges() ? rank * count : 0;
      const bool starts = shape.kind == Kind::broadcast ? rank == shape.root : place && !reduces_away;
      for (int i = 0; starts && i < in_.count; ++i) out_.at(offset + i) = sample<T>(rank, i);
    }
    call.kind = shape.kind;
    call.count = shape.kind == Kind::barrier ? 0 : count;
    call.root = shape.root;
    call.exclusive = shape.exclusive;
    call.element = sizeof(T);
    if (shape.stride > 1) call.in_layout.stride = shape.stride * static_cast<std::ptrdiff_t>(sizeof(T));
    if (shape.stride == kPacked) {
      call.in_layout.context = this;
      call.in_layout.pack = [](void* self, const void* from, std::size_t first, std::size_t n, void* packed) {
        auto& data = static_cast<TypedCase*>(self)->data_at(from);
        for (std::size_t i = 0; i < n; ++i) static_cast<T*>(packed)[i] = data.at(static_cast<int>(first + i));
      };
      call.in_layout.unpack = [](void* self, void* to, std::size_t first, std::size_t n, const void* packed) {
        auto& data = static_cast<TypedCase*>(self)->data_at(to);
        for (std::size_t i = 0; i < n; ++i) data.at(static_cast<int>(first + i)) = static_cast<const T*>(packed)[i];
      };
    }
    call.out_layout = call.in_layout;
    call.op = run::operator_of<T>(op_, run::commutes<F, T>);
    call.in = in_.values.data();
    call.out = reduces_away || (shape.kind == Kind::gather && !gathers()) ? nullptr : out_.values.data();
    if (place && !reduces_away) {
      if (shape.kind == Kind::scatter) call.out = nullptr;
      else call.in = nullptr;
    }
  }

  std::string check() const override {
    for (int i = 0; i < results(); ++i) {
      const T expected = expect(i);
      if (!(out_.at(i) == expected)) return fmt::format("element {} of {} is wrong on rank {}", i, results(), rank_);
    }
    return {};
  }

 private:
  Data<T>& data_at(const void* values) { return values == in_.values.data() ? in_ : out_; }
  bool exchanges() const { return shape_.kind == Kind::alltoall || shape_.kind == Kind::reduce_scatter; }
  bool gathers() const {
    return shape_.kind == Kind::allgather || shape_.kind == Kind::alltoall ||
           (shape_.kind == Kind::gather && rank_ == shape_.root);
  }
  int results() const {
    switch (shape_.kind) {
      case Kind::barrier: return 0;
      case Kind::gather: return rank_ == shape_.root ? shape_.count * size_ : 0;
      case Kind::alltoall:
      case Kind::allgather: return shape_.count * size_;
      case Kind::reduce: return rank_ == shape_.root ? shape_.count : 0;
      case Kind::scatter: return shape_.in_place && rank_ == shape_.root ? 0 : shape_.count;
      case Kind::scan: return shape_.exclusive && rank_ == 0 ? 0 : shape_.count;
      default: return shape_.count;
    }
  }
  T expect(int i) const {
    switch (shape_.kind) {
      case Kind::broadcast: return sample<T>(shape_.root, i);
      case Kind::scatter: return sample<T>(shape_.root, rank_ * shape_.count + i);
      case Kind::gather:
      case Kind::allgather: return sample<T>(i / shape_.count, i % shape_.count);
      default: break;
    }
    if (shape_.kind == Kind::alltoall) return sample<T>(i / shape_.count, rank_ * shape_.count + i % shape_.count);
    if (shape_.kind == Kind::reduce_scatter) i += rank_ * shape_.count;
    const int last = shape_.kind == Kind::scan ? (shape_.exclusive ? rank_ - 1 : rank_) : size_ - 1;
    T fold = sample<T>(0, i);
    for (int r = 1; r <= last; ++r) fold = op_(fold, sample<T>(r, i));
    return fold;
  }

  Shape shape_;
  int rank_, size_;
  Data<T> in_, out_;
  F op_{};
};

/// Blocks of different lengths with gaps between them, some of them empty.
template <typename T, typename F>
class UnevenCase final : public Case {
 public:
  UnevenCase(Kind kind, int most, bool in_place, int rank, int size)
      : kind_(kind), most_(most), rank_(rank), size_(size), in_place_(in_place) {
    const bool all_to_all = kind == Kind::alltoall;
    const auto lay_out = [&](std::vector<std::int64_t>& counts, std::vector<std::int64_t>& first, bool gives) {
      std::int64_t at = 0;
      for (int r = 0; r < size; ++r) {
        counts.push_back(gives ? length(rank, r) : length(r, rank));
        first.push_back(at);
        at += counts.back() + r % 3;
      }
      return static_cast<std::size_t>(at) + 1;
    };
    in_.resize(lay_out(in_counts_, in_first_, true));
    out_.resize(all_to_all ? lay_out(out_counts_, out_first_, false) : in_.size());
    auto& given = in_place ? out_ : in_;
    for (int r = 0; r < size; ++r) {
      for (std::int64_t i = 0; i < in_counts_[index(r)]; ++i)
        given[index(static_cast<int>(in_first_[index(r)] + i))] = value(rank, r, i);
    }
    call.kind = kind;
    call.element = sizeof(T);
    call.op = run::operator_of<T>(op_, run::commutes<F, T>);
    call.in = in_place ? nullptr : in_.data();
    call.out = out_.data();
    call.in_blocks = {in_counts_.data(), in_first_.data()};
    if (all_to_all) call.out_blocks = {out_counts_.data(), out_first_.data()};
  }

  std::string check() const override {
    for (int r = 0; r < (kind_ == Kind::alltoall ? size_ : 1); ++r) {
      const bool all_to_all = kind_ == Kind::alltoall;
      const std::int64_t count = all_to_all ? out_counts_[index(r)] : in_counts_[index(rank_)];
      for (std::int64_t i = 0; i < count; ++i) {
        T expected = value(r, rank_, i);
        for (int other = 1; !all_to_all && other < size_; ++other) expected = op_(expected, value(other, rank_, i));
        const std::int64_t at = (all_to_all ? out_first_[index(r)] : 0) + i;
        if (!(out_[index(static_cast<int>(at))] == expected))
          return fmt::format("element {} of block {} of {} is wrong on rank {}", i, r, count, rank_);
      }
    }
    return {};
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  /// In place what a pair exchanges is equal; the blocks of a reduce-scatter are the same on all ranks.
  int length(int from, int to) const {
    if (most_ == 0) return 0;
    if (kind_ == Kind::reduce_scatter) return to * 5 % 7 == 3 ? 0 : (most_ * (to + 2) + 1) % (most_ + 1);
    if (in_place_ && from > to) std::swap(from, to);
    return (from + 3 * to) % 4 == 1 ? 0 : (from * 7 + to * 13 + most_) % (most_ + 1);
  }
  static T value(int from, int to, std::int64_t i) { return sample<T>(from, to * 100'003 + static_cast<int>(i)); }

  Kind kind_;
  int most_, rank_, size_;
  bool in_place_;
  std::vector<T> in_, out_;
  std::vector<std::int64_t> in_counts_, in_first_, out_counts_, out_first_;
  F op_{};
};

struct List {
  std::vector<Recipe> recipes;

  template <typename T, typename F>
  void uneven(Kind kind, const char* type, int most, bool in_place) {
    recipes.push_back(
        {fmt::format("uneven {} of up to {} {}{}", to_string(kind), most, type, in_place ? " in place" : ""),
         [=](int rank, int size) { return std::make_unique<UnevenCase<T, F>>(kind, most, in_place, rank, size); }});
  }

  template <typename T, typename F>
  void add(const char* type, const Shape& shape) {
    recipes.push_back({fmt::format("{} of {} {} root {}{}{}{}", to_string(shape.kind), shape.count, type, shape.root,
                                   shape.in_place ? " in place" : "", shape.exclusive ? " exclusive" : "",
                                   shape.stride > 1          ? " strided"
                                   : shape.stride == kPacked ? " packed"
                                                             : ""),
                       [shape](int rank, int size) { return std::make_unique<TypedCase<T, F>>(shape, rank, size); }});
  }
  template <typename T, typename F>
  void folds(const char* type, int count, const std::vector<int>& roots, bool in_place, int stride) {
    for (const int root : roots) add<T, F>(type, {Kind::reduce, count, root, in_place, false, stride});
    add<T, F>(type, {Kind::allreduce, count, 0, in_place, false, stride});
    add<T, F>(type, {Kind::reduce_scatter, count, 0, in_place, false, stride});
    add<T, F>(type, {Kind::scan, count, 0, in_place, false, stride});
    add<T, F>(type, {Kind::scan, count, 0, in_place, true, stride});
  }
};

}  // namespace

std::vector<int> all_roots(int size) {
  std::vector<int> roots(static_cast<std::size_t>(size));
  std::iota(roots.begin(), roots.end(), 0);
  return roots;
}

std::vector<Recipe> recipes(int size, const std::vector<int>& roots, const std::vector<int>& counts) {
  using run::BitAnd, run::BitOr, run::BitXor, run::LogicalAnd, run::LogicalOr, run::Maximum, run::Minimum;
  List list;
  const std::vector<int> last = {size - 1};
  list.add<int, run::Sum>("int", {Kind::barrier, 0, 0, false, false, 1});
  for (const int count : counts) {
    for (const int root : roots) {
      list.add<std::uint64_t, run::Sum>("uint64", {Kind::broadcast, count, root, false, false, 1});
      for (const bool in_place : {false, true}) {
        list.add<std::uint32_t, run::Sum>("uint32", {Kind::gather, count, root, in_place, false, 1});
        list.add<std::uint32_t, run::Sum>("uint32", {Kind::scatter, count, root, in_place, false, 1});
      }
    }
    list.add<char, run::Sum>("char", {Kind::broadcast, count, size / 2, false, false, 3});
    for (const bool in_place : {false, true}) {
      list.add<std::uint16_t, run::Sum>("uint16", {Kind::allgather, count, 0, in_place, false, 1});
      list.add<std::uint32_t, run::Sum>("uint32", {Kind::alltoall, count, 0, in_place, false, 1});
      list.uneven<std::uint16_t, run::Sum>(Kind::alltoall, "uint16", count, in_place);
      list.uneven<double, run::Sum>(Kind::reduce_scatter, "double", count, in_place);
      list.uneven<Affine, Compose>(Kind::reduce_scatter, "affine compose", count, in_place);
      list.folds<double, run::Sum>("double sum", count, roots, in_place, 1);
      list.folds<Affine, Compose>("affine compose", count, roots, in_place, 1);
    }
    for (const int stride : {2, kPacked}) {
      list.folds<double, run::Sum>("double sum", count, last, stride == kPacked, stride);
      for (const Kind kind : {Kind::allgather, Kind::gather, Kind::scatter, Kind::broadcast, Kind::alltoall}) {
        list.add<std::uint16_t, run::Sum>("uint16", {kind, count, has_root(kind) ? size - 1 : 0,
                                                     kind == Kind::alltoall && stride == kPacked, false, stride});
      }
    }
  }
  for (const int count : {1, 5, std::min(700, *std::max_element(counts.begin(), counts.end()))}) {
    list.folds<std::int32_t, Minimum>("int32 min", count, last, false, 1);
    list.folds<std::int64_t, Maximum>("int64 max", count, last, true, 1);
    list.folds<std::uint32_t, run::Product>("uint32 product", count, last, false, 1);
    list.folds<std::uint8_t, BitAnd>("uint8 and", count, last, false, 1);
    list.folds<std::uint16_t, BitOr>("uint16 or", count, last, false, 1);
    list.folds<std::uint64_t, BitXor>("uint64 xor", count, last, true, 1);
    list.folds<std::int32_t, LogicalAnd>("int32 logical and", count, last, false, 1);
    list.folds<std::int32_t, LogicalOr>("int32 logical or", count, last, false, 1);
  }
  return list.recipes;
}

}  // namespace chasqui::engines
