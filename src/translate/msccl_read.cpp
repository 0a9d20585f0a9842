// SPDX-License-Identifier: MIT
#include <charconv>
#include <pugixml.hpp>
#include <utility>

#include "base/json_text.hpp"
#include "chasqui/base/error.hpp"
#include "translate/msccl_program.hpp"

namespace chasqui::translate {
namespace {

constexpr std::int64_t kMostGpus = 4096;
constexpr std::int64_t kMostChunks = 1 << 20;

class MscclReader {
 public:
  MscclReader(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  MscclProgram read() {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size());
    if (!result) {
      throw Error("{}: {}: {}; give an XML file of MSCCL", place_,
                  line_and_column(text_, static_cast<std::size_t>(result.offset)), result.description());
    }
    const pugi::xml_node algo = document.child("algo");
    if (!algo) throw Error("{}: no <algo> element: give an XML file of MSCCL", place_);
    MscclProgram program;
    program.name = algo.attribute("name").as_string("unnamed");
    program.kind = kind_of(algo);
    program.in_place = number(algo, "inplace", 0, 1, 0) == 1;
    const std::int64_t gpus = number(algo, "ngpus", 1, kMostGpus, -1);
    program.gpus.resize(static_cast<std::size_t>(gpus));
    std::vector<bool> seen(program.gpus.size());
    for (const pugi::xml_node node : children(algo, "gpu")) {
      const auto id = static_cast<std::size_t>(number(node, "id", 0, gpus - 1));
      if (seen[id]) fail(node, "gpu {} is there twice: keep one", id);
      seen[id] = true;
      program.gpus[id] = gpu(node, gpus);
    }
    for (std::size_t id = 0; id < seen.size(); ++id) {
      if (!seen[id]) fail(algo, "gpu {} of {} is missing", id, gpus);
    }
    program.items = items_of(program, algo);
    return program;
  }

 private:
  template <typename... Arguments>
  [[noreturn]] void fail(const pugi::xml_node& node, fmt::format_string<Arguments...> what, Arguments&&... arguments) {
    throw Error("{}: {}: <{}>: {}", place_, line_and_column(text_, static_cast<std::size_t>(node.offset_debug())),
                node.name(), fmt::format(what, std::forward<Arguments>(arguments)...));
  }

  /// The elements below, which must all have this name.
  std::vector<pugi::xml_node> children(const pugi::xml_node& node, const char* name) {
    std::vector<pugi::xml_node> found;
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (child.name() != std::string_view(name)) fail(child, "only <{}> may stand here", name);
      found.push_back(child);
    }
    return found;
  }

