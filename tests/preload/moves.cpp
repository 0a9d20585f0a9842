// SPDX-License-Identifier: MIT
// Data movement: every root, predefined and derived datatypes, types that differ between ranks, in place, uneven.
#include <algorithm>
#include <cstddef>

#include "check.hpp"

namespace conformance {
namespace {

int value(int rank, int i) { return rank * 1000 + i * 7 + 3; }

struct Types {
  MPI_Datatype vector, backwards, resized, record;
  struct Record {
    char c;
    double d;
    int i;
  };
  Types() {
    MPI_Type_vector(4, 1, 2, MPI_INT, &vector);  // every second of 7
    const int lengths[] = {2, 1};
    const MPI_Aint places[] = {8, 0};  // the third and fourth, then the first
    const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, ints, &backwards);
    MPI_Datatype one;
    MPI_Type_create_hvector(3, 1, -8, MPI_INT, &one);  // negative stride
    MPI_Type_create_resized(one, -8, 24, &resized);
    MPI_Type_free(&one);
    const int single[] = {1, 1, 1};
    const MPI_Aint fields[] = {offsetof(Record, c), offsetof(Record, d), offsetof(Record, i)};
    const MPI_Datatype kinds[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(3, single, fields, kinds, &one);
    MPI_Type_create_resized(one, 0, sizeof(Record), &record);
    MPI_Type_free(&one);
    for (auto* type : {&vector, &backwards, &resized, &record}) MPI_Type_commit(type);
  }
  ~Types() {
    for (auto* type : {&vector, &backwards, &resized, &record}) MPI_Type_free(type);
  }
};

void broadcasts(MPI_Comm comm, const Types& types) {
  part = "bcast";
  const Place me(comm);
  for (int root = 0; root < me.size; ++root) {
    for (const int count : {0, 1, 13, 29, 5000, 70000}) {
      if (count == 70000 && root != me.size - 1) continue;
      std::vector<int> data(index(count), -1), expected(index(count));
      for (int i = 0; i < count; ++i) expected[index(i)] = value(root, i);
      if (me.rank == root) data = expected;
      equal("code", MPI_Bcast(data.data(), count, MPI_INT, root, comm), MPI_SUCCESS);
      equal("ints", data, expected);
    }
    // The root sends 12 ints; odd ranks take them with gaps, even ones backwards.
    std::vector<int> sent(12), got(60, -5), expected(60, -5);
    for (int i = 0; i < 12; ++i) sent[index(i)] = value(root, i);
    if (me.rank == root) {
      MPI_Bcast(sent.data(), 12, MPI_INT, root, comm);
    } else if (me.rank % 2 == 1) {
      MPI_Bcast(got.data(), 3, types.vector, root, comm);
      for (int i = 0; i < 12; ++i) expected[index(i / 4 * 7 + i % 4 * 2)] = sent[index(i)];
      equal("vector", got, expected);
    } else {
      MPI_Bcast(got.data() + 4, 4, types.resized, root, comm);
      for (int i = 0; i < 12; ++i) expected[index(4 + i / 3 * 6 - i % 3 * 2)] = sent[index(i)];
      equal("negative stride", got, expected);
    }
    // No gaps, but another order.
    MPI_Datatype swapped;
    const int places[] = {1, 0};
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &swapped);
    MPI_Type_commit(&swapped);
    int pair[] = {me.rank == root ? 21 : 0, me.rank == root ? 43 : 0};
    MPI_Bcast(pair, me.rank == root ? 2 : 1, me.rank == root ? MPI_INT : swapped, root, comm);
    equal("order of the type map", pair[0], me.rank == root ? 21 : 43);
    MPI_Type_free(&swapped);
    // Absolute addresses.
    MPI_Aint where;
    MPI_Get_address(sent.data(), &where);
    MPI_Datatype absolute;
    const int twelve = 12;
    MPI_Type_create_hindexed(1, &twelve, &where, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    if (me.rank != root) sent.assign(12, 0);
    MPI_Bcast(MPI_BOTTOM, 1, absolute, root, comm);
    for (int i = 0; i < 12; ++i) equal("absolute", sent[index(i)], value(root, i));
    MPI_Type_free(&absolute);
    std::vector<Types::Record> records(5);
    for (int i = 0; i < 5; ++i) {
      if (me.rank == root) records[index(i)] = {static_cast<char>('a' + i), i * 0.5, value(root, i)};
    }
    MPI_Bcast(records.data(), 5, types.record, root, comm);
    for (int i = 0; i < 5; ++i) equal("record", records[index(i)].c + records[index(i)].i, 'a' + i + value(root, i));
  }
}

void gathers(MPI_Comm comm, const Types& types) {
  part = "gather";
  const Place me(comm);
  for (const int root : {0, me.size - 1, me.size / 2}) {
    for (const int count : {0, 1, 12, 40, 3000}) {
      std::vector<int> mine(index(count)), all(index(count * me.size), -1), expected(index(count * me.size));
      for (int i = 0; i < count; ++i) mine[index(i)] = value(me.rank, i);
      for (int i = 0; i < count * me.size; ++i)
        expected[index(i)] = value(i / std::max(1, count), i % std::max(1, count));
      MPI_Gather(mine.data(), count, MPI_INT, me.rank == root ? all.data() : nullptr, count, MPI_INT, root, comm);
      if (me.rank == root) equal("gather", all, expected);
      std::vector<int> back(index(count), -2);
      MPI_Scatter(me.rank == root ? expected.data() : nullptr, count, MPI_INT, back.data(), count, MPI_INT, root, comm);
      equal("scatter", back, mine);
      if (me.rank == root) {  // in place
        std::vector<int> own(expected);
        for (int r = 0; r < me.size; ++r) {
          for (int i = 0; i < count; ++i) own[index(r * count + i)] = r == me.rank ? value(r, i) : -1;
        }
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, own.data(), count, MPI_INT, root, comm);
        equal("gather in place", own, expected);
        MPI_Scatter(own.data(), count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm);
      } else {
        MPI_Gather(mine.data(), count, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, root, comm);
        MPI_Scatter(nullptr, 0, MPI_DATATYPE_NULL, back.data(), count, MPI_INT, root, comm);
        equal("scatter in place", back, mine);
      }
    }
    // Four ints each, with gaps at the root.
    std::vector<int> mine(4), spread(index(me.size * 7), -9), expected(index(me.size * 7), -9), back(8, -3);
    for (int i = 0; i < 4; ++i) mine[index(i)] = value(me.rank, i);
    MPI_Gather(mine.data(), 4, MPI_INT, spread.data(), 1, types.vector, root, comm);
    if (me.rank == root) {
      for (int i = 0; i < 4 * me.size; ++i) expected[index(i / 4 * 7 + i % 4 * 2)] = value(i / 4, i % 4);
      equal("gather with gaps", spread, expected);
    }
    MPI_Scatter(spread.data(), 1, types.vector, back.data(), 4, MPI_INT, root, comm);
    for (int i = 0; i < 4; ++i) equal("scatter with gaps", back[index(i)], mine[index(i)]);
    // Uneven: rank r has r + 1, and rank 1 none.
    std::vector<int> counts(index(me.size)), places(index(me.size));
    int total = 0;
    for (int r = 0; r < me.size; ++r) {
      counts[index(r)] = r == 1 ? 0 : r + 1;
      places[index(r)] = total + r;
      total += counts[index(r)];
    }
    std::vector<int> some(index(me.size + 1)), together(index(total + me.size), -4), wanted(together);
    for (int i = 0; i < counts[index(me.rank)]; ++i) some[index(i)] = value(me.rank, i);
    for (int r = 0; r < me.size; ++r) {
      for (int i = 0; i < counts[index(r)]; ++i) wanted[index(places[index(r)] + i)] = value(r, i);
    }
    MPI_Gatherv(some.data(), counts[index(me.rank)], MPI_INT, together.data(), counts.data(), places.data(), MPI_INT,
                root, comm);
    if (me.rank == root) equal("gatherv", together, wanted);
    std::vector<int> returned(index(me.size + 1), 0);
    MPI_Scatterv(wanted.data(), counts.data(), places.data(), MPI_INT, returned.data(), counts[index(me.rank)], MPI_INT,
                 root, comm);
    for (int i = 0; i < counts[index(me.rank)]; ++i) equal("scatterv", returned[index(i)], some[index(i)]);
    together.assign(together.size(), -4);
    MPI_Allgatherv(some.data(), counts[index(me.rank)], MPI_INT, together.data(), counts.data(), places.data(), MPI_INT,
                   comm);
    equal("allgatherv", together, wanted);
    together.assign(together.size(), -4);
    for (int i = 0; i < counts[index(me.rank)]; ++i) together[index(places[index(me.rank)] + i)] = some[index(i)];
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, together.data(), counts.data(), places.data(), MPI_INT, comm);
    equal("allgatherv in place", together, wanted);
  }
}

