// SPDX-License-Identifier: MIT
// The runtime from C: every collective, type and operation between forked processes, in place and not, started and not; what
// is refused; and a rank that is killed.
#include <chasqui/chasqui.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 5000
static int rank, size;
static chasqui_comm* comm;

#define NEED(condition)                                                                             \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      fprintf(stderr, "%s:%d: rank %d: %s; last error: %s\n", __FILE__, __LINE__, rank, #condition, \
              chasqui_last_error());                                                                \
      _exit(1);                                                                                     \
    }                                                                                               \
  } while (0)

static const int counts[] = {0, 1, 7, 14, 700, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

/// Small whole numbers, so that every type has the result exactly.
static double value(int of, int at) { return (of * 3 + at * 5) % 7; }

static void store(chasqui_type type, void* to, int at, double x) {
  switch (type) {
    case CHASQUI_I8: ((int8_t*)to)[at] = (int8_t)x; break;
    case CHASQUI_I16: ((int16_t*)to)[at] = (int16_t)x; break;
    case CHASQUI_I32: ((int32_t*)to)[at] = (int32_t)x; break;
    case CHASQUI_I64: ((int64_t*)to)[at] = (int64_t)x; break;
    case CHASQUI_U8: ((uint8_t*)to)[at] = (uint8_t)x; break;
    case CHASQUI_U16: ((uint16_t*)to)[at] = (uint16_t)x; break;
    case CHASQUI_U32: ((uint32_t*)to)[at] = (uint32_t)x; break;
    case CHASQUI_U64: ((uint64_t*)to)[at] = (uint64_t)x; break;
    case CHASQUI_F32: ((float*)to)[at] = (float)x; break;
    case CHASQUI_F64: ((double*)to)[at] = x; break;
    case CHASQUI_BF16: {
      const float wide = (float)x;
      uint32_t bits;
      memcpy(&bits, &wide, 4);
      ((uint16_t*)to)[at] = (uint16_t)(bits >> 16);
      break;
    }
    case CHASQUI_F16: {  // of 0 .. 1023: one bit after the other
      int whole = (int)x, exponent = 0;
      if (whole == 0) {
        ((uint16_t*)to)[at] = 0;
        break;
      }
      while (whole >> (exponent + 1) != 0) ++exponent;
      ((uint16_t*)to)[at] = (uint16_t)((exponent + 15) << 10 | ((whole << (10 - exponent)) & 1023));
      break;
    }
    default: ((uint8_t*)to)[at] = x != 0;
  }
}

static size_t bytes_of(chasqui_type type) {
  static const size_t bytes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1};
  return bytes[type];
}

static double folded(chasqui_operation operation, chasqui_type type, int last, int at) {
  double all = value(0, at);
  int r;
  if (type == CHASQUI_BOOL) all = all != 0;
  for (r = 1; r < last; ++r) {
    double next = value(r, at);
    if (type == CHASQUI_BOOL) next = next != 0;
    switch (operation) {
      case CHASQUI_PRODUCT: all = all * next; break;
      case CHASQUI_MIN: all = next < all ? next : all; break;
      case CHASQUI_MAX: all = next > all ? next : all; break;
      case CHASQUI_AND: all = (double)((int)all & (int)next); break;
      case CHASQUI_OR: all = (double)((int)all | (int)next); break;
      case CHASQUI_XOR: all = (double)((int)all ^ (int)next); break;
      default: all = all + next;
    }
    if (type == CHASQUI_BOOL) all = all != 0;
  }
  return all;
}

/// Started and waited for, or asked for, in turn.
static void finish(chasqui_request* request, int turn) {
  int done = 0;
  if (turn % 2 == 0) {
    NEED(chasqui_wait(&request) == 0);
  } else {
    for (; !done; sched_yield()) NEED(chasqui_test(&request, &done) == 0);
  }
  NEED(request == NULL);
}

static char in[MOST * 8 * 8], out[MOST * 8 * 8], expected[MOST * 8 * 8];

static void fill(chasqui_type type, void* to, int of, int count) {
  int i;
  for (i = 0; i < count; ++i) store(type, to, i, value(of, i));
}

