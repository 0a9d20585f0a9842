// SPDX-License-Identifier: MIT
// The life of communicators over MPI, from their making to their end, several at once: mpirun -np P mpi_lives name. A case throws
// what is wrong.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../patience.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"

namespace chasqui::mpi {
namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Slots, messages, and both.
std::vector<Options> ways() {
  Options messages, both;
  messages.slots = false;
  both.pretend_node_size = 2;
  return {{}, messages, both};
}

/// Requests of several communicators are waited for in an order of each rank's own.
void any_order() {
  for (const Options& options : ways()) {
    const auto comm = make_comm(MPI_COMM_WORLD, options);
    const auto other = comm->split(0, -comm->rank());
    const auto half = comm->split(comm->rank() % 2, 0);
    for (const std::size_t count : {1, 3000, 100'000}) {
      const std::vector<long> ones(count, 1);
      std::vector<long> a(count), b(count), c(count);
      std::vector<run::Request> requests;
      requests.push_back(comm->iallreduce(ones, a));
      requests.push_back(other->iallreduce(ones, b));
      requests.push_back(half->iallreduce(ones, c));
      for (std::size_t i = 0; i < 3; ++i) requests[(i + static_cast<std::size_t>(comm->rank())) % 3].wait();
      expect(a.back() == comm->size() && b.back() == comm->size() && c.back() == half->size(), "a sum is wrong");
    }
  }
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// What is in flight when some ranks split: others wait for it before they do.
void split_in_flight() {
  for (const Options& options : ways()) {
    const auto comm = make_comm(MPI_COMM_WORLD, options);
    const std::vector<long> ones(300'000, 1);
    std::vector<long> sums(ones.size());
    auto request = comm->iallreduce(ones, sums);
    if (comm->rank() % 2 != 0) request.wait();
    const auto part = comm->split(0, 0);
    request.wait();
    expect(sums.back() == comm->size() && part->allreduce(1) == comm->size(), "a sum is wrong");
  }
}

/// A rank raises an error, or calls something else, where the others split: all hear of it.
void split_alone() {
  for (const Options& options : ways()) {
    for (const bool throws : {true, false}) {
      const auto heard = error_of([&] {
        const auto comm = make_comm(MPI_COMM_WORLD, options);
        const bool odd = comm->rank() == comm->size() - 1;
        if (odd && throws) throw Error("this rank had enough");
        if (odd) comm->barrier();
        else static_cast<void>(comm->split(0, 0));
      });
      expect(!heard.empty(), throws ? "nobody heard of the error" : "nobody noticed");
    }
  }
}

/// Parts of parts, none for a negative colour, and the whole gone before its parts.
void parts() {
  for (const Options& options : ways()) {
    auto comm = make_comm(MPI_COMM_WORLD, options);
    const int rank = comm->rank(), size = comm->size();
    auto half = comm->split(rank % 2, -rank);
    auto quarter = half->split(rank == 0 ? -7 : 3, 0);
    expect((quarter == nullptr) == (rank == 0), "a negative colour gives no communicator");
    const int rest = half->size() - (rank % 2 == 0 ? 1 : 0);
    half.reset();
    comm.reset();
    if (quarter == nullptr) continue;
    expect(quarter->allreduce(1) == rest && quarter->size() == rest, "a part has another size");
    const auto alone = quarter->split(quarter->rank(), 0);
    expect(alone->size() == 1 && alone->allreduce(size) == size, "alone");
  }
}

/// Each rank destroys its communicators in an order of its own, and waits for nobody: rank 0 keeps all of its until the others
/// have none left.
void ends() {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<std::unique_ptr<run::Comm>> comms;
  for (int i = 0; i < 2; ++i) {
    for (const Options& options : ways()) {
      comms.push_back(make_comm(MPI_COMM_WORLD, options));
      comms.push_back(comms.back()->split(rank % 2, 0));
    }
  }
  for (const auto& comm : comms) expect(comm->allreduce(1) == comm->size(), "a sum is wrong");
  if (rank == 0) {
    for (int r = 1; r < size; ++r) MPI_Recv(nullptr, 0, MPI_CHAR, r, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  std::rotate(comms.begin(), comms.begin() + 5 * rank % static_cast<int>(comms.size()), comms.end());
  comms.clear();
  if (rank != 0) MPI_Send(nullptr, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
}

/// Communicators that the program keeps beyond MPI_Finalize: an Error for each call, and nothing when they go.
void finalize() {
  std::vector<std::unique_ptr<run::Comm>> kept;
  for (const Options& options : ways()) kept.push_back(make_comm(MPI_COMM_WORLD, options));
  std::vector<long> data(100, 1);
  kept.push_back(make_comm(MPI_COMM_WORLD, ways()[1]));
  run::Request started;
  if (kept.back()->rank() != 0) started = kept.back()->ibroadcast(data, 0);  // for which nobody will wait
  MPI_Finalize();
  for (const auto& comm : kept) {
    expect(error_of([&] { comm->barrier(); }).find("MPI_Finalize was called") != std::string::npos, "barrier");
    expect(error_of([&] { static_cast<void>(comm->ibroadcast(data, 0)); }).find("MPI_Finalize") != std::string::npos,
           "ibroadcast");
    expect(error_of([&] { comm->split(0, 0); }).find("MPI_Finalize") != std::string::npos, "split");
  }
  expect(!started.active() || error_of([&] { started.wait(); }).find("MPI_Finalize") != std::string::npos, "wait");
  expect(error_of([] { make_comm(MPI_COMM_WORLD); }).find("before it") != std::string::npos, "make_comm");
}

/// Bytes of boards that this process has mapped.
std::size_t boards() {
  std::ifstream maps("/proc/self/maps");
  std::size_t all = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/shm/#") == std::string::npos) continue;
    const std::size_t dash = line.find('-');
    all += std::stoull(line.substr(dash + 1), nullptr, 16) - std::stoull(line.substr(0, dash), nullptr, 16);
  }
  return all;
}

/// The first communicators have long stages, the others do with less (run/board/affordable.hpp): 64 of 4 ranks have 371 MiB where 24 GiB are free,
/// and would have 540 or 1080 if each took what one may have. Where there is less memory than that some have no board, and all give right results.
void many() {
  std::vector<std::unique_ptr<run::Comm>> comms;
  for (int i = 0; i < 64; ++i) comms.push_back(make_comm(MPI_COMM_WORLD));
  constexpr std::size_t kMost = std::size_t{640 + 16} << 20;  // stages of any length but the least, and those
  expect(boards() <= kMost, "the boards take " + std::to_string(boards() >> 20) + " MiB");
  const std::vector<long> ones(70'000, 1);
  std::vector<long> sums(ones.size());
  for (const auto& comm : comms) {
    comm->allreduce(ones, sums);
    expect(sums.front() == comm->size() && sums.back() == comm->size(), "a sum is wrong");
  }
  comms.clear();
  expect(boards() == 0, "boards are left");
}

}  // namespace
}  // namespace chasqui::mpi

int main(int argc, char** argv) {
  using namespace chasqui::mpi;
  const std::map<std::string, std::function<void()>> cases = {
      {"any_order", any_order},
      {"split_in_flight", split_in_flight},
      {"split_alone", split_alone},
      {"parts", parts},
      {"finalize", finalize},
      {"many", many},
      {"ends", ends},
  };
  MPI_Init(&argc, &argv);
  alarm(40 * chasqui::kPatience);  // a hang is a failure
  const auto found = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    for (const auto& each : cases) std::fprintf(stderr, "a case: %s\n", each.first.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    found->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Finalize();
  return 0;
}
