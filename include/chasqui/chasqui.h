// SPDX-License-Identifier: MIT
// Chasqui for C, and for every language that calls C: the library libchasqui.so (pkg-config chasqui-c, CMake chasqui::c).
//
// Every function returns 0, or a negative CHASQUI_ERROR_... and then chasqui_last_error() says in one line what is wrong and
// what to do. A char** receives a text that ends with a zero byte and is freed by chasqui_free; it is NULL after an error.
// All functions may be called by several threads at once. Symbols are versioned (CHASQUI_1): what is here stays as it is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CHASQUI_ERROR_INPUT = -1,   ///< an argument, an option, a file or the environment: the text names it and the remedy
  CHASQUI_ERROR_MEMORY = -2,  ///< out of memory
  CHASQUI_ERROR_BUG = -3,     ///< Chasqui's own fault: please report the text
  CHASQUI_ERROR_GROUP =
      -4  ///< a rank died, left, is late or called something else: the communicator is of no use any more
};

/// "0.1.0", of the library. Never freed.
const char* chasqui_version(void);

/// What the calling thread's last call complained of. After a function of the planner that returned 0: what it wants to be known,
/// such as that a drawn schedule is not legal; mostly empty. A collective that returns 0 leaves it as it was. Valid until the
/// thread's next call.
const char* chasqui_last_error(void);

/// Frees a text of this library; NULL is nothing.
void chasqui_free(char* text);

// ---- The planner. `options` is a JSON object of the options that the command line's command of that name has, without
// hyphens in front: {"P": 8, "L": 6, "o": 2, "g": 4, "root": 3, "non-commutative": true}; numbers may be texts such as "10^9",
// options that may be repeated are arrays, NULL means none. `schedule` is the text of a schedule file (docs/model.md, "The file").

/// The best schedule known for a collective ("broadcast", "allreduce", ...) on the machine P, L, o, g of the options, as the
/// text of a schedule file; with "rank" what one rank does, for any number of processors.
int chasqui_plan(const char* collective, const char* options, char** schedule);

/// How good that schedule is, without building it: {"finish", "bound", "optimal", "gap", "bound_source", "construction", ...}.
int chasqui_bound(const char* collective, const char* options, char** claim);

/// {"legal", "rules", "finish", "violations", "omitted"}: each violation with its rule, time and text. Returns 0 for a schedule
/// that is not legal, too.
int chasqui_verify(const char* schedule, const char* options, char** report);

/// One play with the options' latencies: {"finish", "planned", "messages", "critical_path", ...}; with "runs" the mean and
/// quantiles of so many; with "adversary": "worst" the worst case.
int chasqui_simulate(const char* schedule, const char* options, char** result);

/// A picture of a schedule, or of what a simulation or a recorded run did: text, or with {"format": "svg"} SVG, with
/// {"format": "trace"} a timeline for Perfetto.
int chasqui_draw(const char* schedule, const char* options, char** picture);

// ---- The runtime: collectives between processes (docs/processes.md). All ranks of a communicator make the same
// calls in the same order. A communicator is used by one thread at a time; split one for each thread. After
// CHASQUI_ERROR_INPUT it can be used further if all ranks made the same mistake.

typedef struct chasqui_comm chasqui_comm;        ///< one rank's end of a communicator
typedef struct chasqui_request chasqui_request;  ///< a collective that was started

// To C++ every int is a value of these types, as it is to C: what is not in the list is refused.
#ifdef __cplusplus
#define CHASQUI_INT : int
#else
#define CHASQUI_INT
#endif

/// What an element is. Half floats are accumulated in float and rounded once.
typedef enum chasqui_type CHASQUI_INT {
  CHASQUI_I8,
  CHASQUI_I16,
  CHASQUI_I32,
  CHASQUI_I64,
  CHASQUI_U8,
  CHASQUI_U16,
  CHASQUI_U32,
  CHASQUI_U64,
  CHASQUI_F16,
  CHASQUI_BF16,
  CHASQUI_F32,
  CHASQUI_F64,
  CHASQUI_BOOL  ///< a byte
} chasqui_type;

/// How elements are folded. Bit operations are for integers and bool, averages for floats.
typedef enum chasqui_operation CHASQUI_INT {
  CHASQUI_SUM,
  CHASQUI_PRODUCT,
  CHASQUI_MIN,
  CHASQUI_MAX,
  CHASQUI_AND,
  CHASQUI_OR,
  CHASQUI_XOR,
  CHASQUI_AVERAGE
} chasqui_operation;

