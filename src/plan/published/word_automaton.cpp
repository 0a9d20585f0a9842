// SPDX-License-Identifier: MIT
#include "chasqui/plan/word_automaton.hpp"

#include <fmt/core.h>

#include <map>

#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

using State = std::vector<std::int32_t>;

/// May `letter` follow? Its item must not be the one received `back` steps ago.
bool may_follow(const State& before, std::int32_t letter) {
  for (std::size_t back = 1; back <= before.size(); ++back) {
    if (before[before.size() - back] == letter + static_cast<std::int32_t>(back)) return false;
  }
  return true;
}

void list_states(State& state, std::int64_t L, std::vector<State>& states) {
  if (std::ssize(state) == L - 1) {
    states.push_back(state);
    return;
  }
  for (std::int32_t letter = 0; letter < L; ++letter) {
    if (!may_follow(state, letter)) continue;
    state.push_back(letter);
    list_states(state, L, states);
    state.pop_back();
  }
}

/// reach[s][v]: is there a walk of at least one edge from s to v? (The automaton is small.)
std::vector<std::vector<bool>> reachability(std::size_t n, const std::vector<WordAutomaton::Edge>& edges) {
  std::vector<std::vector<std::size_t>> next(n);
  for (const auto& edge : edges) next[edge.from].push_back(edge.to);
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n));
  for (std::size_t s = 0; s < n; ++s) {
    std::vector<std::size_t> stack = next[s];
    while (!stack.empty()) {
      const std::size_t v = stack.back();
      stack.pop_back();
      if (reach[s][v]) continue;
      reach[s][v] = true;
      stack.insert(stack.end(), next[v].begin(), next[v].end());
    }
  }
  return reach;
}

}  // namespace

WordAutomaton word_automaton(std::int64_t L) {
  if (L < 2 || L > 6) throw Error("L={}: the word automaton is drawn for 2 <= L <= 6; it has about L^(L-1) states", L);
  WordAutomaton all;
  all.L = L;
  State state;
  list_states(state, L, all.states);
  std::map<State, std::size_t> number;
  for (std::size_t s = 0; s < all.states.size(); ++s) number[all.states[s]] = s;
  for (std::size_t s = 0; s < all.states.size(); ++s) {
    for (std::int32_t letter = 0; letter < L; ++letter) {
      if (!may_follow(all.states[s], letter)) continue;
      State next(all.states[s].begin() + 1, all.states[s].end());
      next.push_back(letter);
      all.edges.push_back({s, letter, number.at(next)});
    }
  }
  const auto reach = reachability(all.states.size(), all.edges);
  WordAutomaton kept;
  kept.L = L;
  std::vector<std::size_t> place(all.states.size(), all.states.size());
  const auto on_a_walk = [&](std::size_t s) {  // that begins and ends in some start state
    for (std::size_t start = 0; start < all.states.size(); ++start) {
      if (all.states[start].front() == L - 1 && reach[start][s] && reach[s][start]) return true;
    }
    return false;
  };
  for (std::size_t s = 0; s < all.states.size(); ++s) {
    if (!on_a_walk(s)) continue;
    place[s] = kept.states.size();
    kept.states.push_back(all.states[s]);
    kept.starts.push_back(all.states[s].front() == L - 1);
  }
  for (const auto& edge : all.edges) {
    if (place[edge.from] < all.states.size() && reach[edge.to][edge.from])
      kept.edges.push_back({place[edge.from], edge.letter, place[edge.to]});
  }
  return kept;
}

std::string spell(const State& letters) {
  std::string text;
  for (const std::int32_t letter : letters) {
    if (letter >= 0 && letter < 26) {
      text += static_cast<char>('a' + letter);
    } else {
      text += fmt::format("x{}", letter);
    }
  }
  return text;
}

std::string to_text(const WordAutomaton& automaton) {
  std::string text =
      fmt::format("legal words for L={}: {} states, a start state in (( ))\n", automaton.L, automaton.states.size());
  for (std::size_t s = 0; s < automaton.states.size(); ++s) {
    const std::string name = spell(automaton.states[s]);
    text += automaton.starts[s] ? fmt::format("(({}))", name) : fmt::format(" ({}) ", name);
    for (const auto& edge : automaton.edges) {
      if (edge.from != s) continue;
      text += fmt::format("  --{}--> {}", spell({edge.letter}), spell(automaton.states[edge.to]));
    }
    text += '\n';
  }
  return text;
}

}  // namespace chasqui::plan
