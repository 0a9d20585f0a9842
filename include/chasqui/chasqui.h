// SPDX-License-Identifier: MIT
// Chasqui for C, and for every language that calls C: the library libchasqui.so (pkg-config chasqui-c, CMake chasqui::c).
//
// Every function returns 0, or a negative CHASQUI_ERROR_... and then chasqui_last_error() says in one line what is wrong and
// what to do. A char** receives a text that ends with a zero byte and is freed by chasqui_free; it is NULL after an error.
// All functions may be called by several threads at once. Symbols are versioned (CHASQUI_1): what is here stays as it is.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CHASQUI_ERROR_INPUT = -1,   ///< an argument, an option, a file or the environment: the text names it and the remedy
  CHASQUI_ERROR_MEMORY = -2,  ///< out of memory
  CHASQUI_ERROR_BUG = -3      ///< Chasqui's own fault: please report the text
};

/// "0.1.0", of the library. Never freed.
const char* chasqui_version(void);

/// What the calling thread's last call complained of. After a call that returned 0: what it wants to be known, such as that a
/// drawn schedule is not legal; mostly empty. Valid until the thread's next call.
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

#ifdef __cplusplus
}
#endif
