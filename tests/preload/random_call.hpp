// SPDX-License-Identifier: MIT
// One collective of `random`: arguments drawn from a number, and what must be in every byte of its buffers afterwards, gaps and what lies around
// them too. What a rank gives is a function of numbers, so each knows what all others give.
#pragma once

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>

#include "check.hpp"

namespace conformance {

/// Numbers that follow from words: the same for all who know these.
class Draws {
 public:
  Draws(std::initializer_list<std::uint64_t> words) {
    for (const std::uint64_t word : words) mix(word);
  }
  std::uint64_t next() { return mix(1); }
  int below(int limit) { return static_cast<int>(next() % static_cast<unsigned>(limit)); }
  bool one_in(int times) { return below(times) == 0; }

 private:
  std::uint64_t mix(std::uint64_t word) {
    state_ += word + 0x9E3779B97F4A7C15u;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return state_ = x ^ (x >> 31);
  }
  std::uint64_t state_ = 0;
};
inline std::uint64_t word(int i) { return static_cast<std::uint64_t>(i); }

/// How a unit of data lies in memory: pieces of so many bytes, as `per_unit` elements of `type`.
struct Layout {
  MPI_Datatype type;
  int per_unit;
  int extent;                              ///< bytes from one unit to the next
  std::vector<std::array<int, 2>> pieces;  ///< where each begins, and its length
  int size() const {
    int bytes = 0;
    for (const auto& piece : pieces) bytes += piece[1];
    return bytes;
  }
  bool dense() const { return size() == extent && pieces.back()[0] < extent; }
  int lowest() const {
    int least = 0;
    for (const auto& piece : pieces) least = std::min(least, piece[0]);
    return least;
  }
};
constexpr int kLongestReach = 8;  ///< bytes of a unit behind the beginning of the next one
using Bytes = std::vector<std::byte>;

/// Two ints a unit, in several ways; the first one as two elements, those after the second one as derived types, the last of which interleave.
/// (Both MPI libraries crash or refuse where an extent is below zero.)
inline std::vector<Layout> pairs;
constexpr int kDerived = 2;  ///< the first of the derived ones
void make_pairs();
void free_pairs();

/// A reduction: a type, an operation, and what it does to packed elements.
struct Folding {
  const char* name;
  Layout layout;
  MPI_Op op;
  std::function<void(Draws&, std::byte*)> draw;
  std::function<void(const std::byte* left, std::byte* right)> fold;  ///< into the right one
};
inline std::vector<Folding> foldings;
void make_foldings();
void free_foldings();

/// Memory of the program, and what must be there in the end.
class Buffer {
 public:
  void reserve(MPI_Aint bytes) { now_.resize(static_cast<std::size_t>(2 * kAround + bytes)); }
  std::byte* begin() { return now_.data() + kAround; }
  void fill(Draws pattern) {
    for (std::byte& each : now_) each = static_cast<std::byte>(pattern.next());
    undefined_.clear();
  }
  void put(const Layout& layout, MPI_Aint at, const Bytes& units) { lay(now_, layout, at, units); }
  void keep() { right_ = now_; }  ///< nothing but what is expected from here on may change
  void expect(const Layout& layout, MPI_Aint at, const Bytes& units) { lay(right_, layout, at, units); }
  void undefined(MPI_Aint first, MPI_Aint last) { undefined_.push_back({first, last}); }
  void check(const char* what);

 private:
  static constexpr MPI_Aint kAround = 64;  ///< bytes on both sides
  static void lay(Bytes& memory, const Layout& layout, MPI_Aint at, const Bytes& units);

  Bytes now_, right_;
  std::vector<std::array<MPI_Aint, 2>> undefined_;
};

/// Something under way.
struct Work {
  MPI_Request request = MPI_REQUEST_NULL;
  std::string name;

  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual void check() = 0;
};

enum class Form { blocking, nonblocking, persistent };

class Collective final : public Work {
 public:
  /// All that ranks decide alike follows from seed and number, what each decides for itself from its rank in the world too.
  Collective(std::uint64_t seed, int number, MPI_Comm comm, Form form);
  ~Collective() override;
  /// Makes the call, or plans it where it is persistent.
  void make();
  /// Other data, before a persistent one is started again.
  void prepare();
  void check() override;

 private:
  enum Kind {
    barrier,
    bcast,
    gather,
    scatter,
    allgather,
    alltoall,
    gatherv,
    scatterv,
    allgatherv,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    scan,
    exscan,
    reduce_scatter_block,
    reduce_scatter,
    kinds
  };
  /// The blocks of one buffer: what is given to each, or comes from each.
  struct Side {
    std::vector<const Layout*> layouts;
    std::vector<MPI_Aint> places;  ///< bytes
    std::vector<int> units;        ///< of each block
    std::vector<MPI_Datatype> types;
    std::vector<int> counts, displacements;
    MPI_Datatype absolute = MPI_DATATYPE_NULL;  ///< the address is in the type
    bool missing = false;                       ///< there is no data, and no address
    Buffer buffer;

    void* where() { return missing ? nullptr : absolute == MPI_DATATYPE_NULL ? buffer.begin() : MPI_BOTTOM; }
    MPI_Datatype type() const { return absolute == MPI_DATATYPE_NULL ? types[0] : absolute; }
    int count() const { return absolute == MPI_DATATYPE_NULL ? counts[0] : 1; }
  };

  bool folds() const { return kind_ >= reduce; }
  bool at_root() const { return me_.rank == root_; }
  Bytes given(int giver, int taker, int units) const;
  Bytes folded(int first, int last, int begin, int end) const;
  void lay_out(Side& side, Draws& own, const std::vector<int>& units, bool alone);
  void describe();

  Kind kind_;
  MPI_Comm comm_;
  Place me_;
  Form form_;
  std::uint64_t seed_;
  int number_, count_, root_, round_ = 0;
  bool in_place_;
  const Folding* folding_;
  std::vector<int> shares_;
  Side in_, out_;
};

}  // namespace conformance
