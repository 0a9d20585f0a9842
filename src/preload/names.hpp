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

enum class Reason : int {
  none,
  disabled,
  early,
  short_lived,
  one_rank,
  inter,
  foreign,
  no_room,
  empty,
  too_long,
  operation,
  argument,
  uneven,
  nonblocking,
  unsized,
  unverified,
  unprepared,
  threads,
  many_turns,
  slower,
  comparing,
  irreproducible,
  broken,
  failed,
};
inline constexpr int kReasons = static_cast<int>(Reason::failed) + 1;
inline constexpr std::string_view kReasonTexts[kReasons] = {
    "served",
    "disabled by CHASQUI_DISABLE",
    "one of the first calls on its communicator (CHASQUI_AFTER)",
    "a reduction that rounds, on a communicator that was not prepared in time: it stays with the MPI library",
    "a communicator of one rank",
    "an inter-communicator",
    "ranks that are not of this MPI_COMM_WORLD",
    "the private communicator or its memory could not be made",
    "no data",
    "too long for the private buffers",
    "an operation that is not known to be defined for the datatype",
    "an argument that the MPI library must judge",
    "blocks of very different sizes",
    "non-blocking: progress belongs to the MPI library",
    "non-blocking with sizes that the root alone knows: they would have to be sent first",
    "non-blocking: not verified",
    "non-blocking on a communicator without a blocking collective before (CHASQUI_AFTER)",
    "non-blocking with MPI_THREAD_MULTIPLE: any thread may go on with it",
    "non-blocking and so long that it takes many turns",
    "the MPI library's own is faster",
    "being compared with the MPI library's own",
    "non-blocking reductions are not reproducible",
    "a collective on this communicator failed before",
    "an error inside before anything was sent",
};

}  // namespace chasqui::preload
