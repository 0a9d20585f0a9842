// SPDX-License-Identifier: MIT
#include "random_call.hpp"

#include <algorithm>
#include <complex>
#include <numeric>
#include <utility>

namespace conformance {
namespace {

constexpr int kInt = static_cast<int>(sizeof(int));

Layout derived(int first, int second, int lower, int extent) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {static_cast<MPI_Aint>(sizeof(int)) * first, static_cast<MPI_Aint>(sizeof(int)) * second};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  MPI_Datatype bare, type;
  MPI_Type_create_struct(2, lengths, places, ints, &bare);
  MPI_Type_create_resized(bare, static_cast<MPI_Aint>(sizeof(int)) * lower, static_cast<MPI_Aint>(sizeof(int)) * extent,
                          &type);
  MPI_Type_free(&bare);
  MPI_Type_commit(&type);
  return {type, 1, extent * kInt, {{first * kInt, kInt}, {second * kInt, kInt}}};
}

/// Of the program's operations: both ints of each element, wherever the type has them.
template <typename Both>
void on_pairs(void* in, void* inout, int count, MPI_Datatype type, Both both) {
  const auto found =
      std::find_if(pairs.begin() + 1, pairs.end(), [&](const Layout& each) { return each.type == type; });
  if (found == pairs.end()) fail("the operation's type", 0, 1);
  for (int i = 0; i < count; ++i) {
    int left[2], right[2];
    for (std::size_t k = 0; k < 2; ++k) {
      const std::ptrdiff_t at = std::ptrdiff_t{i} * found->extent + found->pieces[k][0];
      std::memcpy(&left[k], static_cast<std::byte*>(in) + at, sizeof(int));
      std::memcpy(&right[k], static_cast<std::byte*>(inout) + at, sizeof(int));
    }
    both(left, right);
    for (std::size_t k = 0; k < 2; ++k)
      std::memcpy(static_cast<std::byte*>(inout) + std::ptrdiff_t{i} * found->extent + found->pieces[k][0], &right[k],
                  sizeof(int));
  }
}
/// x -> a x + b modulo a prime: associative, and does not commute.
void compose_both(const int* f, int* g) {
  constexpr std::int64_t kPrime = 65'521;
  const std::int64_t a = f[0], b = f[1], c = g[0], d = g[1];
  g[0] = static_cast<int>(a * c % kPrime);
  g[1] = static_cast<int>((c * b + d) % kPrime);
}
void larger_both(const int* a, int* b) {
  for (int k = 0; k < 2; ++k) b[k] = std::max(a[k], b[k]);
}
void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  on_pairs(in, inout, *count, *type, compose_both);
}
void larger(void* in, void* inout, int* count, MPI_Datatype* type) { on_pairs(in, inout, *count, *type, larger_both); }
MPI_Op compose_op, larger_op;

template <typename T, typename Op>
Folding plain(const char* name, MPI_Datatype type, MPI_Op op, int most, Op apply) {
  const int size = static_cast<int>(sizeof(T));
  return {name,
          {type, 1, size, {{0, size}}},
          op,
          [most](Draws& draws, std::byte* to) {
            const T value = static_cast<T>(1 + draws.below(most));
            std::memcpy(to, &value, sizeof value);
          },
          [apply](const std::byte* left, std::byte* right) {
            T a, b;
            std::memcpy(&a, left, sizeof a);
            std::memcpy(&b, right, sizeof b);
            b = static_cast<T>(apply(a, b));
            std::memcpy(right, &b, sizeof b);
          }};
}
/// The first of two values, and where it is.
template <typename T>
Folding located(const char* name, MPI_Datatype type, MPI_Op op, bool most) {
  struct Place {
    T value;
    int at;
  };
  const int size = static_cast<int>(sizeof(T));
  return {name,
          {type, 1, static_cast<int>(sizeof(Place)), {{0, size}, {size, kInt}}},
          op,
          [](Draws& draws, std::byte* to) {
            const T value = static_cast<T>(draws.below(3));
            const int at = draws.below(50);
            std::memcpy(to, &value, sizeof value);
            std::memcpy(to + sizeof value, &at, sizeof at);
          },
          [most](const std::byte* left, std::byte* right) {
            Place a, b;
            for (auto [place, from] : {std::pair{&a, left}, std::pair<Place*, const std::byte*>{&b, right}}) {
              std::memcpy(&place->value, from, sizeof(T));
              std::memcpy(&place->at, from + sizeof(T), sizeof(int));
            }
            const bool a_first = most ? a.value > b.value : a.value < b.value;
            if (a_first || (a.value == b.value && a.at < b.at)) std::memcpy(right, left, sizeof(T) + sizeof(int));
          }};
}
Folding of_pairs(const char* name, const Layout& layout, MPI_Op op, void (*both)(const int*, int*)) {
  return {name, layout, op,
          [](Draws& draws, std::byte* to) {
            const int values[] = {1 + draws.below(65'000), draws.below(65'000)};
            std::memcpy(to, values, sizeof values);
          },
          [both](const std::byte* left, std::byte* right) {
            int a[2], b[2];
            std::memcpy(a, left, sizeof a);
            std::memcpy(b, right, sizeof b);
            both(a, b);
            std::memcpy(right, b, sizeof b);
          }};
}

}  // namespace

