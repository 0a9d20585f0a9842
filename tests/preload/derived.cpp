// SPDX-License-Identifier: MIT
// Derived datatypes where they are rare: reductions with the program's own operations on structs with gaps, negative
// strides and elements that interleave; gatherv and scatterv with types that differ between ranks.
#include <cstddef>

#include "check.hpp"

namespace conformance {
namespace {

/// x -> a x + b modulo 251, a char, a gap and a short. Composition does not commute.
struct Line {
  unsigned char a;
  unsigned char unused[3];
  unsigned short b;
  unsigned short unused_too;
};
Line line_of(int rank, int i) {
  return {static_cast<unsigned char>((rank * 3 + i) % 250 + 1),
          {7, 7, 7},
          static_cast<unsigned short>((rank * 11 + i) % 251),
          9};
}
Line then(const Line& f, const Line& g) {
  Line result = g;
  result.a = static_cast<unsigned char>(f.a * g.a % 251);
  result.b = static_cast<unsigned short>((g.a * f.b + g.b) % 251);
  return result;
}
void compose_lines(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *count; ++i) {
    const auto* f = reinterpret_cast<const Line*>(static_cast<const char*>(in) + i * extent);
    auto* g = reinterpret_cast<Line*>(static_cast<char*>(inout) + i * extent);
    const Line both = then({f->a, {}, f->b, 0}, {g->a, {}, g->b, 0});  // only what the type names is there
    g->a = both.a;
    g->b = both.b;
  }
}

MPI_Datatype line_type() {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(Line, a), offsetof(Line, b)};
  const MPI_Datatype kinds[] = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT};
  MPI_Datatype tight, type;
  MPI_Type_create_struct(2, lengths, places, kinds, &tight);
  MPI_Type_create_resized(tight, 0, sizeof(Line), &type);
  MPI_Type_free(&tight);
  MPI_Type_commit(&type);
  return type;
}

/// Right values, and the gaps as they were.
void check_lines(const char* what, const std::vector<Line>& got, const std::vector<Line>& expected, int count) {
  for (int i = 0; i < count; ++i) {
    const Line &g = got[index(i)], &e = expected[index(i)];
    equal(what, g.a * 1000 + g.b, e.a * 1000 + e.b);
    equal("gap", g.unused[1] * 100 + g.unused_too, 506);
  }
  enter(got);
}

void structs(MPI_Comm comm) {
  const Place me(comm);
  const MPI_Datatype type = line_type();
  MPI_Op op;
  MPI_Op_create(compose_lines, 0, &op);
  const Line empty{0, {5, 5, 5}, 0, 6};
  for (const int count : {1, 9, 3000}) {
    std::vector<Line> mine, all, upto, before;
    for (int i = 0; i < count * me.size; ++i) {
      Line f = line_of(0, i);
      upto.push_back(f);
      before.push_back(f);
      for (int r = 1; r < me.size; ++r) {
        if (r == me.rank) before[index(i)] = f;
        f = then(f, line_of(r, i));
        if (r == me.rank) upto[index(i)] = f;
      }
      all.push_back(f);
      mine.push_back(line_of(me.rank, i));
    }
    part = "struct with gaps";
    std::vector<Line> out(index(count), empty);
    MPI_Allreduce(mine.data(), out.data(), count, type, op, comm);
    check_lines("allreduce", out, all, count);
    out.assign(out.size(), empty);
    const int root = me.size / 2;
    MPI_Reduce(mine.data(), out.data(), count, type, op, root, comm);
    if (me.rank == root) check_lines("reduce", out, all, count);
    out.assign(out.size(), empty);
    MPI_Scan(mine.data(), out.data(), count, type, op, comm);
    check_lines("scan", out, upto, count);
    out.assign(out.size(), empty);
    MPI_Exscan(mine.data(), out.data(), count, type, op, comm);
    if (me.rank > 0) check_lines("exscan", out, before, count);
#ifndef MPICH  // 4.0.2 itself gets it wrong or crashes when the operation does not commute and the type has gaps
    out.assign(out.size(), empty);
    MPI_Reduce_scatter_block(mine.data(), out.data(), count, type, op, comm);
    std::vector<Line> own(all.begin() + me.rank * count, all.begin() + (me.rank + 1) * count);
    check_lines("reduce_scatter_block", out, own, count);
#endif
  }
  MPI_Op_free(&op);
  MPI_Datatype copy = type;
  MPI_Type_free(&copy);
}

