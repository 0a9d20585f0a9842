// SPDX-License-Identifier: MIT
// All-to-all and reduce-scatter by messages. Reduce-scatter is here where every contribution goes to its reader, who folds
// them in rank order; folds on the way are those of an all-gather backwards (blocks.cpp).
#include <algorithm>

#include "run/call/exchanged.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

/// The distances that have the digit of `shift`, which is z*weight, at that weight.
std::vector<int> distances_with(std::int64_t shift, std::int64_t radix, int ranks) {
  if (radix >= ranks) return {static_cast<int>(shift)};
  std::int64_t weight = 1;
  while (weight * radix <= shift) weight *= radix;
  std::vector<int> found;
  for (std::int64_t d = 1; d < ranks; ++d) {
    if (d / weight % radix * weight == shift) found.push_back(static_cast<int>(d));
  }
  return found;
}

/// All digits above the one that moves are 0: the block arrives.
bool ends(std::int64_t distance, std::int64_t shift, std::int64_t radix) {
  std::int64_t weight = 1;
  while (weight * radix <= shift) weight *= radix;
  return distance < weight * radix;
}

}  // namespace

void add_by_distance(Program& program, const Shape& shape, std::int64_t radix, Address out) {
  const std::size_t bytes = shape.bytes();
  const auto block = [&](Address data, int r) { return data + static_cast<std::size_t>(r) * bytes; };
  const auto rank_at = [&](int distance) { return (shape.rank + distance + shape.size) % shape.size; };
  program.copy(block(out, shape.rank), {block({Memory::input, 0}, shape.rank), bytes});
  if (bytes == 0) return;
  struct Message {
    Step step;
    std::vector<int> distances;
    Address at{Memory::scratch, 0};
    std::int32_t post = 0;
  };
  std::vector<Message> messages;
  for (const Step& step : steps_of(by_distance(shape.size, shape.rank, radix))) {
    Message message{step, distances_with(step.part.lo, radix, shape.size)};
    const std::size_t all = message.distances.size() * bytes;
    if (step.receives) {
      const int only = message.distances.front();
      const bool arrives = message.distances.size() == 1 && ends(only, step.part.lo, radix);
      message.at = arrives ? block(out, rank_at(-only)) : program.more_scratch(all);
      message.post = program.post(step.peer, {message.at, all});
    }
    messages.push_back(std::move(message));
  }
  std::vector<Address> held(static_cast<std::size_t>(shape.size), out);  // by distance: where the block is now
  for (int d = 1; d < shape.size; ++d) held[static_cast<std::size_t>(d)] = block({Memory::input, 0}, rank_at(d));
  for (Message& message : messages) {
    const std::size_t all = message.distances.size() * bytes;
    if (message.step.receives) {
      program.arrive(message.post);
      for (std::size_t i = 0; i < message.distances.size(); ++i) {
        const int d = message.distances[i];
        const Address here = message.at + i * bytes;
        held[static_cast<std::size_t>(d)] = here;
        if (ends(d, message.step.part.lo, radix)) program.copy(block(out, rank_at(-d)), {here, bytes});
      }
      continue;
    }
    if (message.distances.size() == 1) {
      program.send(message.step.peer, {held[static_cast<std::size_t>(message.distances.front())], bytes});
      continue;
    }
    message.at = program.more_scratch(all);
    for (std::size_t i = 0; i < message.distances.size(); ++i)
      program.copy(message.at + i * bytes, {held[static_cast<std::size_t>(message.distances[i])], bytes});
    program.send(message.step.peer, {message.at, all});
  }
}

void add_straight(Program& program, const Shape& shape, Address in, const std::vector<BlockRange>& given, Address out,
                  const std::vector<BlockRange>& gotten) {
  const auto peer = [&](int distance) { return (shape.rank + distance + shape.size) % shape.size; };
  std::vector<std::int32_t> posts;
  for (int k = 1; k < shape.size; ++k) {
    const BlockRange& block = gotten[static_cast<std::size_t>(peer(-k))];
    if (block.bytes != 0) posts.push_back(program.post(peer(-k), {out + block.begin, block.bytes}));
  }
  for (int k = 1; k < shape.size; ++k) {
    const BlockRange& block = given[static_cast<std::size_t>(peer(k))];
    if (block.bytes != 0) program.send(peer(k), {in + block.begin, block.bytes});
  }
  const auto own = static_cast<std::size_t>(shape.rank);
  program.copy(out + gotten[own].begin, {in + given[own].begin, std::min(given[own].bytes, gotten[own].bytes)});
  for (const std::int32_t post : posts) program.arrive(post);
}

void add_fold_in_order(Program& program, const Shape& shape, Address blocks, std::size_t count, Address out) {
  if (count == 0) return;
  const std::size_t bytes = count * shape.element;
  if (shape.size == 1) program.copy(out, {blocks, bytes});
  for (int r = 1; r < shape.size; ++r)
    program.fold(r == 1 ? blocks : out, blocks + static_cast<std::size_t>(r) * bytes, out, count);
}

Program uneven_program(const Call& call, int rank, int size) {
  constexpr Address input{Memory::input, 0}, output{Memory::output, 0};
  const Shape shape = shape_of(call, rank, size);
  std::vector<BlockRange> given, gotten;
  const bool folds = call.kind == Kind::reduce_scatter;
  const std::size_t own = folds ? block_bytes(call, call.in_blocks, rank) : 0;
  for (int r = 0; r < size; ++r) {
    given.push_back({block_begin(call, call.in_blocks, r), block_bytes(call, call.in_blocks, r)});
    if (folds) gotten.push_back({static_cast<std::size_t>(r) * own, own});
    else gotten.push_back({block_begin(call, call.out_blocks, r), block_bytes(call, call.out_blocks, r)});
  }
  Program program;
  const Address out = folds ? program.more_scratch(own * static_cast<std::size_t>(size)) : output;
  add_straight(program, shape, input, given, out, gotten);
  program.finish();
  if (folds) add_fold_in_order(program, shape, out, own / call.element, output);
  return program;
}

}  // namespace chasqui::run