void make_pairs() {
  const int i = kInt;
  pairs = {{MPI_INT, 2, 2 * i, {{0, i}, {i, i}}},
           {MPI_2INT, 1, 2 * i, {{0, i}, {i, i}}},
           derived(0, 1, 0, 2),
           derived(0, 2, 0, 4),
           derived(1, -1, -1, 3),
           derived(0, 3, 0, 2)};
}
void free_pairs() {
  for (std::size_t i = kDerived; i < pairs.size(); ++i) MPI_Type_free(&pairs[i].type);
}

void make_foldings() {
  MPI_Op_create(compose, 0, &compose_op);
  MPI_Op_create(larger, 1, &larger_op);
  const auto sum = [](auto a, auto b) { return a + b; };
  const auto product = [](auto a, auto b) { return a * b; };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  foldings = {plain<int>("sum of ints", MPI_INT, MPI_SUM, 1'000'000, sum),
              plain<int>("exclusive or of ints", MPI_INT, MPI_BXOR, 1'000'000, [](int a, int b) { return a ^ b; }),
              plain<std::int8_t>("sum of 8 bits", MPI_INT8_T, MPI_SUM, 10, sum),
              plain<std::uint16_t>("most of 16 bits", MPI_UINT16_T, MPI_MAX, 30'000, most),
              plain<std::uint64_t>("sum of 64 bits", MPI_UINT64_T, MPI_SUM, 1'000'000, sum),
              plain<std::int64_t>("and of 64 bits", MPI_INT64_T, MPI_LAND, 2, [](auto a, auto b) { return a && b; }),
              plain<float>("sum of floats", MPI_FLOAT, MPI_SUM, 100, sum),
              plain<double>("sum of doubles", MPI_DOUBLE, MPI_SUM, 1'000'000, sum),
              plain<double>("product of doubles", MPI_DOUBLE, MPI_PROD, 4, product),
              plain<double>("least of doubles", MPI_DOUBLE, MPI_MIN, 1'000'000, least),
              plain<std::complex<double>>("sum of complex numbers", MPI_C_DOUBLE_COMPLEX, MPI_SUM, 1'000'000, sum),
              located<int>("place of the most", MPI_2INT, MPI_MAXLOC, true),
              located<double>("place of the least", MPI_DOUBLE_INT, MPI_MINLOC, false)};
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    foldings.push_back(of_pairs("composition", pairs[i], compose_op, compose_both));
    foldings.push_back(of_pairs("larger ones", pairs[i], larger_op, larger_both));
  }
}
void free_foldings() {
  MPI_Op_free(&compose_op);
  MPI_Op_free(&larger_op);
}

void Buffer::lay(Bytes& memory, const Layout& layout, MPI_Aint at, const Bytes& units) {
  const std::byte* from = units.data();
  for (std::byte* to = memory.data() + kAround + at; from != units.data() + units.size(); to += layout.extent) {
    for (const auto& [begin, length] : layout.pieces) {
      std::memcpy(to + begin, from, static_cast<std::size_t>(length));
      from += length;
    }
  }
}

