// SPDX-License-Identifier: MIT
// What a communicator remembers between calls: choices, programs, and calls that were made before, so that planning is
// paid once.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "chasqui/plan/sum.hpp"
#include "chasqui/run/call.hpp"
#include "chasqui/run/choose.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/player.hpp"

namespace chasqui::run {

struct PlanCache {
  static constexpr std::size_t kMost = 512;  ///< entries of each table; then it is emptied

  using ChoiceKey = std::tuple<Kind, std::size_t, std::size_t, bool, bool>;  ///< kind, bytes, element, commutative, own
  using BetweenKey = std::tuple<Kind, std::size_t, std::size_t, bool>;       ///< kind, bytes, element, commutative
  std::map<ChoiceKey, Choice> choices;
  std::map<BetweenKey, Choice> between;  ///< how the leaders of nodes talk

  struct ProgramKey {
    Shape shape;
    Method method;
    std::int64_t parts;
    bool between;  ///< blocks of whole nodes
    auto operator<=>(const ProgramKey&) const = default;
  };
  std::map<ProgramKey, std::shared_ptr<const Program>> programs;

  /// The program with this key, made by `make` the first time.
  template <typename Make>
  std::shared_ptr<const Program> program(const ProgramKey& key, const Make& make) {
    if (const auto found = programs.find(key); found != programs.end()) return found->second;
    if (programs.size() >= kMost) programs.clear();
    return programs.emplace(key, std::make_shared<const Program>(make())).first->second;
  }

  /// A blocking call that was made before, with the memory that it needs.
  struct Repeated {
    struct Key {
      Kind kind;
      bool commutative, exclusive;
      std::int32_t root;
      std::size_t bytes, element;
      auto operator<=>(const Key&) const = default;
    };
    static constexpr std::size_t kMostScratch = std::size_t{1} << 16;  ///< bytes that are kept from call to call

    Key key{};
    Method method = Method::tree;
    std::shared_ptr<const Program> program;  ///< none: this call goes another way
    Scratch scratch;
  };
  std::map<Repeated::Key, Repeated> repeated;
  Repeated* latest = nullptr;  ///< the entry of the call before

  /// A summation that was made before. Where its plan is gone, another one may have the address.
  struct PlacedSum {
    std::weak_ptr<const plan::SumPlan> plan;
    std::size_t operands = 0;  ///< of this rank
    std::shared_ptr<const Program> program;
    Scratch scratch;
  };
  std::map<std::pair<const plan::SumPlan*, std::size_t>, PlacedSum> sums;  ///< by plan and bytes of an element
};

}  // namespace chasqui::run
