// SPDX-License-Identifier: MIT
#include "preload/hooked/requests.hpp"

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "preload/component/beside.hpp"
#include "preload/component/component.h"
#include "preload/component/ongoing.hpp"
#include "preload/hooked/progress.hpp"
#include "preload/native.hpp"
#include "preload/report.hpp"

namespace chasqui::preload {

namespace next {
inline constinit const Next<decltype(&MPI_Start)> Start("PMPI_Start");
inline constinit const Next<decltype(&MPI_Startall)> Startall("PMPI_Startall");
inline constinit const Next<decltype(&MPI_Request_free)> Request_free("PMPI_Request_free");
inline constinit const Next<decltype(&MPI_Wait)> Wait("PMPI_Wait");
inline constinit const Next<decltype(&MPI_Waitall)> Waitall("PMPI_Waitall");
inline constinit const Next<decltype(&MPI_Waitany)> Waitany("PMPI_Waitany");
inline constinit const Next<decltype(&MPI_Waitsome)> Waitsome("PMPI_Waitsome");
inline constinit const Next<decltype(&MPI_Test)> Test("PMPI_Test");
inline constinit const Next<decltype(&MPI_Testall)> Testall("PMPI_Testall");
inline constinit const Next<decltype(&MPI_Testany)> Testany("PMPI_Testany");
inline constinit const Next<decltype(&MPI_Testsome)> Testsome("PMPI_Testsome");
}  // namespace next

namespace {

/// Of a call that was planned, until a non-blocking one has ended or a persistent one is freed.
struct Handed {
  void* call;
  bool persistent;
  int tag = -1;       ///< of the message that ends it; none before it is known to go on
  bool ended = true;  ///< or not started
  int code = MPI_SUCCESS;
  bool starting = false;  ///< what ends now needs no message
  /// A persistent one that ended in MPI_Start, and that the program has not seen end yet: MPICH's request was not started, which its functions take for
  /// one that has ended, but for those that look for some that have.
  bool quiet = false;
};

MPI_Comm own_self = MPI_COMM_NULL;
bool some_ended = false;  ///< since wake()

/// Even ones in turn for non-blocking calls, odd ones for persistent requests.
int most_tag = 0, next_tag = 0, most_persistent = 1;
std::vector<int> free_tags;
int tag_in_turn() {
  const int tag = next_tag;
  next_tag = next_tag + 2 > most_tag ? 0 : next_tag + 2;
  return tag;
}

std::unordered_map<MPI_Request, Handed*>& persistent() {
  static auto* const all = new std::unordered_map<MPI_Request, Handed*>;
  return *all;
}
/// What was found last.
struct Latest {
  MPI_Request request = MPI_REQUEST_NULL;
  Handed* handed = nullptr;
};
Latest latest;
Handed* persistent_of(const MPI_Request* request) {
  if (persistent().empty() || request == nullptr) return nullptr;
  if (latest.handed != nullptr && latest.request == *request) return latest.handed;
  const auto at = persistent().find(*request);
  if (at == persistent().end()) return nullptr;
  latest = {*request, at->second};
  return at->second;
}

int quiet_ones = 0;
void set_quiet(Handed& one, bool quiet) {
  quiet_ones += static_cast<int>(quiet) - static_cast<int>(one.quiet);
  one.quiet = quiet;
}
/// The program has seen them end.
void seen_to_end(int count, const MPI_Request* requests) {
  for (int i = 0; quiet_ones > 0 && i < count; ++i) {
    if (Handed* const own = persistent_of(&requests[i])) set_quiet(*own, false);
  }
}

/// Its request, which is started, ends.
void announce(const Handed& one) {
  some_ended = true;
  static const char byte = 0;  // more than the receive has room for: it ends with an error
  MPI_Request sent = MPI_REQUEST_NULL;
  PMPI_Isend(&byte, one.code == MPI_SUCCESS ? 0 : 1, MPI_BYTE, 0, one.tag, own_self, &sent);
  PMPI_Request_free(&sent);
}

/// Quiet ones among these end as all others do.
void make_heard(int count, MPI_Request* requests) {
  for (int i = 0; quiet_ones > 0 && i < count; ++i) {
    Handed* const own = persistent_of(&requests[i]);
    if (own == nullptr || !own->quiet) continue;
    set_quiet(*own, false);
    if (next::Start(&requests[i]) == MPI_SUCCESS) announce(*own);
  }
}

void forget(Handed* one) {
  const std::unique_ptr<Handed> last(one);
  chasqui_component_forget(one->call);
}

extern "C" {
static int query(void*, MPI_Status*) { return MPI_SUCCESS; }
static int release(void*) { return MPI_SUCCESS; }
static int cancel(void*, int) { return MPI_SUCCESS; }
}

int start_again(Handed& one, MPI_Request* request) {
  follow_progress();
  set_quiet(one, false);
  one.ended = false;
  one.starting = true;
  const int code = chasqui_component_start(one.call, &one, 1);
  one.starting = false;
  if (code == MPI_SUCCESS && one.ended && one.code == MPI_SUCCESS) {
    set_quiet(one, true);
    return MPI_SUCCESS;
  }
  const int started = next::Start(request);
  if (started != MPI_SUCCESS) return started;
  if (one.ended) announce(one);
  else if (code != MPI_SUCCESS) chasqui_component_complete(&one, code);
  return MPI_SUCCESS;
}

}  // namespace

void open_requests() {
  if (PMPI_Comm_dup(MPI_COMM_SELF, &own_self) != MPI_SUCCESS) throw Error("MPI_Comm_dup failed");
  PMPI_Comm_set_errhandler(own_self, MPI_ERRORS_RETURN);
  int* most = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(own_self, MPI_TAG_UB, static_cast<void*>(&most), &found);
  most_tag = found != 0 ? *most : 32767;
}

void close_requests() {
  if (own_self != MPI_COMM_NULL) PMPI_Comm_free(&own_self);
}

void wake() {
  if (!std::exchange(some_ended, false)) return;
  MPI_Request none = MPI_REQUEST_NULL;
  if (PMPI_Grequest_start(query, release, cancel, nullptr, &none) != MPI_SUCCESS) return;
  PMPI_Grequest_complete(none);
  PMPI_Request_free(&none);
}

bool may_go_on(MPI_Comm comm, const MPI_Request* request) {
  return from_program() && comm != MPI_COMM_NULL && request != nullptr;
}

int hand_out(void* call, MPI_Comm comm, MPI_Request* request) {
  follow_progress();
  auto one = std::make_unique<Handed>(Handed{call, false});
  one->ended = false;
  int code = chasqui_component_start(call, one.get(), 0);
  if (code == MPI_SUCCESS && !one->ended) {
    one->tag = tag_in_turn();
    if (PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, one->tag, own_self, request) != MPI_SUCCESS) {
      say_last("MPI_Irecv failed, and the others wait for this rank");
      PMPI_Abort(comm, 1);
    }
    one.release();
    return MPI_SUCCESS;
  }
  if (code == MPI_SUCCESS) code = one->code;
  chasqui_component_forget(call);
  // The quickest request that is complete.
  if (code == MPI_SUCCESS) code = PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, own_self, request);
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