void Buffer::check(const char* what) {
  for (const auto& [first, last] : undefined_)
    std::copy(now_.begin() + kAround + first, now_.begin() + kAround + last, right_.begin() + kAround + first);
  const auto wrong = std::mismatch(now_.begin(), now_.end(), right_.begin());
  if (wrong.first == now_.end()) return;
  std::fprintf(stderr, "%s: byte %td\n", what, wrong.first - now_.begin() - kAround);
  fail(what, std::to_integer<int>(*wrong.first), std::to_integer<int>(*wrong.second));
}

Collective::Collective(std::uint64_t seed, int number, MPI_Comm comm, Form form)
    : comm_(comm), me_(comm), form_(form), seed_(seed), number_(number) {
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  Draws common{seed, word(number), 1}, own{seed, word(number), 2, word(world)};
  constexpr int kCounts[] = {0, 1, 1, 2, 3, 7, 20, 40, 150, 300};
  kind_ = static_cast<Kind>(common.below(kinds));
  count_ = common.one_in(40) ? 500 + common.below(6000) : kCounts[common.below(std::size(kCounts))];
  root_ = common.below(me_.size);
  in_place_ = common.one_in(4);
  for (int r = 0; r < me_.size; ++r) shares_.push_back(common.one_in(3) ? 0 : common.below(count_ + 1));
  folding_ = &foldings[index(common.below(static_cast<int>(foldings.size())))];
  // Both MPI libraries are wrong where an operation does not commute and its type has gaps; MPICH crashes in long reductions in place.
  const bool scatters_folds = kind_ == reduce_scatter_block || kind_ == reduce_scatter;
  if (scatters_folds && folding_->op == compose_op && !folding_->layout.dense()) folding_ = &foldings[0];
  if (kind_ == reduce && count_ > 40) in_place_ = false;
  // Each rank may decide this for itself, but all of an all-gather, an all-to-all or a reduce-scatter alike.
  if (kind_ == bcast || kind_ == barrier) in_place_ = false;
  if (kind_ == gather || kind_ == gatherv || kind_ == scatter || kind_ == scatterv || kind_ == reduce)
    in_place_ = in_place_ && at_root();
  if (kind_ == allreduce || kind_ == scan || kind_ == exscan) in_place_ = own.one_in(4);
  const std::size_t me = index(me_.rank);
  const int total = kind_ == reduce_scatter ? std::accumulate(shares_.begin(), shares_.end(), 0) : count_ * me_.size;
  const std::vector<int> one{count_}, all(index(me_.size), count_), share{shares_[me]}, whole{total};
  std::vector<int> both;
  for (const int other : shares_) both.push_back(std::min(shares_[me], other));
  std::vector<int> in, out;
  switch (kind_) {
    case barrier:
    case kinds: break;
    case bcast: out = one; break;
    case gather: in = one, out = all; break;
    case scatter: in = all, out = one; break;
    case allgather: in = one, out = all; break;
    case alltoall: in = all, out = all; break;
    case gatherv: in = share, out = shares_; break;
    case scatterv: in = shares_, out = share; break;
    case allgatherv: in = share, out = shares_; break;
    case alltoallv:
    case alltoallw:  // one that gives nothing may get something
      in = in_place_ ? both : std::vector<int>(index(me_.size), shares_[me]);
      out = in_place_ ? both : shares_;
      break;
    case reduce_scatter_block: in = whole, out = in_place_ ? whole : one; break;
    case reduce_scatter: in = whole, out = in_place_ ? whole : share; break;
    default: in = one, out = one;
  }
  const bool rooted = kind_ == gather || kind_ == gatherv || kind_ == reduce;
  if (rooted && !at_root()) out.clear();
  if ((kind_ == scatter || kind_ == scatterv) && !at_root()) in.clear();
  if (in_place_) (kind_ == scatter || kind_ == scatterv ? out : in).clear();
  lay_out(in_, own, in,
          in.size() == 1 && kind_ != alltoall && kind_ != alltoallv && kind_ != alltoallw &&
              !(kind_ == scatter || kind_ == scatterv));
  lay_out(out_, own, out, kind_ == bcast || ((kind_ == scatter || kind_ == scatterv) && !in_place_));
  if (in_.missing) out_.missing = false;  // MPI libraries look whether both are one
  describe();
  prepare();
}

