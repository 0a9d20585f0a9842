// SPDX-License-Identifier: MIT
#include "run/messages/program.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/run/operator.hpp"

namespace chasqui::run {
namespace {

constexpr Address kNone{Memory::scratch, 0};

}  // namespace

void Program::check(Range range) const {
  CHASQUI_CHECK(range.at.memory != Memory::scratch || range.at.offset + range.bytes <= scratch,
                "{} bytes at {} in {} bytes of scratch memory", range.bytes, std::uint64_t{range.at.offset}, scratch);
}

/// Long values begin a line, as folding wants them; short ones lie close together, to touch few lines.
Address Program::more_scratch(std::size_t bytes) {
  if (bytes >= kLargestAlignment) scratch = (scratch + kLargestAlignment - 1) / kLargestAlignment * kLargestAlignment;
  const Address at{Memory::scratch, scratch};
  scratch += bytes;
  return at;
}

std::int32_t Program::post(int peer, Range to) {
  CHASQUI_CHECK(peer >= 0 && to.at.memory != Memory::input, "a message from rank {} into buffer {}", peer,
                static_cast<int>(to.at.memory));
  check(to);
  list.push_back({Instruction::What::post, peer, kNone, kNone, to.at, to.bytes});
  return posts++;
}

void Program::arrive(std::int32_t post) {
  CHASQUI_CHECK(post >= 0 && post < posts, "message {} of {} that were asked for", post, posts);
  list.push_back({Instruction::What::arrive, post, kNone, kNone, kNone, 0});
}

void Program::send(int peer, Range from) {
  CHASQUI_CHECK(peer >= 0, "a message to rank {}", peer);
  check(from);
  list.push_back({Instruction::What::send, peer, from.at, kNone, kNone, from.bytes});
  ++sends;
}

void Program::fold(Address left, Address right, Address to, std::size_t count) {
  CHASQUI_CHECK(to.memory != Memory::input, "a fold into the input");
  list.push_back({Instruction::What::fold, 0, left, right, to, count});
}

void Program::copy(Address to, Range from) {
  CHASQUI_CHECK(to.memory != Memory::input, "a copy into the input");
  check(from);
  check({to, from.bytes});
  if (from.bytes != 0 && from.at != to) list.push_back({Instruction::What::copy, 0, from.at, kNone, to, from.bytes});
}

void Program::finish() { list.push_back({Instruction::What::finish, 0, kNone, kNone, kNone, 0}); }

void Program::add_time(Instruction::What what, double time) {
  list.push_back({what, static_cast<std::int32_t>(times.size()), kNone, kNone, kNone, 0});
  times.push_back(time);
}
void Program::begin(double time) { add_time(Instruction::What::begin, time); }
void Program::align(double time) { add_time(Instruction::What::align, time); }
void Program::pause(double time) { add_time(Instruction::What::pause, time); }

void Program::board(const BoardStep& step) {
  list.push_back({Instruction::What::board, static_cast<std::int32_t>(steps.size()), kNone, kNone, kNone, 0});
  steps.push_back(step);
}

void append(Program& program, const Program& part, Address input, Address output, const std::function<int(int)>& peer) {
  const std::int32_t posts = program.posts;
  const std::size_t lines = (part.scratch + kLargestAlignment - 1) / kLargestAlignment;
  const Address scratch = program.more_scratch(lines * kLargestAlignment);
  const auto moved = [&](Address at) {
    return (at.memory == Memory::input ? input : at.memory == Memory::output ? output : scratch) + at.offset;
  };
  using What = Instruction::What;
  for (const Instruction& one : part.list) {
    const auto number = static_cast<std::size_t>(one.other);
    switch (one.what) {
      case What::post: program.post(peer(one.other), {moved(one.to), one.size}); break;
      case What::arrive: program.arrive(posts + one.other); break;
      case What::send: program.send(peer(one.other), {moved(one.from), one.size}); break;
      case What::fold: program.fold(moved(one.from), moved(one.right), moved(one.to), one.size); break;
      case What::copy: program.copy(moved(one.to), {moved(one.from), one.size}); break;
      case What::finish: program.finish(); break;
      case What::begin: program.begin(part.times[number]); break;
      case What::align: program.align(part.times[number]); break;
      case What::pause: program.pause(part.times[number]); break;
      case What::board: {
        BoardStep step = part.steps[number];
        step.in = moved(step.in);
        step.out = moved(step.out);
        program.board(step);
      }
    }
  }
}

Program in_pieces(Program whole, const std::function<std::size_t(std::size_t bytes)>& piece) {
  if (!piece) return whole;
  Program cut;
  cut.times = whole.times;
  cut.steps = whole.steps;
  cut.scratch = whole.scratch;
  std::vector<std::int32_t> first;  // piece of each message asked for
  const auto each_piece = [&](std::size_t bytes, const auto& add) {
    const std::size_t most = std::max<std::size_t>(1, piece(bytes));
    std::size_t at = 0;
    do add(at, std::min(most, bytes - at));
    while ((at += most) < bytes);
  };
  for (const Instruction& one : whole.list) {
    switch (one.what) {
      case Instruction::What::post:
        first.push_back(cut.posts);
        each_piece(one.size, [&](std::size_t at, std::size_t bytes) { cut.post(one.other, {one.to + at, bytes}); });
        break;
      case Instruction::What::arrive: {
        const auto next = static_cast<std::size_t>(one.other) + 1;
        const std::int32_t end = next < first.size() ? first[next] : cut.posts;
        for (std::int32_t i = first[next - 1]; i < end; ++i) cut.arrive(i);
        break;
      }
      case Instruction::What::send:
        each_piece(one.size, [&](std::size_t at, std::size_t bytes) { cut.send(one.other, {one.from + at, bytes}); });
        break;
      default: cut.list.push_back(one);
    }
  }
  return cut;
}

}  // namespace chasqui::run
