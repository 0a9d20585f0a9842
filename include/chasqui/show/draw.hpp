// SPDX-License-Identifier: MIT
// Drawings, as text for terminals, as SVG, and as Trace Event JSON (Perfetto, chrome://tracing). Nothing is computed
// here that is not in the schedule. Above kLargestPicture processors, or 200 000 messages, every picture turns into a summary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/show/timeline.hpp"

namespace chasqui::show {

inline constexpr std::int64_t kLargestPicture = 512;  ///< processors; above it pictures become summaries

/// Does every picture of it turn into a summary?
bool too_large(const Schedule& schedule);

/// One rank in the tree.
struct TreeNode {
  Rank rank;        ///< who
  Time label;       ///< spreading: when the item is available; gathering: when the send begins (root: all is there)
  int parent = -1;  ///< index into Tree::nodes
  int depth = 0;    ///< 0 at the root
  std::int64_t operands = -1;  ///< sum: how many operands the rank holds
  std::vector<int> children;   ///< in the order of their messages
};
/// How one item spreads, or how contributions flow together.
struct Tree {
  std::string title;            ///< heading
  std::string label_meaning;    ///< "time at which the rank has the item"
  std::vector<TreeNode> nodes;  ///< node 0 is the root; parents come before children
  std::int64_t unreached = 0;   ///< ranks that are not in the tree
};

/// The trees of a schedule.
struct Trees {
  std::int64_t count = 1;          ///< how many there are
  std::string_view each = "item";  ///< what each is of: "item", "into rank", "from rank"
};
/// How many trees a schedule has, and of what.
Trees trees_in(const Schedule& schedule);

/// The tree of a schedule. broadcast, allgather, reduce, reduce-scatter, stream: of one item (`of`, default 0). allreduce, scan,
/// barrier: of what flows into one rank (`of`; default 0, scan: the last); alltoall: of what one gives. scatter, gather, sum: the one
/// there is. Cycles and second receptions of illegal schedules are left out. Throws Error if `of` does not exist.
/// Time: O(n log n) in the messages.
Tree tree_of(const Schedule& schedule, std::optional<std::int64_t> of = {});

/// One entry.
struct Reception {
  Rank rank;             ///< the receiver
  Time time;             ///< available from here on
  Part part;             ///< what it receives
  bool active = false;   ///< it will be forwarded
  bool delayed = false;  ///< it waited in a buffer
};
/// Rows processors, columns time: which item a processor receives when. Active items (the processor will forward them)
/// and delayed ones (they arrived earlier and waited in a buffer behind an active item) are marked.
struct ReceptionTable {
  std::string title;                  ///< heading
  std::int64_t P = 0;                 ///< processors
  bool combining = false;             ///< entries are folds, not items
  std::vector<Time> times;            ///< the columns: times at which something is received
  std::vector<Reception> receptions;  ///< by rank, then time
};

/// When two items reach a processor closer than its gap, the active one is received first and the other waits.
/// Time: O(n log n) in the messages.
ReceptionTable reception_table(const Schedule& schedule);

/// "3", or "+4" for a fold of four contributions.
std::string cell_text(const Reception& reception, bool combining);

/// What is said of a schedule too large to draw: counts and a histogram of receptions over time.
struct Summary {
  std::string title;               ///< heading
  std::int64_t P = 0;              ///< processors
  std::int64_t messages = 0;       ///< of all ranks together
  std::int64_t additions = 0;      ///< of all ranks together; 0 for what is not a sum
  std::int64_t most_sent = 0;      ///< by one rank
  std::int64_t most_received = 0;  ///< by one rank
  /// A span of time.
  struct Bucket {
    Time from;                    ///< inclusive
    Time to;                      ///< exclusive
    std::int64_t receptions = 0;  ///< that end in it
  };
  std::vector<Bucket> histogram;  ///< of the times at which messages become available
};

/// Time: O(messages). Memory: O(ranks that send or receive).
Summary summarise(const Schedule& schedule, int buckets = 16);

/// What a terminal can show.
struct TextStyle {
  bool utf8 = true;     ///< box-drawing characters; otherwise ASCII
  bool colour = false;  ///< escape sequences
  int width = 80;       ///< columns
};

std::string tree_text(const Tree& tree, const TextStyle& style);           ///< indented lines
std::string chart_text(const Timeline& timeline, const TextStyle& style);  ///< a row per processor
std::string table_text(const ReceptionTable& table,
                       const TextStyle& style);                            ///< a row per processor, a column per time
std::string summary_text(const Summary& summary, const TextStyle& style);  ///< counts and a histogram

std::string tree_svg(const Tree& tree);              ///< nodes and edges
std::string chart_svg(const Timeline& timeline);     ///< a row per processor, messages as arrows
std::string table_svg(const ReceptionTable& table);  ///< a row per processor, a column per time
std::string summary_svg(const Summary& summary);     ///< counts and a histogram

/// One track per rank (two, out and in, on machines without overhead), messages as flow arrows.
std::string trace_json(const Timeline& timeline);
/// What to draw.
enum class Picture {
  automatic,  ///< what shows most
  tree,       ///< who has it from whom
  chart,      ///< a line of time for each rank
  table,      ///< who receives what, step by step
  summary,    ///< for schedules too large to draw
};

/// The picture that shows most: a tree where the schedule is one, the table for many items, else the chart.
Picture best_picture(const Schedule& schedule);

/// Draws `what`, or the summary if the schedule is too large for it. `of`: see tree_of.
std::string to_text(const Schedule& schedule, const TextStyle& style, Picture what = Picture::automatic,
                    std::optional<std::int64_t> of = {});
std::string to_svg(const Schedule& schedule, Picture what = Picture::automatic,
                   std::optional<std::int64_t> of = {});  ///< as SVG; `of` is the item or rank whose tree is drawn

/// The picture of a schedule that is not legal: where its title repeats the file's "(optimal)" it says "(ILLEGAL)".
std::string marked_illegal(std::string picture);

}  // namespace chasqui::show