int hand_out_persistent(void* call, MPI_Comm comm, MPI_Request* request) {
  auto one = std::make_unique<Handed>(Handed{call, true});
  if (free_tags.empty() && most_persistent <= most_tag)
    free_tags.push_back(std::exchange(most_persistent, most_persistent + 2));
  one->tag = free_tags.empty() ? -1 : free_tags.back();
  const int code = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, one->tag, own_self, request);
  if (code != MPI_SUCCESS) {
    say_last("MPI_Recv_init failed, and the others plan their requests");
    PMPI_Abort(comm, 1);
    return code;
  }
  free_tags.pop_back();
  persistent()[*request] = one.release();
  return MPI_SUCCESS;
}

// Communicators that see nothing but non-blocking calls are not prepared beside them.
Standing stand(CommState&, MPI_Comm) { return Standing::left; }
int go_on_beside() { return 0; }
void begin_held_back() {}
void abandon_beside() { leave_progress(); }

}  // namespace chasqui::preload

using namespace chasqui::preload;

void chasqui_component_complete(void* request, int code) {
  auto* const one = static_cast<Handed*>(request);
  one->ended = true;
  one->code = code;
  if (one->tag < 0 || one->starting) return;
  announce(*one);
  if (!one->persistent) forget(one);
}

extern "C" int MPI_Start(MPI_Request* request) {
  Handed* const own = persistent_of(request);
  return own == nullptr || !own->ended ? next::Start(request) : start_again(*own, request);
}
CHASQUI_NAMES(Start)