void allgathers(MPI_Comm comm, const Types& types) {
  part = "allgather";
  const Place me(comm);
  for (const int count : {0, 1, 3, 28, 50, 4000}) {
    std::vector<int> mine(index(count)), all(index(count * me.size), -1), expected(all);
    for (int i = 0; i < count; ++i) mine[index(i)] = value(me.rank, i);
    for (int i = 0; i < count * me.size; ++i)
      expected[index(i)] = value(i / std::max(1, count), i % std::max(1, count));
    MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, comm);
    equal("allgather", all, expected);
    all.assign(all.size(), -1);
    for (int i = 0; i < count; ++i) all[index(me.rank * count + i)] = mine[index(i)];
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, MPI_INT, comm);
    equal("allgather in place", all, expected);
  }
  // Three ints: sent in another order, received with gaps on odd ranks only.
  std::vector<int> mine = {value(me.rank, 2), -1, value(me.rank, 0), value(me.rank, 1)};
  std::vector<int> all(index(3 * me.size), -1), expected(all);
  for (int i = 0; i < 3 * me.size; ++i) expected[index(i)] = value(i / 3, i % 3);
  if (me.rank % 2 == 0) {
    MPI_Allgather(mine.data(), 1, types.backwards, all.data(), 3, MPI_INT, comm);
    equal("allgather of a struct", all, expected);
  } else {
    std::vector<int> wide(index(6 * me.size + 4), -6), wanted(wide);
    MPI_Allgather(mine.data(), 1, types.backwards, wide.data() + 4, 1, types.resized, comm);
    for (int i = 0; i < 3 * me.size; ++i) wanted[index(4 + i / 3 * 6 - i % 3 * 2)] = value(i / 3, i % 3);
    equal("allgather with negative strides", wide, wanted);
  }
}