Collective::~Collective() {
  for (Side* side : {&in_, &out_}) {
    if (side->absolute != MPI_DATATYPE_NULL) MPI_Type_free(&side->absolute);
  }
}

void Collective::lay_out(Side& side, Draws& own, const std::vector<int>& units, bool alone) {
  side.units = units;
  const bool a_type_each = kind_ == alltoallw;
  const bool apart = kind_ == gatherv || kind_ == scatterv || kind_ == allgatherv || kind_ == alltoallv;
  const auto drawn = [&]() -> const Layout* {
    if (folds()) return &folding_->layout;
    // Open MPI chooses its way by the size of one rank's own type.
    const bool ints = kind_ == allgatherv ? count_ % 3 == 0 : own.one_in(3) || (a_type_each && in_place_);
    return ints ? &pairs[0] : &pairs[index(1 + own.below(static_cast<int>(pairs.size()) - 1))];
  };
  const Layout* layout = drawn();
  MPI_Aint end = 0;
  const int blocks = static_cast<int>(units.size());
  for (int r = 0; r < blocks; ++r) {
    if (a_type_each) layout = drawn();
    const int before = alone ? 0 : apart ? (blocks - 1 - r) * count_ : r * count_;  // the last rank's first
    const MPI_Aint stride = 16 * (count_ + 2);
    const MPI_Aint place = a_type_each ? r * stride : MPI_Aint{before} * layout->extent;
    side.layouts.push_back(layout);
    side.places.push_back(place);
    side.types.push_back(layout->type);
    side.counts.push_back(units[index(r)] * layout->per_unit);
    side.displacements.push_back(a_type_each ? static_cast<int>(place) : before * layout->per_unit);
    end = std::max(end, place + MPI_Aint{units[index(r)]} * layout->extent);
  }
  side.buffer.reserve(end);
  side.missing = std::all_of(units.begin(), units.end(), [](int each) { return each == 0; }) && own.one_in(2);
  const bool possible =
      alone && !folds() && kind_ != allgatherv && end != 0;  // Open MPI waits for ever for an element of nothing
  if (!possible || !own.one_in(8)) return;
  const MPI_Aint address = reinterpret_cast<MPI_Aint>(side.buffer.begin());
  MPI_Type_create_hindexed(1, side.counts.data(), &address, layout->type, &side.absolute);
  MPI_Type_commit(&side.absolute);
}

Bytes Collective::given(int giver, int taker, int units) const {
  const std::size_t size = folds() ? index(folding_->layout.size()) : 2 * sizeof(int);
  Bytes bytes(index(units) * size);
  for (int i = 0; i < units; ++i) {
    Draws draws{seed_, word(number_), 3, word(round_), word(giver), word(taker), word(i)};
    std::byte* const to = bytes.data() + index(i) * size;
    const std::uint64_t drawn = draws.next();
    if (folds()) folding_->draw(draws, to);
    else std::memcpy(to, &drawn, size);
  }
  return bytes;
}

/// What ranks `first` to before `last` give, folded; units from `begin` to before `end`.
Bytes Collective::folded(int first, int last, int begin, int end) const {
  const std::size_t size = index(folding_->layout.size());
  Bytes sum = given(first, 0, end);
  for (int r = first + 1; r < last; ++r) {
    Bytes right = given(r, 0, end);
    for (int i = begin; i < end; ++i) folding_->fold(sum.data() + index(i) * size, right.data() + index(i) * size);
    sum = std::move(right);
  }
  return {sum.begin() + begin * static_cast<std::ptrdiff_t>(size), sum.end()};
}

