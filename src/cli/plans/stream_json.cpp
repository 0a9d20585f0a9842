// SPDX-License-Identifier: MIT
#include "cli/plans/stream_json.hpp"

#include <nlohmann/json.hpp>

namespace chasqui::cli {

using Json = nlohmann::ordered_json;

std::string stream_json(const plan::Stream& stream, const std::optional<std::vector<plan::StreamMessage>>& messages) {
  Json object = {{"P", stream.P()}, {"L", stream.L()}, {"root", stream.root()}};
  object["delay"] = stream.delay().ticks;
  object["bound"] = stream.bound().ticks;
  object["optimal"] = stream.claim().optimal();
  object["bound_source"] = stream.claim().bound_source;
  object["construction"] = stream.claim().construction;
  if (messages) {
    Json list = Json::array();
    for (const plan::StreamMessage& m : *messages) {
      list.push_back({{"t", m.begin.ticks}, {"from", m.from}, {"to", m.to}, {"item", m.item}});
    }
    object["messages"] = std::move(list);
  } else if (const plan::StreamLayout* layout = stream.layout()) {
    object["height"] = layout->t;
    object["tree_latency"] = layout->L;
    Json runs = Json::array();
    for (const plan::StreamRun& run : layout->runs) {
      Json heads = Json::array();
      for (const plan::StreamHead& head : run.heads) {
        heads.push_back({{"position", head.position}, {"label", head.label}, {"children", head.children}});
      }
      runs.push_back({{"blocks", run.blocks}, {"heads", std::move(heads)}, {"word", run.word}});
    }
    object["runs"] = std::move(runs);
    if (layout->receive_only) object["receive_only"] = *layout->receive_only;
  }
  return object.dump(2) + "\n";
}

}  // namespace chasqui::cli
