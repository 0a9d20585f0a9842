// SPDX-License-Identifier: MIT
#include "serve.hpp"

#include <exception>
#include <new>
#include <string>

#include "chasqui/base/clock.hpp"
#include "chasqui/run/choose.hpp"
#include "preload/report.hpp"
#include "settings.hpp"
#include "verify.hpp"

namespace chasqui::preload {

std::atomic<bool> active{false};
thread_local int inside_of_chasqui = 0;

namespace {

class Inside {
 public:
  Inside() { ++inside_of_chasqui; }
  ~Inside() { --inside_of_chasqui; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

constexpr std::uint64_t kReferences = 3;  ///< native calls timed beside the reproducible ones

struct Path {
  enum Way { native, compare_native, compare_ours, ours, both, in_order } way = native;
  bool comparing() const { return way == compare_native || way == compare_ours; }
  State* state = nullptr;
  Cell* cell = nullptr;
  Demand demand;
};

/// What the profile says about a cell that is new.
void ask_profile(State& state, Cell& cell, const Demand& demand) {
  cell.asked = true;
  const run::Query query{demand.shape.kind, demand.shape.kind == Kind::barrier ? 0 : demand.bytes, demand.shape.element,
                         demand.shape.op.combine == nullptr || demand.shape.op.commutative};
  const auto list = run::choices(query, state.comm->terrain(), *settings().profile);
  for (const auto& choice : list) {
    if (choice.method == run::Method::native) continue;
    cell.plan = run::to_string(choice.method);
    cell.predicted = choice.nanoseconds;
    break;
  }
  if (list.front().method == run::Method::native && settings().trials > 0) cell.verdict = Verdict::native;
}

void find_way(Collective what, MPI_Comm comm, const Parts& parts, Path& path) {
  const Settings& s = settings();
  const auto passed = [what](Reason reason) { note(what, reason); };
  if (s.disabled[static_cast<int>(what)]) return passed(Reason::disabled);
  bury_the_dead();
  State* state = state_of(comm);
  if (state == nullptr) return passed(Reason::argument);
  path.state = state;
  ++state->calls;
  if (state->never != Reason::none) return passed(state->never);
  path.demand = parts.look(*state);
  const bool folds = path.demand.folds != MPI_DATATYPE_NULL;
  if (s.reproducible && folds && (path.demand.reason == Reason::none || path.demand.reason == Reason::too_long)) {
    look_for_foreigners(*state, comm);
    if (state->never != Reason::none) return passed(state->never);
    path.cell = &state->cell(what, path.demand.bytes);
    path.way = Path::in_order;
    return;
  }
  if (!state->prepared) {
    if (state->calls <= s.after) return passed(Reason::early);
    prepare(*state, comm);
    if (state->never != Reason::none) return passed(state->never);
  }
  if (path.demand.reason != Reason::none) return passed(path.demand.reason);
  Cell& cell = state->cell(what, path.demand.bytes);
  path.cell = &cell;
  if (!cell.asked) ask_profile(*state, cell, path.demand);
  if (s.verify) {
    path.way = Path::both;
    return;
  }
  switch (next_turn(cell, static_cast<std::uint32_t>(s.trials))) {
    case Turn::ours: path.way = Path::ours; break;
    case Turn::native: ++cell.native_calls; return passed(Reason::slower);
    case Turn::try_ours: path.way = Path::compare_ours; break;
    case Turn::try_native:
      path.way = Path::compare_native;
      note(what, Reason::comparing);
      break;
  }
}

/// After the last timed call every rank learns what all saw, and decides alike.
void agree(Collective what, const Path& path) {
  Cell& cell = *path.cell;
  const auto trials = static_cast<std::uint32_t>(settings().trials);
  if (!complete(cell, trials)) return;
  const double begin = clock_now();
  double mine[2] = {typical(cell.ours_seen), typical(cell.native_seen)};
  double most[2] = {0, 0};
  PMPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, path.state->own);
  conclude(cell, most[0], most[1], trials);
  cell.spent += clock_now() - begin;
  note_verdict(what, path.demand.bytes, cell);
}

constexpr int kDeclined = -1;  ///< all ranks alike: the MPI library does it

/// Returns MPI_SUCCESS, kDeclined, or the error that the program gets.
int attempt(Collective what, Work& work, const Ref<void(Work&)>& way) {
  int code = MPI_ERR_OTHER;
  try {
    way(work);
    return MPI_SUCCESS;
  } catch (const Declined& declined) {
    return note(what, declined.reason), kDeclined;
  } catch (const std::bad_alloc&) {  // here alone: the others must not wait for this rank
    say(std::string("MPI_") + std::string(to_string(what)) + ": no memory for the private buffers");
    work.give_up("a rank has no memory");
    code = MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    if (!work.begun()) {
      note(what, Reason::failed);
      if (settings().log) say(error.what());
      return kDeclined;
    }
    say(std::string("MPI_") + std::string(to_string(what)) + ": " + error.what());
  } catch (...) {
    if (!work.begun()) return note(what, Reason::failed), kDeclined;
    say("an operator threw");
  }
  PMPI_Comm_call_errhandler(work.comm(), code);
  return code;
}

int run_ours(Collective what, MPI_Comm comm, const Parts& parts, Path& path) {
  Cell& cell = *path.cell;
  const bool timed = path.way != Path::ours || !settings().report.empty();
  const double begin = timed ? clock_now() : 0;
  Work work(*path.state, comm);
  int code = attempt(what, work, path.way == Path::in_order ? parts.in_order : parts.ours);
  ++(code == kDeclined ? cell.native_calls : cell.ours_calls);
  if (code == kDeclined) code = parts.native();
  cell.bytes += path.demand.bytes;
  cell.saved += cell.native_typical - cell.ours_typical;
  if (!timed) return code;
  const double time = clock_now() - begin;
  cell.ours_time += time;
  ++cell.ours_timed;
  if (path.way != Path::compare_ours) return code;
  saw(cell, Turn::try_ours, time, static_cast<std::uint32_t>(settings().trials));
  agree(what, path);
  return code;
}

int run_native(const Parts& parts, Path& path) {
  Cell& cell = *path.cell;
  const double begin = clock_now();
  const int code = parts.native();
  const double time = clock_now() - begin;
  ++cell.native_calls;
  cell.native_time += time;
  ++cell.native_timed;
  if (path.comparing()) saw(cell, Turn::try_native, time, static_cast<std::uint32_t>(settings().trials));
  return code;
}

/// Both, on the same input; the program keeps the MPI library's result.
int run_both(Collective what, MPI_Comm comm, const Parts& parts, Path& path) {
  const Region before(path.demand.out, path.demand.touched);
  const int code = run_native(parts, path);
  if (code != MPI_SUCCESS) return code;
  const Region native(path.demand.out, path.demand.touched);
  before.restore();
  const int ours = run_ours(what, comm, parts, path);
  if (ours != MPI_SUCCESS) return ours;
  const double worst = difference(native, path.demand);
  note_verified(what, worst == 0, worst);
  native.restore();
  return MPI_SUCCESS;
}

int run_in_order(Collective what, MPI_Comm comm, const Parts& parts, Path& path) {
  Cell& cell = *path.cell;
  cell.plan = "in order";
  if (cell.native_timed < kReferences) {
    const Region before(path.demand.out, path.demand.touched);
    const int code = run_native(parts, path);
    --cell.native_calls;  // a reference, not a call of the program
    if (code != MPI_SUCCESS) return code;
    before.restore();
  }
  return run_ours(what, comm, parts, path);
}

}  // namespace

int serve_actively(Collective what, MPI_Comm comm, const Parts& parts) {
  const Inside inside;
  Path path;
  try {
    find_way(what, comm, parts, path);
  } catch (const std::exception& error) {
    note(what, Reason::failed);
    if (settings().log) say(error.what());
    path.way = Path::native;
  }
  switch (path.way) {
    case Path::native: return parts.native();
    case Path::compare_native: return run_native(parts, path);
    case Path::both: return run_both(what, comm, parts, path);
    case Path::in_order: return run_in_order(what, comm, parts, path);
    default: return run_ours(what, comm, parts, path);
  }
}

void pass_on(Collective what) {
  if (!active.load(std::memory_order_relaxed) || inside_of_chasqui != 0) return;
  const bool folds = what == Collective::Ireduce || what == Collective::Iallreduce || what == Collective::Iscan ||
                     what == Collective::Iexscan || what == Collective::Ireduce_scatter ||
                     what == Collective::Ireduce_scatter_block;
  note(what, folds && settings().reproducible ? Reason::irreproducible : Reason::nonblocking);
}

}  // namespace chasqui::preload
