// SPDX-License-Identifier: MIT
// What the conformance programs share. They use MPI alone and know nothing of Chasqui; expected results come from
// formulas. Every result also enters a digest, which must be the same with and without the drop-in library.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace conformance {

inline std::uint64_t digest = 1469598103934665603u;
inline const char* part = "";

inline void enter(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) digest = (digest ^ at[i]) * 1099511628211u;
}
template <typename T>
void enter(const std::vector<T>& data) {
  enter(data.data(), data.size() * sizeof(T));
}
/// On x86-64 six of sixteen bytes are padding, and nobody says what is in them.
inline void enter(const std::vector<long double>& data) {
  for (const long double value : data) {
    const auto high = static_cast<double>(value);
    const auto low = static_cast<double>(value - high);
    enter(&high, sizeof high);
    enter(&low, sizeof low);
  }
}

[[noreturn]] inline void fail(const char* what, long long got, long long expected) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "rank %d: %s: %s: got %lld, expected %lld\n", rank, part, what, got, expected);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
inline void equal(const char* what, long long got, long long expected) {
  if (got != expected) fail(what, got, expected);
}
template <typename T>
void equal(const char* what, const std::vector<T>& got, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(got[i] == expected[i])) fail(what, static_cast<long long>(got[i]), static_cast<long long>(expected[i]));
  }
  enter(got);
}

inline std::size_t index(int i) { return static_cast<std::size_t>(i); }

struct Place {
  int rank = 0, size = 1;
  explicit Place(MPI_Comm comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
};

void moves(MPI_Comm comm);    // moves.cpp
void folds(MPI_Comm comm);    // folds.cpp
void derived(MPI_Comm comm);  // derived.cpp
void company(MPI_Comm comm);  // company.cpp: the program's own messages, requests, errors, attributes
void threads();               // threads.cpp
void inter_communicators();   // inter.cpp

}  // namespace conformance