void Collective::prepare() {
  ++round_;
  in_.buffer.fill({seed_, word(number_), 4, word(round_), word(me_.rank)});
  out_.buffer.fill({seed_, word(number_), 5, word(round_), word(me_.rank)});
  const bool exchanges = kind_ == alltoall || kind_ == alltoallv || kind_ == alltoallw;
  const bool scatters = kind_ == scatter || kind_ == scatterv;
  for (std::size_t i = 0; i < in_.units.size(); ++i) {
    const int taker = scatters || exchanges ? static_cast<int>(i) : 0;
    in_.buffer.put(*in_.layouts[i], in_.places[i], given(me_.rank, taker, in_.units[i]));
  }
  const auto own_block = [&](std::size_t i) { return exchanges || folds() || i == index(me_.rank); };
  for (std::size_t i = 0; i < out_.units.size(); ++i) {
    if ((in_place_ && !scatters && own_block(i)) || (kind_ == bcast && at_root()))
      out_.buffer.put(*out_.layouts[i], out_.places[i],
                      given(me_.rank, exchanges ? static_cast<int>(i) : 0, out_.units[i]));
  }
  in_.buffer.keep();
  out_.buffer.keep();
  if (folds()) {
    if (out_.units.empty()) return;
    int first_unit = 0, units = out_.units[0], last = me_.size;
    if (kind_ == reduce_scatter_block) units = count_, first_unit = me_.rank * count_;
    if (kind_ == reduce_scatter)
      units = shares_[index(me_.rank)], first_unit = std::accumulate(shares_.begin(), shares_.begin() + me_.rank, 0);
    if (kind_ == scan) last = me_.rank + 1;
    if (kind_ == exscan) last = me_.rank;
    const MPI_Aint extent = folding_->layout.extent;
    if (last > 0) out_.buffer.expect(folding_->layout, 0, folded(0, last, first_unit, first_unit + units));
    const MPI_Aint before = folding_->layout.lowest(), behind = out_.units[0] * extent + kLongestReach;
    if (last == 0 && !in_place_) out_.buffer.undefined(before, behind);
    if (units < out_.units[0]) out_.buffer.undefined(units * extent + before, behind);
    return;
  }
  for (std::size_t i = 0; i < out_.units.size(); ++i) {
    const int giver = kind_ == bcast || scatters ? root_ : static_cast<int>(i);
    const int taker = scatters || exchanges ? me_.rank : 0;
    out_.buffer.expect(*out_.layouts[i], out_.places[i], given(giver, taker, out_.units[i]));
  }
}

void Collective::check() {
  part = name.c_str();
  in_.buffer.check("what is given");
  out_.buffer.check("what comes");
}

void Collective::describe() {
  constexpr const char* kNames[] = {
      "Barrier",       "Bcast",     "Gather",    "Scatter", "Allgather", "Alltoall", "Gatherv", "Scatterv",
      "Allgatherv",    "Alltoallv", "Alltoallw", "Reduce",  "Allreduce", "Scan",     "Exscan",  "Reduce_scatter_block",
      "Reduce_scatter"};
  constexpr const char* kForms[] = {"", "non-blocking ", "persistent "};
  name = "call " + std::to_string(number_) + ": " + kForms[static_cast<int>(form_)] + kNames[kind_] + " of " +
         std::to_string(count_) + " on " + std::to_string(me_.size) + " ranks, root " + std::to_string(root_) +
         (in_place_ ? ", in place" : "") +
         (in_.absolute != MPI_DATATYPE_NULL || out_.absolute != MPI_DATATYPE_NULL ? ", absolute" : "");
  if (folds()) name += std::string(", ") + folding_->name + " " + std::to_string(folding_ - foldings.data());
  for (const Side* side : {&in_, &out_}) {
    name += side == &in_ ? ", from" : ", to";
    for (std::size_t i = 0; i < side->layouts.size(); ++i) {
      name += " " + std::to_string(side->units[i]);
      if (!folds()) name += "@" + std::to_string(side->layouts[i] - pairs.data());
    }
  }
}

#ifdef OPEN_MPI
#define CHASQUI_INIT(Name) MPIX_##Name##_init
#else
#define CHASQUI_INIT(Name) MPI_##Name##_init
#endif
/// In the form that was drawn.
#define CHASQUI_MAKE(Name, name, ...)                                      \
  code = form_ == Form::blocking      ? MPI_##Name(__VA_ARGS__)            \
         : form_ == Form::nonblocking ? MPI_I##name(__VA_ARGS__, &request) \
                                      : CHASQUI_INIT(Name)(__VA_ARGS__, MPI_INFO_NULL, &request)