/// What rank `from` has for rank `to`.
int sent(int from, int to, int i) { return from * 100'000 + to * 1000 + i; }

void exchanges(MPI_Comm comm, const Types& types) {
  part = "alltoall";
  const Place me(comm);
  for (const int count : {0, 1, 3, 28, 50, 700, 9000}) {
    std::vector<int> mine(index(count * me.size)), all(mine.size(), -1), expected(mine.size());
    for (int r = 0; r < me.size; ++r) {
      for (int i = 0; i < count; ++i) {
        mine[index(r * count + i)] = sent(me.rank, r, i);
        expected[index(r * count + i)] = sent(r, me.rank, i);
      }
    }
    equal("code", MPI_Alltoall(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, comm), MPI_SUCCESS);
    equal("alltoall", all, expected);
    all = mine;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, MPI_INT, comm);
    equal("alltoall in place", all, expected);
  }
  // Four ints for each: with gaps where they come from, other types where they go.
  std::vector<int> spread(index(me.size * 7), -9), dense(index(me.size * 4), -1), wanted(dense);
  for (int i = 0; i < 4 * me.size; ++i) {
    spread[index(i / 4 * 7 + i % 4 * 2)] = sent(me.rank, i / 4, i % 4);
    wanted[index(i)] = sent(i / 4, me.rank, i % 4);
  }
  MPI_Alltoall(spread.data(), 1, types.vector, dense.data(), 4, MPI_INT, comm);
  equal("alltoall with gaps", dense, wanted);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, spread.data(), 1, types.vector, comm);
  for (int i = 0; i < 4 * me.size; ++i)
    equal("in place with gaps", spread[index(i / 4 * 7 + i % 4 * 2)], wanted[index(i)]);
}