static void folds(void) {
  int t, o, c, way;
  for (t = CHASQUI_I8; t <= CHASQUI_BOOL; ++t) {
    for (o = CHASQUI_SUM; o <= CHASQUI_XOR; ++o) {
      const chasqui_type type = (chasqui_type)t;
      const chasqui_operation operation = (chasqui_operation)o;
      const int floats = type >= CHASQUI_F16 && type <= CHASQUI_F64;
      if (floats && operation >= CHASQUI_AND) continue;
      if (operation == CHASQUI_PRODUCT && size > 3) continue;  // bytes and half floats have no room for more
      for (c = 0; c < COUNTS; ++c) {
        const int count = counts[c], root = c % size;
        if (size > 1 && (t + o + c) % size != 0) continue;  // some of everything
        const size_t bytes = (size_t)count * bytes_of(type);
        int i;
        for (way = 0; way < 3; ++way) {  // plain, in place, started
          chasqui_request* request = NULL;
          fill(type, in, rank, count);
          memcpy(out, in, bytes);
          for (i = 0; i < count; ++i) store(type, expected, i, folded(operation, type, size, i));
          NEED(chasqui_allreduce(comm, way == 1 ? NULL : in, out, count, type, operation, way == 2 ? &request : NULL) ==
               0);
          if (way == 2) finish(request, c);
          NEED(memcmp(out, expected, bytes) == 0);
          memcpy(out, in, bytes);
          NEED(chasqui_reduce(comm, in, out, count, type, operation, root, NULL) == 0);
          NEED(rank != root || memcmp(out, expected, bytes) == 0);
          NEED(chasqui_scan(comm, in, out, count, type, operation, 0, NULL) == 0);
          for (i = 0; i < count; ++i) store(type, expected, i, folded(operation, type, rank + 1, i));
          NEED(memcmp(out, expected, bytes) == 0);
          NEED(chasqui_scan(comm, in, out, count, type, operation, 1, NULL) == 0);
          for (i = 0; rank > 0 && i < count; ++i) store(type, expected, i, folded(operation, type, rank, i));
          NEED(rank == 0 || memcmp(out, expected, bytes) == 0);
        }
      }
    }
  }
}

static void averages(void) {
  double x[2], y[2];
  chasqui_request* request = NULL;
  x[0] = rank;
  x[1] = 4;
  NEED(chasqui_allreduce(comm, x, y, 2, CHASQUI_F64, CHASQUI_AVERAGE, NULL) == 0);
  NEED(y[0] == (size - 1) / 2.0 && y[1] == 4);
  NEED(chasqui_allreduce(comm, NULL, x, 2, CHASQUI_F64, CHASQUI_AVERAGE, &request) == 0);
  finish(request, 1);
  NEED(x[0] == (size - 1) / 2.0 && x[1] == 4);
}

static void moves(void) {
  int c, i, r;
  for (c = 0; c < COUNTS; ++c) {
    const int count = counts[c] / size + (counts[c] > 0), root = (c + 1) % size;
    int32_t *a = (int32_t*)in, *b = (int32_t*)out;
    int64_t each[64], offsets[64], whole[64], all = 0;
    chasqui_request* request = NULL;
    fill(CHASQUI_I32, a, rank, count);
    NEED(chasqui_broadcast(comm, a, count, CHASQUI_I32, root, NULL) == 0);
    fill(CHASQUI_I32, expected, root, count);
    NEED(memcmp(a, expected, 4 * (size_t)count) == 0);
    fill(CHASQUI_I32, a, rank, count);
    for (r = 0; r < size; ++r) fill(CHASQUI_I32, (int32_t*)expected + r * count, r, count);
    NEED(chasqui_allgather(comm, a, b, count, CHASQUI_I32, &request) == 0);
    finish(request, c);
    NEED(memcmp(b, expected, 4 * (size_t)(count * size)) == 0);
    memset(b, 0, 4 * (size_t)(count * size));
    NEED(chasqui_gather(comm, a, b, count, CHASQUI_I32, root, NULL) == 0);
    NEED(rank != root || memcmp(b, expected, 4 * (size_t)(count * size)) == 0);
    memset(b, 0, 4 * (size_t)(count + 1));
    NEED(chasqui_scatter(comm, expected, b, count, CHASQUI_I32, root, NULL) == 0);
    NEED(memcmp(b, a, 4 * (size_t)count) == 0);
    for (r = 0; r < size; ++r) fill(CHASQUI_I32, a + r * count, rank + r, count);  // block r for rank r
    for (r = 0; r < size; ++r) fill(CHASQUI_I32, (int32_t*)expected + r * count, rank + r, count);
    NEED(chasqui_alltoall(comm, a, b, count, CHASQUI_I32, c % 2 ? &request : NULL) == 0);
    if (c % 2) finish(request, c);
    NEED(memcmp(b, expected, 4 * (size_t)(count * size)) == 0);
    for (r = 0; r < size; ++r) {
      each[r] = count;
      offsets[r] = (int64_t)(size - 1 - r) * count;  // blocks from the end to the beginning
      whole[r] = (int64_t)r * count;
    }
    memset(b, 0, 4 * (size_t)(count * size));
    NEED(chasqui_alltoallv(comm, a, each, whole, b, each, offsets, CHASQUI_I32, NULL) == 0);
    for (r = 0; r < size; ++r) NEED(memcmp(b + offsets[r], (int32_t*)expected + whole[r], 4 * (size_t)count) == 0);
    for (i = 0; i < count * size; ++i) a[i] = rank + i;
    NEED(chasqui_reduce_scatter(comm, a, b, count, CHASQUI_I32, CHASQUI_SUM, c % 2 ? &request : NULL) == 0);
    if (c % 2) finish(request, c);
    for (i = 0; i < count; ++i) NEED(b[i] == size * (size - 1) / 2 + size * (rank * count + i));
    for (r = 0; r < size; ++r) {
      each[r] = (count + r) % (count + 2);
      offsets[r] = all + r;  // with a gap between
      all += each[r];
    }
    for (i = 0; i < (int)(all + size); ++i) b[i] = -1;
    fill(CHASQUI_I32, a, rank, (int)each[rank]);
    NEED(chasqui_allgatherv(comm, a, b, each, offsets, CHASQUI_I32, c % 2 ? &request : NULL) == 0);
    if (c % 2) finish(request, c / 2);
    for (r = 0; r < size; ++r) {
      for (i = 0; i < each[r]; ++i) NEED(b[offsets[r] + i] == (int32_t)value(r, i));
      NEED(r == 0 || b[offsets[r] - 1] == -1);
    }
    NEED(chasqui_barrier(comm, NULL) == 0);
    NEED(chasqui_barrier(comm, &request) == 0);
    finish(request, c);
  }
}