/// How to meet; begin with CHASQUI_JOIN_OPTIONS. All but the rank is the same on all ranks.
typedef struct chasqui_join_options {
  size_t bytes;            ///< of this structure, for later versions
  int rank, size;          ///< -1: as the launcher says (chasqui launch, torchrun, mpirun, srun)
  const char* rendezvous;  ///< "/path", "unix:@name", "fd:7", "tcp://10.0.0.1:4711"; NULL: the launcher's
  const char* secret;      ///< NULL: CHASQUI_SECRET, or none; tcp needs one
  double timeout;          ///< seconds until all must be there
  double patience;         ///< seconds after which a call in which nothing moves fails; 0: never
  int reproducible;        ///< as chasqui_comm_set_reproducible
} chasqui_join_options;
#define CHASQUI_JOIN_OPTIONS \
  { sizeof(chasqui_join_options), -1, -1, NULL, NULL, 60, 0, 0 }

/// Comes back when all ranks are there, or with an error when the time is over. NULL: all as the launcher says.
int chasqui_join(const chasqui_join_options* options, chasqui_comm** comm);
/// Gives it back; NULL is nothing. What was started on it must be complete.
int chasqui_comm_free(chasqui_comm* comm);
int chasqui_comm_rank(const chasqui_comm* comm);  ///< 0 .. size-1, or an error
int chasqui_comm_size(const chasqui_comm* comm);
/// A communicator of the ranks that pass the same colour, ordered by key; NULL for a negative colour. It may outlive the whole.
int chasqui_comm_split(chasqui_comm* comm, int colour, int key, chasqui_comm** part);
int chasqui_comm_set_timeout(chasqui_comm* comm, double seconds);  ///< as `patience` of the options
/// From now on every element of a fold is ((x0 o x1) o x2) o ... over the ranks: the same bits whatever the size of the message,
/// its split into calls, the timing and the method. On all ranks.
int chasqui_comm_set_reproducible(chasqui_comm* comm, int on);
/// Says to all ranks that this one will not come back: whoever waits for it gets CHASQUI_ERROR_GROUP with this reason.
int chasqui_comm_leave(chasqui_comm* comm, const char* why);

// Collectives. `count` is what one rank gives or gets. With `request` NULL they come back when they are done; else they are
// only started, and all buffers must stay until chasqui_wait or chasqui_test has completed *request.

int chasqui_barrier(chasqui_comm* comm, chasqui_request** request);
int chasqui_broadcast(chasqui_comm* comm, void* data, int64_t count, chasqui_type type, int root,
                      chasqui_request** request);
/// In place, here and in the following folds: `in` NULL, or the same as `out`. `out` counts at the root only.
int chasqui_reduce(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                   chasqui_operation operation, int root, chasqui_request** request);
int chasqui_allreduce(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                      chasqui_operation operation, chasqui_request** request);
/// Rank i gets the fold of ranks 0 .. i; with `exclusive` of 0 .. i-1, and rank 0 keeps what `out` held.
int chasqui_scan(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                 chasqui_operation operation, int exclusive, chasqui_request** request);
/// `out` holds size * count. In place: `in` NULL, and this rank's part lies where it belongs in `out`.
int chasqui_allgather(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                      chasqui_request** request);
/// counts[r] elements of rank r, at offsets[r] of `out`; both arrays are the same on all ranks.
int chasqui_allgatherv(chasqui_comm* comm, const void* in, void* out, const int64_t* counts, const int64_t* offsets,
                       chasqui_type type, chasqui_request** request);
int chasqui_gather(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type, int root,
                   chasqui_request** request);
int chasqui_scatter(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type, int root,
                    chasqui_request** request);

/// `in` holds size * count; block r of all ranks, folded, is rank r's. In place: the result lies at the beginning of `out`.
int chasqui_reduce_scatter(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                           chasqui_operation operation, chasqui_request** request);
/// Block r of `in` goes to rank r, and block r of `out` comes from it; both hold size * count. In place: `in` NULL.
int chasqui_alltoall(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                     chasqui_request** request);
/// The same with in_counts[r] elements at in_offsets[r] for rank r, and out_counts[r] at out_offsets[r] from it. The four arrays
/// must stay as long as the buffers.
int chasqui_alltoallv(chasqui_comm* comm, const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                      void* out, const int64_t* out_counts, const int64_t* out_offsets, chasqui_type type,
                      chasqui_request** request);

/// Is it complete? Then *done is 1 and *request is freed and NULL. Also moves everything else that was started.
int chasqui_test(chasqui_request** request, int* done);
/// Comes back when it is complete; *request is NULL then. A NULL request is complete.
int chasqui_wait(chasqui_request** request);

#ifdef __cplusplus
}
#endif