void Collective::make() {
  part = name.c_str();
  const bool no_in = in_.units.empty(), no_out = out_.units.empty();
  const bool scatters = kind_ == scatter || kind_ == scatterv;
  // What does not count may be anything.
  const void* const from = in_place_ && !scatters ? MPI_IN_PLACE : no_in ? nullptr : in_.where();
  void* const to = in_place_ && scatters ? MPI_IN_PLACE : no_out ? nullptr : out_.where();
  const int give = no_in ? 0 : in_.count(), get = no_out ? 0 : out_.count();
  const MPI_Datatype given_as = no_in ? MPI_INT : in_.type(), gotten_as = no_out ? MPI_INT : out_.type();
  const int units = kind_ == reduce_scatter_block || folds() ? count_ * folding_->layout.per_unit : 0;
  const MPI_Datatype folded_as = folding_->layout.type;
  const MPI_Op op = folding_->op;
  int code = MPI_SUCCESS;
  switch (kind_) {
    case barrier: CHASQUI_MAKE(Barrier, barrier, comm_); break;
    case bcast: CHASQUI_MAKE(Bcast, bcast, to, get, gotten_as, root_, comm_); break;
    case gather: CHASQUI_MAKE(Gather, gather, from, give, given_as, to, get, gotten_as, root_, comm_); break;
    case scatter: CHASQUI_MAKE(Scatter, scatter, from, give, given_as, to, get, gotten_as, root_, comm_); break;
    case allgather: CHASQUI_MAKE(Allgather, allgather, from, give, given_as, to, get, gotten_as, comm_); break;
    case alltoall: CHASQUI_MAKE(Alltoall, alltoall, from, give, given_as, to, get, gotten_as, comm_); break;
    case gatherv:
      CHASQUI_MAKE(Gatherv, gatherv, from, give, given_as, to, out_.counts.data(), out_.displacements.data(), gotten_as,
                   root_, comm_);
      break;
    case scatterv:
      CHASQUI_MAKE(Scatterv, scatterv, from, in_.counts.data(), in_.displacements.data(), given_as, to, get, gotten_as,
                   root_, comm_);
      break;
    case allgatherv:
      CHASQUI_MAKE(Allgatherv, allgatherv, from, give, given_as, to, out_.counts.data(), out_.displacements.data(),
                   gotten_as, comm_);
      break;
    case alltoallv:
      CHASQUI_MAKE(Alltoallv, alltoallv, from, in_.counts.data(), in_.displacements.data(), given_as, to,
                   out_.counts.data(), out_.displacements.data(), gotten_as, comm_);
      break;
    case alltoallw:
      CHASQUI_MAKE(Alltoallw, alltoallw, from, in_.counts.data(), in_.displacements.data(), in_.types.data(), to,
                   out_.counts.data(), out_.displacements.data(), out_.types.data(), comm_);
      break;
    case reduce: CHASQUI_MAKE(Reduce, reduce, from, to, units, folded_as, op, root_, comm_); break;
    case allreduce: CHASQUI_MAKE(Allreduce, allreduce, from, to, units, folded_as, op, comm_); break;
    case scan: CHASQUI_MAKE(Scan, scan, from, to, units, folded_as, op, comm_); break;
    case exscan: CHASQUI_MAKE(Exscan, exscan, from, to, units, folded_as, op, comm_); break;
    case reduce_scatter_block:
      CHASQUI_MAKE(Reduce_scatter_block, reduce_scatter_block, from, to, units, folded_as, op, comm_);
      break;
    case reduce_scatter:
      CHASQUI_MAKE(Reduce_scatter, reduce_scatter, from, to, shares_.data(), folded_as, op, comm_);
      break;
    case kinds: break;
  }
  if (code != MPI_SUCCESS) fail("an error", code, MPI_SUCCESS);
  if (form_ == Form::persistent) return;
  for (Side* side : {&in_, &out_}) {  // the call keeps what it needs
    if (side->absolute != MPI_DATATYPE_NULL) MPI_Type_free(&side->absolute);
  }
}

}  // namespace conformance
