// SPDX-License-Identifier: MIT
// The programs of a communicator, and calls that were made before with the memory that they need, so that planning is paid once.
#pragma once

#include <compare>
#include <memory>
#include <utility>

#include "chasqui/plan/sum.hpp"
#include "chasqui/run/call.hpp"
#include "run/choose/remembered.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/player.hpp"

namespace chasqui::run {

struct PlanCache {
  struct ProgramKey {
    Shape shape;
    Method method;
    std::int64_t parts;
    bool between;  ///< blocks of whole nodes
    auto operator<=>(const ProgramKey&) const = default;
  };
  Remembered<ProgramKey, std::shared_ptr<const Program>> programs;

  /// The program with this key, made by `make` the first time.
  template <typename Make>
  std::shared_ptr<const Program> program(const ProgramKey& key, const Make& make) {
    return programs.get(key, [&] { return std::make_shared<const Program>(make()); });
  }

  /// Bytes that a call keeps for the next one like it.
  static constexpr std::size_t kMostScratch = 65'536;

  /// A blocking call that was made before, with the memory that it needs.
  struct Repeated {
    struct Key {
      Kind kind;
      bool commutative, exclusive;
      std::int32_t root;
      std::size_t bytes, element;
      auto operator<=>(const Key&) const = default;
    };

    Key key{};
    Method method = Method::tree;
    std::shared_ptr<const Program> program;  ///< none: this call goes another way
    Scratch scratch;
  };
  Remembered<Repeated::Key, Repeated> repeated;
  Repeated* latest = nullptr;  ///< the entry of the call before

  /// A summation that was made before. Where its plan is gone, another one may have the address.
  struct PlacedSum {
    std::weak_ptr<const plan::SumPlan> plan;
    std::size_t operands = 0;  ///< of this rank
    std::shared_ptr<const Program> program;
    Scratch scratch;  ///< none where it is larger than kMostScratch: each call has its own

    bool keeps_scratch() const { return program->scratch <= kMostScratch; }
  };
  Remembered<std::pair<const plan::SumPlan*, std::size_t>, PlacedSum> sums;  ///< by plan and bytes of an element
};

}  // namespace chasqui::run