extern "C" int MPI_Startall(int count, MPI_Request requests[]) {
  if (persistent().empty() || requests == nullptr) return next::Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    if (const int code = MPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}
CHASQUI_NAMES(Startall)

extern "C" int MPI_Request_free(MPI_Request* request) {
  Handed* const own = persistent_of(request);
  if (own == nullptr) return next::Request_free(request);
  if (!own->ended) {  // as a request of a collective
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_REQUEST);
    return MPI_ERR_REQUEST;
  }
  set_quiet(*own, false);
  latest = {};
  persistent().erase(*request);
  free_tags.push_back(own->tag);
  forget(own);
  return next::Request_free(request);
}
CHASQUI_NAMES(Request_free)

// Functions that wait for requests that are given, and those that look for some that have ended.

/// True: there is nothing to say about one that was quiet.
static bool ends_quietly(const MPI_Request* request, const MPI_Status* status) {
  if (quiet_ones == 0) return false;
  Handed* const own = persistent_of(request);
  if (own == nullptr || !own->quiet) return false;
  set_quiet(*own, false);
  return status == MPI_STATUS_IGNORE;
}

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return ends_quietly(request, status) ? MPI_SUCCESS : next::Wait(request, status);
}
CHASQUI_NAMES(Wait)

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (flag == nullptr || !ends_quietly(request, status)) return next::Test(request, flag, status);
  *flag = 1;
  return MPI_SUCCESS;
}
CHASQUI_NAMES(Test)

extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (quiet_ones > 0 && requests != nullptr) seen_to_end(count, requests);
  return next::Waitall(count, requests, statuses);
}
CHASQUI_NAMES(Waitall)

extern "C" int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const int code = next::Testall(count, requests, flag, statuses);
  if (quiet_ones > 0 && requests != nullptr && flag != nullptr && *flag != 0) seen_to_end(count, requests);
  return code;
}
CHASQUI_NAMES(Testall)

extern "C" int MPI_Waitany(int count, MPI_Request requests[], int* which, MPI_Status* status) {
  if (quiet_ones > 0 && requests != nullptr) make_heard(count, requests);
  return next::Waitany(count, requests, which, status);
}
CHASQUI_NAMES(Waitany)

extern "C" int MPI_Testany(int count, MPI_Request requests[], int* which, int* flag, MPI_Status* status) {
  if (quiet_ones > 0 && requests != nullptr) make_heard(count, requests);
  return next::Testany(count, requests, which, flag, status);
}
CHASQUI_NAMES(Testany)

extern "C" int MPI_Waitsome(int count, MPI_Request requests[], int* ended, int which[], MPI_Status statuses[]) {
  if (quiet_ones > 0 && requests != nullptr) make_heard(count, requests);
  return next::Waitsome(count, requests, ended, which, statuses);
}
CHASQUI_NAMES(Waitsome)

extern "C" int MPI_Testsome(int count, MPI_Request requests[], int* ended, int which[], MPI_Status statuses[]) {
  if (quiet_ones > 0 && requests != nullptr) make_heard(count, requests);
  return next::Testsome(count, requests, ended, which, statuses);
}
CHASQUI_NAMES(Testsome)