/// A call like the one before, but what is sent has gaps, or what is received, on some ranks.
void same_but_for_one_type(MPI_Comm comm) {
  const Place me(comm);
  MPI_Datatype every_other, type;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
  MPI_Type_create_resized(every_other, 0, 4 * sizeof(int), &type);
  MPI_Type_commit(&type);
  part = "the same but for one type";
  for (int i = 0; i < 12; ++i) {
    const bool gaps = i % 3 != 0 && (me.rank + i) % 2 == 0;
    const int apart = gaps ? 2 : 1;
    const int count = gaps ? 1 : 2;
    const MPI_Datatype own = gaps ? type : MPI_INT;
    std::vector<int> mine(index(4 * me.size), -1), all(index(2 * me.size), -2);
    for (int k = 0; k < 2 * me.size; ++k) mine[index(k * apart)] = 1000 * i + 100 * me.rank + k;
    MPI_Alltoall(mine.data(), count, own, all.data(), 2, MPI_INT, comm);
    for (int r = 0; r < me.size; ++r) equal("alltoall", all[index(2 * r + 1)], 1000 * i + 100 * r + 2 * me.rank + 1);
    MPI_Allgather(mine.data(), count, own, all.data(), 2, MPI_INT, comm);
    for (int r = 0; r < me.size; ++r) equal("allgather", all[index(2 * r + 1)], 1000 * i + 100 * r + 1);
    MPI_Gather(mine.data(), count, own, all.data(), 2, MPI_INT, 0, comm);
    for (int r = 0; r < me.size && me.rank == 0; ++r) equal("gather", all[index(2 * r + 1)], 1000 * i + 100 * r + 1);
    MPI_Scatter(mine.data(), count, own, all.data(), 2, MPI_INT, 0, comm);
    equal("scatter", all[1], 1000 * i + 2 * me.rank + 1);
  }
  MPI_Type_free(&every_other);
  MPI_Type_free(&type);
}

/// Adds three ints that lie 8 bytes apart, the first one last in memory; elements 4 bytes apart interleave.
void add_backwards(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *count; ++i) {
    for (int k = 0; k < 3; ++k) {
      const MPI_Aint at = i * extent - 8 * k;
      *reinterpret_cast<int*>(static_cast<char*>(inout) + at) += *reinterpret_cast<int*>(static_cast<char*>(in) + at);
    }
  }
}

void negative_strides(MPI_Comm comm) {
  part = "negative strides";
  const Place me(comm);
  MPI_Datatype bare;
  MPI_Type_create_hvector(3, 1, -8, MPI_INT, &bare);
  MPI_Op op;
  MPI_Op_create(add_backwards, 1, &op);
  for (const int extent : {4, 24}) {  // two elements at 4: their ints alternate
    MPI_Datatype type;
    MPI_Type_create_resized(bare, -16, extent, &type);
    MPI_Type_commit(&type);
    std::vector<int> mine(20, me.rank), out(20, -1), expected(20, -1);
    const int sum = me.size * (me.size - 1) / 2;
    for (int i = 0; i < 2; ++i) {
      for (int k = 0; k < 3; ++k) expected[index(4 + i * extent / 4 - 2 * k)] = sum;
    }
    MPI_Allreduce(mine.data() + 4, out.data() + 4, 2, type, op, comm);
    equal("allreduce", out, expected);
    std::vector<int> in_place = out;
    for (int i = 0; i < 20; ++i) in_place[index(i)] = expected[index(i)] == sum ? me.rank : -1;
    MPI_Allreduce(MPI_IN_PLACE, in_place.data() + 4, 2, type, op, comm);
    equal("in place", in_place, expected);
    MPI_Type_free(&type);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&bare);
}

int quad_value(int rank, int i) { return rank * 100 + i; }