void uneven_exchanges(MPI_Comm comm, const Types& types) {
  part = "alltoallv";
  const Place me(comm);
  std::vector<int> give(index(me.size)), from(give), get(give), to(give), bytes_from(give), bytes_to(give);
  for (const int most : {0, 1, 7, 600, 12'000}) {
    for (const bool symmetric : {false, true}) {
      const auto length = [&](int p, int q) {
        if (symmetric && p > q) std::swap(p, q);
        return (p + 2 * q) % 3 == 1 ? 0 : (p * 5 + q * 11 + most) % (most + 1);
      };
      int given = 0, gotten = 0;
      for (int r = 0; r < me.size; ++r) {
        give[index(r)] = length(me.rank, r);
        get[index(r)] = length(r, me.rank);
        from[index(r)] = given;
        given += give[index(r)] + r % 2;
        gotten += get[index(r)] + 1;
        to[index(r)] = -gotten;  // from the end of the buffer backwards
      }
      std::vector<int> mine(index(given)), all(index(gotten), -4), expected(all);
      for (int r = 0; r < me.size; ++r) {
        for (int i = 0; i < give[index(r)]; ++i) mine[index(from[index(r)] + i)] = sent(me.rank, r, i);
        for (int i = 0; i < get[index(r)]; ++i) expected[index(gotten + to[index(r)] + i)] = sent(r, me.rank, i);
      }
      int* const end = all.data() + gotten;
      equal("code",
            MPI_Alltoallv(mine.data(), give.data(), from.data(), MPI_INT, end, get.data(), to.data(), MPI_INT, comm),
            MPI_SUCCESS);
      equal("alltoallv", all, expected);
      if (symmetric) {
        for (int r = 0; r < me.size; ++r) {
          for (int i = 0; i < give[index(r)]; ++i) all[index(gotten + to[index(r)] + i)] = sent(me.rank, r, i);
        }
        MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, end, get.data(), to.data(), MPI_INT, comm);
        equal("alltoallv in place", all, expected);
      }
      // Displacements in bytes, and a type for each: bytes from even ranks.
      std::vector<MPI_Datatype> given_types, gotten_types;
      std::vector<int> some = give, others = get;
      for (int r = 0; r < me.size; ++r) {
        given_types.push_back(r % 2 == 0 ? MPI_INT : MPI_BYTE);
        gotten_types.push_back(r % 2 == 0 ? MPI_BYTE : MPI_INT);
        if (r % 2 != 0) some[index(r)] *= 4;
        if (r % 2 == 0) others[index(r)] *= 4;
        bytes_from[index(r)] = from[index(r)] * 4;
        bytes_to[index(r)] = (gotten + to[index(r)]) * 4;
      }
      all.assign(all.size(), -4);
      MPI_Alltoallw(mine.data(), some.data(), bytes_from.data(), given_types.data(), all.data(), others.data(),
                    bytes_to.data(), gotten_types.data(), comm);
      equal("alltoallw", all, expected);
    }
  }
  // From one rank alone: the others give nothing, and have no buffer for it.
  for (int root = 0; root < me.size; ++root) {
    const std::vector<int> none(index(me.size), 0), two(index(me.size), 2);
    std::vector<int> from_root = none, places(index(me.size)), mine;
    from_root[index(root)] = 2;
    for (int r = 0; r < me.size; ++r) places[index(r)] = 2 * r;
    for (int i = 0; me.rank == root && i < 2 * me.size; ++i) mine.push_back(sent(root, i / 2, i % 2));
    int got[2] = {-1, -1};
    MPI_Alltoallv(me.rank == root ? mine.data() : nullptr, me.rank == root ? two.data() : none.data(), places.data(),
                  MPI_INT, got, from_root.data(), none.data(), MPI_INT, comm);
    for (int i = 0; i < 2; ++i) equal("alltoallv from one rank", got[i], sent(root, me.rank, i));
  }
#ifdef MPICH  // the type of no data may be missing
  {
    std::vector<int> none(index(me.size), 0);
    std::vector<MPI_Datatype> missing(index(me.size), MPI_DATATYPE_NULL);
    int in = me.rank, out = -1;
    const int next = (me.rank + 1) % me.size, before = (me.rank + me.size - 1) % me.size;
    give = get = from = to = none;
    give[index(next)] = get[index(before)] = 1;
    std::vector<MPI_Datatype> given_types = missing, gotten_types = missing;
    given_types[index(next)] = gotten_types[index(before)] = MPI_INT;
    MPI_Alltoallw(&in, give.data(), from.data(), given_types.data(), &out, get.data(), to.data(), gotten_types.data(),
                  comm);
    equal("alltoallw to the next", out, before);
  }
#endif
  // With gaps on one side, and of types that differ from rank to rank.
  std::vector<int> spread(index(me.size * 7), -9), dense(index(me.size * 4), -1), wanted(dense);
  std::vector<MPI_Datatype> vectors(index(me.size), types.vector), ints(index(me.size), MPI_INT);
  for (int r = 0; r < me.size; ++r) {
    for (int i = 0; i < 4; ++i) {
      spread[index(r * 7 + 2 * i)] = sent(me.rank, r, i);
      wanted[index(r * 4 + i)] = sent(r, me.rank, i);
    }
    give[index(r)] = 1;
    get[index(r)] = 4;
    from[index(r)] = r;
    to[index(r)] = 4 * r;
    bytes_from[index(r)] = 28 * r;
    bytes_to[index(r)] = 16 * r;
  }
  MPI_Alltoallv(spread.data(), give.data(), from.data(), types.vector, dense.data(), get.data(), to.data(), MPI_INT,
                comm);
  equal("alltoallv with gaps", dense, wanted);
  dense.assign(dense.size(), -1);
  MPI_Alltoallw(spread.data(), give.data(), bytes_from.data(), vectors.data(), dense.data(), get.data(),
                bytes_to.data(), ints.data(), comm);
  equal("alltoallw with gaps", dense, wanted);
  MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, spread.data(), give.data(), bytes_from.data(), vectors.data(),
                comm);
  for (int i = 0; i < 4 * me.size; ++i)
    equal("alltoallw in place", spread[index(i / 4 * 7 + i % 4 * 2)], wanted[index(i)]);
}

/// No data, by the same type as before on some ranks and by another one on others: those know the call already, these do not.
void no_data(MPI_Comm comm) {
  part = "no data";
  const Place me(comm);
  for (int i = 0; i < 4; ++i) {
    const MPI_Datatype type = i % 2 == 0 || me.rank % 2 == 0 ? MPI_INT : MPI_DOUBLE;
    MPI_Bcast(nullptr, 0, type, 0, comm);
    MPI_Allgather(nullptr, 0, type, nullptr, 0, type, comm);
    MPI_Gather(nullptr, 0, type, nullptr, 0, type, 0, comm);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    equal("a sum afterwards", sum, me.size);
  }
}

}  // namespace

void moves(MPI_Comm comm) {
  const Types types;
  broadcasts(comm, types);
  gathers(comm, types);
  allgathers(comm, types);
  exchanges(comm, types);
  uneven_exchanges(comm, types);
  no_data(comm);
}

}  // namespace conformance