static void refused(int code, const char* words) {
  NEED(code == CHASQUI_ERROR_INPUT);
  NEED(strstr(chasqui_last_error(), words) != NULL);
}

/// All ranks make the same mistakes, and go on.
static void refusals(void) {
  double x = 1;
  int done;
  chasqui_request* none = NULL;
  chasqui_join_options options = CHASQUI_JOIN_OPTIONS;
  chasqui_comm* other = comm;
  refused(chasqui_allreduce(NULL, &x, &x, 1, CHASQUI_F64, CHASQUI_SUM, NULL), "comm is a null pointer");
  refused(chasqui_allreduce(comm, &x, NULL, 1, CHASQUI_F64, CHASQUI_SUM, NULL), "output");
  refused(chasqui_allreduce(comm, &x, &x, -1, CHASQUI_F64, CHASQUI_SUM, NULL), "-1");
  refused(chasqui_allreduce(comm, &x, &x, 1, CHASQUI_F64, CHASQUI_XOR, NULL), "not for double");
  refused(chasqui_allreduce(comm, &x, &x, 1, CHASQUI_I64, CHASQUI_AVERAGE, NULL), "not for int64");
  refused(chasqui_allreduce(comm, &x, &x, 1, (chasqui_type)99, CHASQUI_SUM, NULL), "type 99");
  refused(chasqui_allreduce(comm, &x, &x, 1, CHASQUI_F64, (chasqui_operation)99, NULL), "operation 99");
  refused(chasqui_broadcast(comm, &x, 1, CHASQUI_F64, size, NULL), "root");
  int64_t one[64] = {1}, before[64] = {-1};
  refused(chasqui_allgatherv(comm, &x, &x, one, before, CHASQUI_F64, NULL), "rank 0 at offset -1");
  refused(chasqui_test(NULL, &done), "request");
  refused(chasqui_join(&options, NULL), "comm");
  refused(chasqui_comm_set_timeout(comm, -1), "-1");
  NEED(chasqui_wait(&none) == 0);
  NEED(chasqui_comm_free(NULL) == 0);
  options.bytes = 1000;
  refused(chasqui_join(&options, &other), "CHASQUI_JOIN_OPTIONS");
  NEED(other == NULL);
  options.bytes = sizeof options;
  options.rank = 3;
  options.size = 2;
  refused(chasqui_join(&options, &other), "rank 3 of 2");
  NEED(chasqui_barrier(comm, NULL) == 0);
}

