// SPDX-License-Identifier: MIT
// random [seed [calls]]: collectives left to chance, on several communicators: all kinds, in place or not, with nothing in some blocks, ranks that
// describe the same data with different types (gaps, elements that begin before their address or interleave), operations that do not commute,
// while messages and non-blocking collectives of the program are under way. The digest holds all that is in the buffers afterwards, gaps
// and what lies around them too: every library must come to the same one.
#include <algorithm>
#include <random>

#include "check.hpp"

namespace {

using namespace conformance;

constexpr int kHalf = 24'000;  ///< ints on both sides of where a buffer begins

/// Two ints an element, in some order of their own. (Both MPI libraries crash or refuse where an extent is below zero.)
struct Pairs {
  MPI_Datatype type;
  int extent;         ///< in ints
  int first, second;  ///< where they lie, in ints
};
std::vector<Pairs> kinds_of_pairs() {
  const auto made = [](int first, int second, int lower, int extent) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {static_cast<MPI_Aint>(sizeof(int)) * first, static_cast<MPI_Aint>(sizeof(int)) * second};
    const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
    MPI_Datatype bare, type;
    MPI_Type_create_struct(2, lengths, places, ints, &bare);
    MPI_Type_create_resized(bare, static_cast<MPI_Aint>(sizeof(int)) * lower,
                            static_cast<MPI_Aint>(sizeof(int)) * extent, &type);
    MPI_Type_free(&bare);
    MPI_Type_commit(&type);
    return Pairs{type, extent, first, second};
  };
  return {made(0, 1, 0, 2), made(0, 2, 0, 4), made(1, -1, -1, 3), made(0, 3, 0, 2)};
}
std::vector<Pairs> pairs;

/// x -> a x + b modulo a prime: associative, and does not commute.
void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const Pairs& each) { return each.type == *type; });
  if (found == pairs.end()) fail("the operation's type", 0, 1);
  for (int i = 0; i < *count; ++i) {
    const int* const f = static_cast<int*>(in) + i * found->extent;
    int* const g = static_cast<int*>(inout) + i * found->extent;
    const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
    constexpr std::uint64_t kPrime = 65'521;
    const std::uint64_t a = number(f[found->first]), b = number(f[found->second]), c = number(g[found->first]);
    const std::uint64_t both = (c * b + number(g[found->second])) % kPrime;
    g[found->first] = static_cast<int>(a * c % kPrime);
    g[found->second] = static_cast<int>(both);
  }
}

class Buffer {
 public:
  explicit Buffer(std::uint64_t number, int rank) : ints_(index(2 * kHalf)) {
    std::uint64_t value = number * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(rank + 1) * 0xD1B54A32D192ED03u;
    for (int& each : ints_) {
      value = value * 6364136223846793005u + 1442695040888963407u;
      each = static_cast<int>((value >> 33) % 65'000 + 1);
    }
  }
  int* begin() { return ints_.data() + kHalf; }
  void enter_all() const { enter(ints_); }

 private:
  std::vector<int> ints_;
};

/// One collective. What all ranks must do alike comes from `seed`, what each decides for itself from `own`.
class Draw {
 public:
  Draw(std::uint64_t seed, std::mt19937_64& own, MPI_Comm comm, MPI_Op op, std::uint64_t number)
      : own_(own), comm_(comm), me_(comm), compose_(op), in_(number, me_.rank), out_(number + 7'777'777, me_.rank) {
    std::mt19937_64 common(seed);  // one draw a call: communicators differ in size
    constexpr int kCounts[] = {0, 1, 1, 2, 3, 7, 20, 40, 150, 300};
    kind_ = static_cast<int>(common() % 17);
    count_ = kCounts[common() % std::size(kCounts)];
    root_ = static_cast<int>(common() % index(me_.size));
    in_place_ = common() % 4 == 0;
    fold_ = static_cast<int>(common() % 4);
    folded_ = &pairs[common() % pairs.size()];
    for (int r = 0; r < me_.size; ++r)
      uneven_.push_back(common() % 3 == 0 ? 0 : static_cast<int>(common() % index(count_ + 1)));
  }

