// SPDX-License-Identifier: MIT
#include "preload/component/beside.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "preload/component/component.h"
#include "preload/component/fiber.hpp"
#include "preload/component/message_talk.hpp"
#include "preload/component/ongoing.hpp"
#include "preload/private_comm.hpp"
#include "preload/report.hpp"
#include "preload/start/settings.hpp"
#include "preload/this_thread.hpp"

namespace chasqui::preload {
namespace {

constexpr std::int64_t kBeside = 8;  ///< calls that go to Open MPI meanwhile; no more than CHASQUI_AFTER

/// A call that waits for the communicator to be prepared.
struct HeldBack {
  void* call;     ///< as it was planned; nullptr: it goes below in any case
  void* request;  ///< the program's
  MPI_Comm comm;
  std::function<int(void** request)> below;
};

/// One that went below then.
struct Below {
  void* inner;    ///< Open MPI's request
  void* request;  ///< the program's
  MPI_Comm comm;
};

/// While this lives the flag is set.
class Alone {
 public:
  explicit Alone(bool& flag) : flag_(flag), before_(std::exchange(flag, true)) {}
  ~Alone() { flag_ = before_; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  bool& flag_;
  bool before_;
};

class Beside;
/// One thread at a time is in all of this: MPI_THREAD_MULTIPLE is left to the MPI library.
struct Everything {
  std::vector<Beside*> preparing, holding;  ///< those that have not ended; those that hold something back
  std::vector<Below> below;
  std::uint64_t begun = 0;
  bool going_on = false, beginning = false;

  bool empty() const { return preparing.empty() && holding.empty() && below.empty(); }
};
Everything& everything() {
  static auto* const one = new Everything;
  return *one;
}

/// INVARIANTS: it is one of everything().preparing until the fiber has ended, and of holding while `module_` is held; each of the two
/// keeps the state.
class Beside final : public Preparation {
 public:
  Beside(CommState& state, MPI_Comm comm, int tag)
      : state_(state), world_(world_ranks(comm, state.size)), tag_(tag),
        from_(state.calls + std::min(settings().after, kBeside)),
        talk_(private_world(), world_, state.rank, tag, fiber_),
        fiber_([this] { made_ = make_private_by(talk_, world_); }) {
    Everything& all = everything();
    number_ = ++all.begun;
    for (const Beside* each : all.preparing) {
      if (each->tag_ == tag) before_ = each->number_;
    }
    chasqui_component_keep_going();
    all.preparing.push_back(this);
    ++state_.lasting;
  }
  ~Beside() override = default;

  bool due(std::int64_t call) const { return call >= from_; }
  bool ended() const { return fiber_.ended(); }

  /// REQUIRES that it has not ended. True: it has ended now.
  bool step() {
    const auto& others = everything().preparing;
    const auto is_before = [this](const Beside* each) { return each->number_ == before_; };
    if (before_ != 0 && std::any_of(others.begin(), others.end(), is_before)) return false;
    before_ = 0;
    if (!talk_.goes_on()) return false;
    const double begin = clock_now();
    {
      const Inside inside;
      ThisThread& thread = this_thread();
      const bool in_engine = std::exchange(thread.in_engine, true);
      fiber_.resume();
      thread.in_engine = in_engine;
    }
    took_ += clock_now() - begin;
    if (ended()) --state_.lasting;
    return ended();
  }

  /// The component's other half sends the next calls on this communicator here.
  void hold() {
    if (module_ != nullptr) return;
    module_ = chasqui_component_hold(this);
    everything().holding.push_back(this);
    ++state_.lasting;
  }
  void hold_back(HeldBack one) { held_.push_back(std::move(one)); }

  /// What was held back begins, and this is no more. REQUIRES ended().
  void let_go() {
    const std::unique_ptr<Preparation> self = std::move(state_.beside);
    const Alone alone(everything().beginning);
    state_.comm = std::move(made_);
    if (state_.comm == nullptr) state_.never = Reason::no_room;
    state_.prepared = true;
    note_prepared(took_);
    for (; !held_.empty(); held_.pop_front()) begin(held_.front());
    if (module_ == nullptr) return;
    chasqui_component_release(module_);
    std::erase(everything().holding, this);
    --state_.lasting;
  }

