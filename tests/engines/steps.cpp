// SPDX-License-Identifier: MIT
#include <csignal>
#include <map>
#include <stdexcept>
#include <utility>

#include "stepping.hpp"
#include "suite.hpp"

namespace chasqui::engines {

void run_marked(run::Comm& comm) {
  std::signal(kMark, SIG_IGN);
  for (const int count : {3, 20'000}) {
    std::map<std::pair<Kind, bool>, std::unique_ptr<Case>> one_of_each;
    for (const auto& recipe : recipes(comm.size(), {1}, {count})) {
      auto made = recipe.make(comm.rank(), comm.size());
      const std::pair kind{made->call.kind, made->call.uneven()};
      one_of_each.try_emplace(kind, std::move(made));
    }
    for (const auto& [kind, one] : one_of_each) {
      std::raise(kMark);
      comm.run(one->call);
      std::raise(kMark);
      if (const auto wrong = one->check(); !wrong.empty()) throw std::runtime_error(wrong);
    }
  }
}

}  // namespace chasqui::engines