  void make() {
    const bool at_root = me_.rank == root_;
    int* const in = in_.begin();
    int* const out = out_.begin();
    Side a = side(), b = side();
    a.put_apart(count_, me_.size);
    b.put_apart(count_, me_.size);
    const void* const send = in_place_ ? MPI_IN_PLACE : in;
    const void* const send_at_root = in_place_ && at_root ? MPI_IN_PLACE : in;
    const int own = uneven_[index(me_.rank)];
    switch (kind_) {
      case 0: MPI_Barrier(comm_); break;
      case 1: MPI_Bcast(out, a.of(count_), a.type, root_, comm_); break;
      case 2: MPI_Gather(send_at_root, a.of(count_), a.type, out, b.of(count_), b.type, root_, comm_); break;
      case 3:
        MPI_Scatter(in, a.of(count_), a.type, in_place_ && at_root ? MPI_IN_PLACE : out, b.of(count_), b.type, root_,
                    comm_);
        break;
      case 4: MPI_Allgather(send, a.of(count_), a.type, out, b.of(count_), b.type, comm_); break;
      case 5: MPI_Alltoall(send, a.of(count_), a.type, out, b.of(count_), b.type, comm_); break;
      case 6:
        MPI_Gatherv(send_at_root, a.of(own), a.type, out, b.all(uneven_), b.places.data(), b.type, root_, comm_);
        break;
      case 7:
        MPI_Scatterv(in, a.all(uneven_), a.places.data(), a.type, in_place_ && at_root ? MPI_IN_PLACE : out, b.of(own),
                     b.type, root_, comm_);
        break;
      case 8: MPI_Allgatherv(send, a.of(own), a.type, out, b.all(uneven_), b.places.data(), b.type, comm_); break;
      case 9: {  // rank r gives rank s what both have
        std::vector<int> each;
        for (const int other : uneven_) each.push_back(std::min(own, other));
        MPI_Alltoallv(send, a.all(each), a.places.data(), a.type, out, b.all(each), b.places.data(), b.type, comm_);
        break;
      }
      case 10: exchange(send, in, out); break;
      default: fold(in, out); break;
    }
    in_.enter_all();
    if (kind_ == 14 && me_.rank == 0) return;  // what it gets is undefined
    if (in_place_ && kind_ >= 15)
      enter(out, sizeof(int) * index(kind_ == 15 ? count_ : own));  // as is what lies behind
    else out_.enter_all();
  }

 private:
  /// How this rank describes pairs: by one of the types, or by twice as many ints.
  struct Side {
    MPI_Datatype type;
    int ints;  ///< that the type has
    std::vector<int> counts{}, places{};
    int of(int pairs_of_ints) const { return pairs_of_ints * 2 / ints; }
    const int* all(const std::vector<int>& each_has) {
      counts.clear();
      for (const int each : each_has) counts.push_back(of(each));
      return counts.data();
    }
    /// Blocks so many pairs apart, the last rank's first.
    void put_apart(int count, int ranks) {
      for (int r = ranks - 1; r >= 0; --r) places.push_back(r * of(count));
    }
  };
  Side side() {
    const std::uint64_t draw = own_();
    if (draw % 3 == 0) return {MPI_INT, 1};
    const Pairs& found = pairs[(draw >> 8) % (pairs.size() - 1)];  // elements of the last one interleave
    return {found.type, 2};
  }

  void exchange(const void* send, int* in, int* out) {
    std::vector<int> counts_a, counts_b, places_a, places_b;
    std::vector<MPI_Datatype> types_a, types_b;
    const int own = uneven_[index(me_.rank)];
    for (int r = 0; r < me_.size; ++r) {
      const Side give = side(), get = in_place_ ? Side{MPI_INT, 1} : side();
      const int both = std::min(own, uneven_[index(r)]);
      counts_a.push_back(give.of(both));
      counts_b.push_back(get.of(both));
      types_a.push_back(give.type);
      types_b.push_back(get.type);
      places_a.push_back(r * 8 * (count_ + 1) * static_cast<int>(sizeof(int)));
      places_b.push_back((me_.size - r) * 8 * (count_ + 1) * static_cast<int>(sizeof(int)));
    }
    MPI_Alltoallw(send == MPI_IN_PLACE ? send : in, counts_a.data(), places_a.data(), types_a.data(), out,
                  counts_b.data(), places_b.data(), types_b.data(), comm_);
  }