  void finish() override {
    const CommState& state = state_;  // this may be no more after a turn
    while (state.beside.get() == this && !ended()) chasqui_component_progress();
    if (state.beside.get() == this) let_go();
  }

  /// In MPI_Finalize.
  void abandon() {
    fiber_.abandon();
    held_.clear();
  }

 private:
  void begin(const HeldBack& one) const {
    int code = MPI_SUCCESS;
    if (one.call != nullptr && state_.comm != nullptr) {
      code = chasqui_component_start(one.call, one.request, 0);
    } else {
      if (one.call != nullptr) leave(chasqui_component_take_call(one.request), state_.never);
      void* inner = nullptr;
      code = one.below(&inner);
      if (code == MPI_SUCCESS) return everything().below.push_back({inner, one.request, one.comm});
    }
    if (code != MPI_SUCCESS) chasqui_component_complete(one.request, code);
    chasqui_component_release_comm(one.comm);
  }

  CommState& state_;
  const std::vector<int> world_;  ///< ranks of MPI_COMM_WORLD
  const int tag_;
  std::uint64_t number_ = 0, before_ = 0;  ///< of this one; of one with the same tag, 0: there is none
  const std::int64_t from_;                ///< the number of the first call that waits for it
  double took_ = 0;                        ///< nanoseconds
  std::unique_ptr<run::Comm> made_;
  MessageTalk talk_;
  Fiber fiber_;
  void* module_ = nullptr;  ///< that sends calls here
  std::deque<HeldBack> held_;
};

/// Where it is known what to do with what was held back.
void begin_what_may() {
  Everything& all = everything();
  if (all.beginning) return;
  const auto known = [](const Beside* each) { return each->ended(); };
  for (auto at = all.holding.begin();
       (at = std::find_if(all.holding.begin(), all.holding.end(), known)) != all.holding.end();)
    (*at)->let_go();
}

int end_what_went_below() {
  auto& below = everything().below;
  std::vector<std::pair<Below, int>> completed;
  std::erase_if(below, [&](const Below& one) {
    int code = MPI_SUCCESS;
    if (chasqui_component_ended_below(one.inner, &code) == 0) return false;
    completed.emplace_back(one, code);
    return true;
  });
  for (const auto& [one, code] : completed) {
    chasqui_component_complete(one.request, code);
    chasqui_component_release_comm(one.comm);
  }
  return static_cast<int>(completed.size());
}

}  // namespace

Standing stand(CommState& state, MPI_Comm comm) {
  if (state.beside == nullptr) {
    if (state.calls <= settings().after) return Standing::left;
    look_for_foreigners(state, comm);
    if (state.never != Reason::none) return Standing::ready;
    const std::optional<int> tag = tag_beside(chasqui_component_number(comm));
    if (!tag) return Standing::left;
    state.beside = std::make_unique<Beside>(state, comm, *tag);
    go_on_beside();
  }
  auto& beside = static_cast<Beside&>(*state.beside);
  if (!beside.due(state.calls)) return Standing::left;
  if (beside.ended()) {
    beside.let_go();
    return Standing::ready;
  }
  beside.hold();
  return Standing::held;
}

int go_on_beside() {
  Everything& all = everything();
  if (all.empty() || all.going_on) return 0;
  const Alone alone(all.going_on);
  for (std::size_t i = 0; i < all.preparing.size();) {
    if (!all.preparing[i]->step()) ++i;
    else all.preparing.erase(all.preparing.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!this_thread().in_engine) begin_what_may();
  return end_what_went_below();
}

void begin_held_back() {
  if (!everything().holding.empty()) begin_what_may();
}

void abandon_beside() {
  Everything& all = everything();
  for (Beside* const each : all.preparing) each->abandon();
  all.preparing.clear();
  all.holding.clear();
  all.below.clear();
}

}  // namespace chasqui::preload

using namespace chasqui::preload;

namespace {

/// How long the arrays are that say what this rank gives and what it takes.
struct Lengths {
  int give = 0, take = 0;
};
Lengths neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED, rank = 0, given = 0, taken = 0, weighted = 0;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &given);
    taken = given *= 2;
  } else if (kind == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &given);
    taken = given;
  } else {
    PMPI_Dist_graph_neighbors_count(comm, &taken, &given, &weighted);
  }
  return {given, taken};
}