/// Rank r has r % 3 + `least` quadruples. The root keeps them with a gap after each int; odd ranks hold theirs backwards.
void uneven(MPI_Comm comm, int least) {
  part = "gatherv and scatterv";
  const Place me(comm);
  MPI_Datatype spaced, backwards, bare;
  MPI_Type_vector(4, 1, 2, MPI_INT, &bare);
  MPI_Type_create_resized(bare, 0, 32, &spaced);
  MPI_Type_free(&bare);
  MPI_Type_create_hvector(4, 1, -4, MPI_INT, &bare);
  MPI_Type_create_resized(bare, -12, 16, &backwards);
  MPI_Type_free(&bare);
  MPI_Type_commit(&spaced);
  MPI_Type_commit(&backwards);
  std::vector<int> counts(index(me.size)), places(index(me.size));
  int total = 0;
  for (int r = me.size - 1; r >= 0; --r) {  // the last rank's block comes first
    counts[index(r)] = r % 3 + least;
    places[index(r)] = total + 1;
    total += counts[index(r)] + 1;
  }
  const int own = counts[index(me.rank)];
  const bool odd = me.rank % 2 == 1;
  const auto at = [&](int i) { return index(odd ? i / 4 * 4 + 3 - i % 4 : i); };
  std::vector<int> mine(index(4 * own + 4));
  for (int i = 0; i < 4 * own; ++i) mine[at(i)] = quad_value(me.rank, i);
  std::vector<int> wanted(index(8 * (total + 1)), -4), all;
  for (int r = 0; r < me.size; ++r) {
    for (int i = 0; i < 4 * counts[index(r)]; ++i) wanted[index(8 * places[index(r)] + 2 * i)] = quad_value(r, i);
  }
  for (int root = 0; root < me.size; root += 2) {
    const bool at_root = me.rank == root;
    all.assign(wanted.size(), -4);
    int* const send = mine.data() + (odd ? 3 : 0);
    MPI_Gatherv(send, odd ? own : 4 * own, odd ? backwards : MPI_INT, at_root ? all.data() : nullptr,
                at_root ? counts.data() : nullptr, at_root ? places.data() : nullptr, spaced, root, comm);
    if (at_root) equal("gatherv", all, wanted);
    std::vector<int> back(mine.size(), 0);
    MPI_Scatterv(at_root ? wanted.data() : nullptr, at_root ? counts.data() : nullptr,
                 at_root ? places.data() : nullptr, spaced, back.data() + (odd ? 3 : 0), odd ? own : 4 * own,
                 odd ? backwards : MPI_INT, root, comm);
    equal("scatterv", back, mine);
    if (at_root) {
      all.assign(wanted.size(), -4);
      for (int i = 0; i < 4 * own; ++i) all[index(8 * places[index(root)] + 2 * i)] = quad_value(root, i);
      MPI_Gatherv(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, all.data(), counts.data(), places.data(), spaced, root, comm);
      equal("gatherv in place", all, wanted);
      MPI_Scatterv(wanted.data(), counts.data(), places.data(), spaced, MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, root,
                   comm);
    } else {
      MPI_Gatherv(send, odd ? own : 4 * own, odd ? backwards : MPI_INT, nullptr, nullptr, nullptr, MPI_DATATYPE_NULL,
                  root, comm);
      back.assign(back.size(), 0);
      MPI_Scatterv(nullptr, nullptr, nullptr, MPI_DATATYPE_NULL, back.data() + (odd ? 3 : 0), odd ? own : 4 * own,
                   odd ? backwards : MPI_INT, root, comm);
      equal("scatterv in place", back, mine);
    }
  }
  MPI_Type_free(&spaced);
  MPI_Type_free(&backwards);
}

/// One rank has nearly everything: the others learn from the root that the MPI library does it.
void very_uneven(MPI_Comm comm) {
  part = "one large block";
  const Place me(comm);
  std::vector<int> counts(index(me.size), 1), places(index(me.size));
  counts[index(me.size - 1)] = 20'000;
  for (int r = 0; r < me.size; ++r) places[index(r)] = r;
  const int own = counts[index(me.rank)];
  std::vector<int> mine(index(own), me.rank + 5), all(index(me.size + 20'000), -1);
  MPI_Gatherv(mine.data(), own, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, 0, comm);
  if (me.rank == 0) equal("gatherv", all[0] + all[index(me.size + 19'998)], me.size + 9);
  mine.assign(mine.size(), 0);
  MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, mine.data(), own, MPI_INT, 0, comm);
  equal("scatterv", mine.back(), me.rank + 5);
}

}  // namespace

void derived(MPI_Comm comm) {
  structs(comm);
  same_but_for_one_type(comm);
  negative_strides(comm);
  same_but_for_one_type(comm);
  uneven(comm, 1);
  uneven(comm, 0);
  uneven(comm, 400);
  very_uneven(comm);
}

}  // namespace conformance