  void fold(int* in, int* out) {
    const bool own_op = fold_ == 0;
    const MPI_Op op = own_op ? compose_ : fold_ == 1 ? MPI_SUM : fold_ == 2 ? MPI_MAX : MPI_BXOR;
    const MPI_Datatype type = own_op ? folded_->type : MPI_INT;
    // MPICH 4.0.2 itself crashes in long reductions in place.
    const bool in_place = in_place_ && (kind_ != 12 || count_ <= 40);
    const void* const send = in_place ? MPI_IN_PLACE : in;
    const bool at_root = me_.rank == root_;
    switch (kind_) {
      case 11: MPI_Allreduce(send, out, count_, type, op, comm_); break;
      case 12: MPI_Reduce(in_place && at_root ? MPI_IN_PLACE : in, out, count_, type, op, root_, comm_); break;
      case 13: MPI_Scan(send, out, count_, type, op, comm_); break;
      case 14: MPI_Exscan(send, out, count_, type, op, comm_); break;
      // Both MPI libraries are wrong where an operation does not commute and its type has gaps.
      case 15: MPI_Reduce_scatter_block(send, out, count_, MPI_INT, own_op ? MPI_SUM : op, comm_); break;
      default: MPI_Reduce_scatter(send, out, uneven_.data(), MPI_INT, own_op ? MPI_SUM : op, comm_);
    }
  }

  std::mt19937_64& own_;
  MPI_Comm comm_;
  Place me_;
  MPI_Op compose_;
  Buffer in_, out_;
  int kind_, count_, root_, fold_;
  bool in_place_;
  const Pairs* folded_;
  std::vector<int> uneven_;
};

/// A message to the next rank, a receive from anybody and a sum that does not block, under way for a while.
struct Company {
  explicit Company(MPI_Comm comm) : me(comm) {
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Iallreduce(&me.rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
  }
  void end(MPI_Comm comm) {
    equal("nothing has come", got, -1);
    MPI_Barrier(comm);
    MPI_Isend(&me.rank, 1, MPI_INT, (me.rank + 1) % me.size, 3, comm, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    equal("a message", got, (me.rank + me.size - 1) % me.size);
    equal("a sum", sum, me.size * (me.size - 1) / 2);
  }
  Place me;
  int got = -1, sum = -1;
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 17;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 400;
  std::mt19937_64 world(seed), own(seed + 1000 + static_cast<std::uint64_t>(me.rank));
  part = "random collectives";
  pairs = kinds_of_pairs();
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  std::uint64_t number = 0;
  for (int rounds = 0; rounds < 4; ++rounds) {
    const int parts = 1 + static_cast<int>(world() % 2), colour = me.rank % parts;
    MPI_Comm comms[2];
    MPI_Comm_split(MPI_COMM_WORLD, colour, rounds % 2 == 0 ? me.rank : -me.rank, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    std::mt19937_64 common(world());
    Company company(comms[1]);
    for (int i = 0; i < calls / 4; ++i) {
      const std::size_t which = common() % 2;
      Draw(common(), own, comms[which], op, ++number).make();
      if (i == calls / 8) {
        company.end(comms[1]);
        MPI_Op again;  // a handle that was another operation's
        MPI_Op_free(&op);
        MPI_Op_create(compose, 0, &again);
        op = again;
      }
    }
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
  MPI_Op_free(&op);
  for (Pairs& each : pairs) MPI_Type_free(&each.type);
  std::vector<std::uint64_t> all(index(me.size));
  MPI_Gather(&digest, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  enter(all);
  if (me.rank == 0)
    std::printf("seed %llu: %d random collectives on %d ranks: digest %016llx\n", static_cast<unsigned long long>(seed),
                calls, me.size, static_cast<unsigned long long>(digest));
  MPI_Finalize();
  return 0;
}