/// An argument of a call that is held back. The program need not keep its arrays; they are copied where this rank's count.
template <typename T>
struct Kept {
  Kept(T argument, int) : value(argument) {}
  T get() const { return value; }
  T value;
};
template <typename T>
struct KeptArray {
  KeptArray(const T* argument, int length) : value(argument) {
    if (argument != nullptr) copy.assign(argument, argument + length);
  }
  const T* get() const { return copy.empty() ? value : copy.data(); }
  const T* value;
  std::vector<T> copy;
};
template <>
struct Kept<const int*> : KeptArray<int> {
  using KeptArray::KeptArray;
};
template <>
struct Kept<const MPI_Aint*> : KeptArray<MPI_Aint> {
  using KeptArray::KeptArray;
};
template <>
struct Kept<MPI_Datatype const*> : KeptArray<MPI_Datatype> {
  using KeptArray::KeptArray;
};

/// Arrays of a sender in place do not count, and those of MPI_Gatherv and MPI_Scatterv at the root alone.
template <typename... A>
Lengths lengths_of(Collective what, const std::tuple<A...>& given) {
  constexpr std::size_t kLast = sizeof...(A) - 1;
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(std::get<kLast>(given), &rank);
  PMPI_Comm_size(std::get<kLast>(given), &ranks);
  if constexpr (kLast > 0) {
    if constexpr (std::is_same_v<std::tuple_element_t<kLast - 1, std::tuple<A...>>, int>) {
      if ((what == Collective::Gatherv || what == Collective::Scatterv) && rank != std::get<kLast - 1>(given))
        return {};
    }
  }
  bool in_place = false;
  if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<A...>>, const void*>)
    in_place = std::get<0>(given) == MPI_IN_PLACE;
  return {in_place ? 0 : ranks, ranks};
}

template <typename... A>
void hold_back(void* holder, void* module, void* call, void* request, const Lengths& lengths,
               int (*begin)(void* module, void** request, A...), std::type_identity_t<A>... arguments) {
  int length = lengths.give;
  const auto keep = [&]<typename T>(T argument) {
    if constexpr (std::is_same_v<T, void*>) length = lengths.take;  // what follows says what is received
    return Kept<T>(argument, length);
  };
  // In braces: one after the other, as they stand.
  const auto kept = std::make_shared<std::tuple<Kept<A>...>>(std::tuple<Kept<A>...>{keep(arguments)...});
  const MPI_Comm comm = std::get<sizeof...(A) - 1>(std::tuple<A...>(arguments...));
  static_cast<Beside*>(holder)->hold_back(
      {call, request, comm, [begin, module, kept](void** inner) {
         return std::apply([&](const auto&... each) { return begin(module, inner, each.get()...); }, *kept);
       }});
}

}  // namespace

#define CHASQUI_HOLD_BACK_WITH(Name, lengths, parameters, arguments)                                       \
  extern "C" int chasqui_begin_below_##Name(void* module, void** request, CHASQUI_OPEN parameters);        \
  extern "C" void chasqui_hold_back_##Name(void* holder, void* module, void* call, void* request,          \
                                           CHASQUI_OPEN parameters) {                                      \
    hold_back(holder, module, call, request, lengths, chasqui_begin_below_##Name, CHASQUI_OPEN arguments); \
  }
#define CHASQUI_HOLD_BACK(Name, name, parameters, arguments) \
  CHASQUI_HOLD_BACK_WITH(Name, lengths_of(Collective::Name, std::tuple(CHASQUI_OPEN arguments)), parameters, arguments)
#define CHASQUI_HOLD_NEIGHBOURS_BACK(Name, name, parameters, arguments) \
  CHASQUI_HOLD_BACK_WITH(Name, neighbours(comm), parameters, arguments)
CHASQUI_COLLECTIVES(CHASQUI_HOLD_BACK)
CHASQUI_NEIGHBOURHOOD_COLLECTIVES(CHASQUI_HOLD_NEIGHBOURS_BACK)
#undef CHASQUI_HOLD_NEIGHBOURS_BACK
#undef CHASQUI_HOLD_BACK
#undef CHASQUI_HOLD_BACK_WITH
