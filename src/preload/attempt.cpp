// SPDX-License-Identifier: MIT
#include "preload/attempt.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "preload/native.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {
namespace {

bool handled_by(MPI_Errhandler wanted, MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  const bool found = handler == wanted;
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  return found;
}

/// After a failure everything on this communicator goes to the MPI library, from the first call on that no rank has
/// completed here: in those before, ranks are missing that have the result already. Whoever is between the two, which only
/// ranks can be that did not wait for the one that found the failure, gets one error more. Between nodes nobody knows what others
/// have completed, and ranks that begin with different calls of the MPI library would wait for ever: all calls fail there.
bool left_behind(CommState& state) {
  if (state.comm->topology().nodes > 1) return false;
  if (state.failed_in <= run::call_numbers(*state.comm).complete) return false;
  state.never = Reason::broken;
  return true;
}

std::string text_of(Collective what, const std::string& why) { return fmt::format("MPI_{}: {}", to_string(what), why); }

}  // namespace

int raise(MPI_Comm comm, int error_class, const std::string& text) {
  if (!handled_by(MPI_ERRORS_RETURN, comm) || settings().log) say(text);
  int code = error_class;
#ifdef OPEN_MPI
  if (PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS) {
    PMPI_Add_error_string(code, text.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  }
#endif
  if (kCallsHandlers) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

void end_of_all(Collective what, MPI_Comm comm, const char* why) {
  say_last(fmt::format("MPI_{}: {}: this rank cannot take part in what the others agree on", to_string(what), why));
  PMPI_Abort(comm, 1);
  std::abort();
}

int attempt_after_failure(Collective what, ServedCall& served) {
  CommState& state = served.state();
  const run::CallNumbers numbers = run::call_numbers(*state.comm);
  state.failed_in = state.failed_in != 0 ? state.failed_in + 1 : numbers.begun + numbers.astray + 1;
  if (left_behind(state)) return served.decline(Reason::broken), kDeclined;
  return raise(served.comm(), MPI_ERR_OTHER, text_of(what, "a collective on this communicator failed before"));
}

int after_exception(Collective what, ServedCall& served) {
  CommState& state = served.state();
  int error_class = MPI_ERR_OTHER;
  std::string why;
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {  // here alone: the others must not wait for this rank
      error_class = MPI_ERR_NO_MEM;
      constexpr const char* kWhy = "no memory for the private buffers";
      if (!served.begun()) served.refuse(kWhy);
      throw Error("{}", kWhy);  // they know it, by the same number as that of this call
    } catch (const Truncated& found) {
      return raise(served.comm(), MPI_ERR_TRUNCATE, text_of(what, found.why));
    }
  } catch (const Declined& declined) {
    return served.decline(declined.reason), kDeclined;
  } catch (const std::exception& error) {
    if (!served.begun()) {
      if (settings().log) say(error.what());
      return served.decline(Reason::failed), kDeclined;
    }
    why = error.what();
  } catch (...) {
    if (!served.begun()) return served.decline(Reason::failed), kDeclined;
    why = "an operator threw";
  }
  if (state.comm == nullptr) return raise(served.comm(), error_class, text_of(what, why));
  const run::CallNumbers numbers = run::call_numbers(*state.comm);
  state.failed_in = numbers.begun + numbers.astray;
  if ((numbers.earlier || numbers.astray > 0) && left_behind(state)) {
    if (numbers.found_astray && handled_by(MPI_ERRORS_ARE_FATAL, served.comm()))
      return raise(served.comm(), error_class, text_of(what, why));
    state.astray = numbers.found_astray;
    return served.decline(Reason::broken), kDeclined;
  }
  return raise(served.comm(), error_class, text_of(what, why));
}

}  // namespace chasqui::preload
