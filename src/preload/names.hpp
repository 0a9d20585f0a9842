// SPDX-License-Identifier: MIT
// The collectives that are interposed, and the reasons for which a call goes to the MPI library.
#pragma once

#include <string_view>

#include "preload/collectives.h"

namespace chasqui::preload {

enum class Collective : int {
#define CHASQUI_NAME(Name, name, parameters, arguments) Name,
#define CHASQUI_INAME(Name, name, parameters, arguments) I##name,
#define CHASQUI_NAME_INIT(Name, name, parameters, arguments) Name##_init,
  CHASQUI_COLLECTIVES(CHASQUI_NAME) CHASQUI_COLLECTIVES(CHASQUI_INAME) CHASQUI_COLLECTIVES(CHASQUI_NAME_INIT)
#undef CHASQUI_NAME
#undef CHASQUI_INAME
#undef CHASQUI_NAME_INIT
};
inline constexpr int kServed = static_cast<int>(Collective::Ibarrier), kCollectives = 3 * kServed;

enum class Form : int { blocking, nonblocking, persistent };
/// The form of a blocking collective.
constexpr Collective in_form(Collective blocking, Form form) {
  return static_cast<Collective>(static_cast<int>(blocking) + static_cast<int>(form) * kServed);
}
static_assert(in_form(Collective::Scatterv, Form::nonblocking) == Collective::Iscatterv);
static_assert(in_form(Collective::Scatterv, Form::persistent) == Collective::Scatterv_init);

inline constexpr std::string_view kNames[kCollectives] = {
#define CHASQUI_NAME(Name, name, parameters, arguments) #Name,
#define CHASQUI_INAME(Name, name, parameters, arguments) "I" #name,
#define CHASQUI_NAME_INIT(Name, name, parameters, arguments) #Name "_init",
    CHASQUI_COLLECTIVES(CHASQUI_NAME) CHASQUI_COLLECTIVES(CHASQUI_INAME) CHASQUI_COLLECTIVES(CHASQUI_NAME_INIT)
#undef CHASQUI_NAME
#undef CHASQUI_INAME
#undef CHASQUI_NAME_INIT
};
inline std::string_view to_string(Collective what) { return kNames[static_cast<int>(what)]; }

/// Why a call goes to the MPI library, with the words of the report.
#define CHASQUI_REASONS(X)                                                                                     \
  X(none, "served")                                                                                            \
  X(disabled, "disabled by CHASQUI_DISABLE")                                                                   \
  X(early, "one of the first calls on its communicator (CHASQUI_AFTER)")                                       \
  X(short_lived,                                                                                               \
    "a reduction that rounds, on a communicator that was not prepared in time: it stays with the MPI library") \
  X(one_rank, "a communicator of one rank")                                                                    \
  X(inter, "an inter-communicator")                                                                            \
  X(foreign, "ranks that are not of this MPI_COMM_WORLD")                                                      \
  X(no_room, "the private communicator or its memory could not be made")                                       \
  X(empty, "no data")                                                                                          \
  X(too_long, "too long for the private buffers")                                                              \
  X(operation, "an operation that is not known to be defined for the datatype")                                \
  X(argument, "an argument that the MPI library must judge")                                                   \
  X(uneven, "blocks of very different sizes")                                                                  \
  X(nonblocking, "non-blocking: progress belongs to the MPI library")                                          \
  X(unverified, "non-blocking: not verified")                                                                  \
  X(unprepared, "non-blocking on a communicator that was not prepared yet (CHASQUI_AFTER)")                    \
  X(threads, "non-blocking with MPI_THREAD_MULTIPLE: any thread may go on with it")                            \
  X(many_requests, "more live persistent requests than there are private buffers for")                         \
  X(many_turns, "non-blocking and so long that it takes many turns")                                           \
  X(slower, "the MPI library's own is faster")                                                                 \
  X(comparing, "being compared with the MPI library's own")                                                    \
  X(irreproducible, "non-blocking reductions are not reproducible")                                            \
  X(broken, "a collective on this communicator failed before")                                                 \
  X(failed, "an error inside before anything was sent")

enum class Reason : int {
#define CHASQUI_REASON(name, text) name,
  CHASQUI_REASONS(CHASQUI_REASON)
#undef CHASQUI_REASON
};
inline constexpr std::string_view kReasonTexts[] = {
#define CHASQUI_REASON(name, text) text,
    CHASQUI_REASONS(CHASQUI_REASON)
#undef CHASQUI_REASON
};
inline constexpr int kReasons = sizeof kReasonTexts / sizeof kReasonTexts[0];

}  // namespace chasqui::preload