  /// An attribute within bounds. `absent` below the least: it must be there.
  std::int64_t number(const pugi::xml_node& node, const char* name, std::int64_t least, std::int64_t most,
                      std::int64_t absent = -2) {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) {
      if (absent >= least) return absent;
      fail(node, "the attribute {} is missing", name);
    }
    const std::string_view digits = attribute.value();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < least || value > most) {
      fail(node, "{}=\"{}\": use a number from {} to {}", name, digits, least, most);
    }
    return value;
  }

  Kind kind_of(const pugi::xml_node& algo) {
    const std::string_view coll = algo.attribute("coll").as_string();
    if (coll == "reduce_scatter" || coll == "reducescatter") return Kind::reduce_scatter;
    for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::allgather, Kind::alltoall}) {
      if (coll == to_string(kind)) return kind;
    }
    fail(algo, "coll=\"{}\": use allreduce, allgather, reduce_scatter, alltoall, broadcast or reduce", coll);
  }

  MscclGpu gpu(const pugi::xml_node& node, std::int64_t gpus) {
    MscclGpu gpu{number(node, "i_chunks", 0, kMostChunks),
                 number(node, "o_chunks", 0, kMostChunks),
                 number(node, "s_chunks", 0, kMostChunks),
                 {}};
    for (const pugi::xml_node block : children(node, "tb")) {
      const auto id = static_cast<std::size_t>(number(block, "id", 0, kMostChunks));
      if (id != gpu.blocks.size()) fail(block, "id=\"{}\": number the thread blocks 0, 1, 2 …", id);
      gpu.blocks.push_back({number(block, "send", -1, gpus - 1),
                            number(block, "recv", -1, gpus - 1),
                            number(block, "chan", 0, kMostChunks, 0),
                            {}});
      for (const pugi::xml_node line : children(block, "step")) add_step(line, gpu);
    }
    return gpu;
  }

  void add_step(const pugi::xml_node& node, MscclGpu& gpu) {
    MscclBlock& block = gpu.blocks.back();
    if (number(node, "s", 0, kMostChunks) != std::ssize(block.steps)) fail(node, "number the steps 0, 1, 2 …");
    MscclStep step;
    step.type = node.attribute("type").as_string();
    const bool known = step.type == "s" || step.type == "r" || step.type == "rcs" || step.type == "rrs" ||
                       step.type == "rrc" || step.type == "rrcs" || step.type == "cpy" || step.type == "re" ||
                       step.type == "nop";
    if (!known) fail(node, "type=\"{}\": use s, r, rcs, rrs, rrc, rrcs, cpy, re or nop", step.type);
    if (step.sends() && block.send < 0) fail(node, "it sends, but the thread block has send=\"-1\"");
    if (step.receives() && block.receive < 0) fail(node, "it receives, but the thread block has recv=\"-1\"");
    step.depends_on_block = number(node, "depid", -1, kMostChunks, -1);
    step.depends_on_step = number(node, "deps", -1, kMostChunks, -1);
    if (step.type != "nop") {
      step.chunks = number(node, "cnt", 1, kMostChunks);
      const bool reads = step.type == "s" || step.folds() || step.type == "cpy" || step.type == "re";
      const bool writes = step.stores() || step.type == "cpy" || step.type == "re";
      if (reads) step.source = chunk(node, gpu, "srcbuf", "srcoff", step.chunks);
      if (writes) step.target = chunk(node, gpu, "dstbuf", "dstoff", step.chunks);
    }
    block.steps.push_back(std::move(step));
  }

  ChunkPlace chunk(const pugi::xml_node& node, const MscclGpu& gpu, const char* buffer, const char* offset,
                   std::int64_t chunks) {
    const std::string_view name = node.attribute(buffer).as_string();
    if (name != "i" && name != "o" && name != "s") fail(node, "{}=\"{}\": use i, o or s", buffer, name);
    const std::int64_t size = name == "i" ? gpu.input : name == "o" ? gpu.output : gpu.scratch;
    const ChunkPlace place{name.front(), number(node, offset, 0, kMostChunks)};
    if (place.offset + chunks > size)
      fail(node, "{}=\"{}\" with {} chunks: the buffer {} has {}", offset, place.offset, chunks, name, size);
    return place;
  }

  /// How many chunks each problem has must follow from the sizes of the buffers.
  std::int64_t items_of(const MscclProgram& program, const pugi::xml_node& algo) {
    const auto gpus = std::ssize(program.gpus);
    const bool gathers = program.kind == Kind::allgather;
    const std::int64_t whole = gathers ? program.gpus.front().output : program.gpus.front().input;
    const bool shared = gathers || program.kind == Kind::reduce_scatter || program.kind == Kind::alltoall;
    const std::int64_t items = shared ? whole / gpus : whole;
    if (items < 1 || (shared && whole % gpus != 0)) {
      fail(algo, "{} chunks on {} GPUs: {}", whole, gpus,
           shared ? "each needs as many of them" : "there must be at least one");
    }
    for (const MscclGpu& gpu : program.gpus) {
      const bool fits = (gathers ? gpu.output : gpu.input) == whole;
      if (!fits) fail(algo, "the GPUs have buffers of different sizes: give all of them {} chunks", whole);
    }
    return items;
  }

  std::string_view text_;
  std::string_view place_;
};

}  // namespace

MscclProgram read_msccl(std::string_view text, std::string_view place) { return MscclReader(text, place).read(); }

}  // namespace chasqui::translate
