// SPDX-License-Identifier: MIT
// An MSCCL program as its file says it: GPUs, their thread blocks, and the steps of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/model/problem.hpp"

namespace chasqui::translate {

/// A place in one of a GPU's buffers: 'i'nput, 'o'utput or 's'cratch.
struct ChunkPlace {
  char buffer = 'i';
  std::int64_t offset = 0;

  friend constexpr auto operator<=>(const ChunkPlace&, const ChunkPlace&) = default;
};

struct MscclStep {
  std::string type;  ///< s r rcs rrs rrc rrcs cpy re nop
  ChunkPlace source;
  ChunkPlace target;
  std::int64_t chunks = 1;
  std::int64_t depends_on_block = -1;  ///< its id, with a step of it; -1: on nothing
  std::int64_t depends_on_step = -1;

  bool receives() const { return type.front() == 'r' && type != "re"; }
  bool sends() const { return type == "s" || type == "rcs" || type == "rrs" || type == "rrcs"; }
  bool folds() const {
    return type == "rrs" || type == "rrc" || type == "rrcs";
  }  ///< what it receives, with the source
  bool stores() const { return receives() && type != "rrs"; }
};

struct MscclBlock {
  std::int64_t send = -1;     ///< to whom; -1: to nobody
  std::int64_t receive = -1;  ///< from whom
  std::int64_t channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  std::int64_t input = 0, output = 0, scratch = 0;  ///< chunks of its buffers
  std::vector<MscclBlock> blocks;
};

struct MscclProgram {
  std::string name;
  Kind kind = Kind::allreduce;
  bool in_place = false;
  std::vector<MscclGpu> gpus;

  /// Items as the problem counts them: chunks in all, of a rank or of a pair.
  std::int64_t items = 1;
};

/// Throws Error with place and remedy for anything that is not such a file.
MscclProgram read_msccl(std::string_view text, std::string_view place);

}  // namespace chasqui::translate