static void parts(void) {
  chasqui_comm* part = NULL;
  int32_t one = 1, all = 0;
  NEED(chasqui_comm_split(comm, rank % 2, -rank, &part) == 0);
  NEED(chasqui_comm_size(part) == (size + 1 - rank % 2) / 2);
  NEED(chasqui_allreduce(part, &one, &all, 1, CHASQUI_I32, CHASQUI_SUM, NULL) == 0);
  NEED(all == chasqui_comm_size(part));
  NEED(chasqui_comm_free(part) == 0);
  NEED(chasqui_comm_split(comm, rank == 0 ? -1 : 0, 0, &part) == 0);
  NEED((part == NULL) == (rank == 0));
  NEED(chasqui_comm_free(part) == 0);
}

/// Whatever the size, the split into calls and the way: ((x0 + x1) + x2) + ... to the bit.
static void reproducible(void) {
  static float x[MOST], y[MOST], z[MOST];
  int i, c, r;
  NEED(chasqui_comm_set_reproducible(comm, 1) == 0);
  for (c = 0; c < COUNTS; ++c) {
    const int count = counts[c];
    for (i = 0; i < count; ++i) {
      volatile float all = 0;
      for (r = 0; r < size; ++r) {
        const float mine = 1.0f / (float)(1 + (r * 7919 + i * 104729) % 1009);
        if (r == rank) x[i] = mine;
        all = r == 0 ? mine : all + mine;
      }
      z[i] = all;
    }
    NEED(chasqui_allreduce(comm, x, y, count, CHASQUI_F32, CHASQUI_SUM, NULL) == 0);
    NEED(memcmp(y, z, 4 * (size_t)count) == 0);
    memset(y, 0, sizeof y);
    NEED(chasqui_reduce(comm, x, y, count, CHASQUI_F32, CHASQUI_SUM, 0, NULL) == 0);
    NEED(rank != 0 || memcmp(y, z, 4 * (size_t)count) == 0);
    NEED(chasqui_reduce(comm, x, y, count, CHASQUI_F32, CHASQUI_SUM, size - 1, NULL) == 0);
    NEED(rank != size - 1 || memcmp(y, z, 4 * (size_t)count) == 0);
    for (i = 0; i < count; i += 1 + i / 3) {
      const int now = i + 1 + i / 3 <= count ? 1 + i / 3 : count - i;
      NEED(chasqui_allreduce(comm, x + i, y + i, now, CHASQUI_F32, CHASQUI_SUM, NULL) == 0);
    }
    NEED(memcmp(y, z, 4 * (size_t)count) == 0);
  }
  NEED(chasqui_comm_set_reproducible(comm, 0) == 0);
}

static void killed(void) {
  int code;
  NEED(chasqui_barrier(comm, NULL) == 0);
  if (rank == size - 1) raise(SIGKILL);
  code = chasqui_barrier(comm, NULL);
  NEED(code == CHASQUI_ERROR_GROUP);
  NEED(strstr(chasqui_last_error(), "ended, or was killed") != NULL);
  code = chasqui_barrier(comm, NULL);
  NEED(code == CHASQUI_ERROR_GROUP);
}

/// Nowhere: as a launcher says.
static void run(const char* where) {
  chasqui_join_options options = CHASQUI_JOIN_OPTIONS;
  if (where != NULL) {
    options.rank = rank;
    options.size = size;
    options.rendezvous = where;
    options.secret = "not told";
  }
  NEED(chasqui_join(&options, &comm) == 0);
  if (where == NULL) {
    rank = chasqui_comm_rank(comm);
    size = chasqui_comm_size(comm);
  }
  NEED(chasqui_comm_rank(comm) == rank && chasqui_comm_size(comm) == size);
  NEED(chasqui_comm_set_timeout(comm, 100) == 0);
  folds();
  averages();
  moves();
  refusals();
  parts();
  reproducible();
  if (size > 1 && where != NULL) killed();
  NEED(chasqui_comm_free(comm) == 0);
  _exit(0);
}

int main(int words, char** word) {
  static const int sizes[] = {1, 2, 3, 5};
  size_t s;
  if (words > 1 && strcmp(word[1], "--launched") == 0) run(NULL);
  for (s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
    char where[64];
    int status, wrong = 0, kills = 0;
    size = sizes[s];
    sprintf(where, "unix:@chasqui-test-%ld-%d", (long)getpid(), size);
    for (rank = 0; rank < size; ++rank) {
      if (fork() == 0) run(where);
    }
    for (rank = 0; rank < size; ++rank) {
      if (wait(&status) < 0) return 1;
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++kills;
      else if (status != 0) ++wrong;
    }
    if (wrong != 0 || kills != (size > 1)) {
      fprintf(stderr, "%d ranks: %d failed, %d killed\n", size, wrong, kills);
      return 1;
    }
  }
  puts("right");
  return 0;
}
