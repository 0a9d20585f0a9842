// SPDX-License-Identifier: MIT
// The tree in a terminal, one rank a line.
#include <fmt/core.h>

#include "chasqui/show/draw.hpp"

namespace chasqui::show {
namespace {

struct Branches {
  const char* middle;
  const char* last;
  const char* through;
  const char* empty;
};

constexpr Branches kUtf8 = {"├─ ", "└─ ", "│  ", "   "};
constexpr Branches kAscii = {"|- ", "`- ", "|  ", "   "};

std::string node_text(const TreeNode& node, const TextStyle& style) {
  std::string text = fmt::format("{} @ {}{}{}", node.rank.index, style.colour ? "\x1b[1m" : "", node.label.ticks,
                                 style.colour ? "\x1b[0m" : "");
  if (node.operands >= 0) text += fmt::format(", {} operand{}", node.operands, node.operands == 1 ? "" : "s");
  return text;
}

}  // namespace

std::string tree_text(const Tree& tree, const TextStyle& style) {
  const Branches& branches = style.utf8 ? kUtf8 : kAscii;
  std::string text = fmt::format("{}\nrank @ {}\n\n", tree.title, tree.label_meaning);
  struct Visit {
    int node;
    std::string prefix;  ///< of the lines below this one
    std::string line;    ///< what stands before this node
  };
  std::vector<Visit> pending;
  if (!tree.nodes.empty()) pending.push_back({0, "", ""});
  while (!pending.empty()) {
    const Visit visit = std::move(pending.back());
    pending.pop_back();
    const TreeNode& node = tree.nodes[static_cast<std::size_t>(visit.node)];
    text += visit.line + node_text(node, style) + "\n";
    for (std::size_t i = node.children.size(); i-- > 0;) {
      const bool last = i + 1 == node.children.size();
      pending.push_back({node.children[i], visit.prefix + (last ? branches.empty : branches.through),
                         visit.prefix + (last ? branches.last : branches.middle)});
    }
  }
  if (tree.unreached > 0)
    text += fmt::format("\n{} not in this tree\n",
                        tree.unreached == 1 ? "1 rank is" : fmt::format("{} ranks are", tree.unreached));
  return text;
}

}  // namespace chasqui::show
