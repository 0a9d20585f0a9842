// SPDX-License-Identifier: MIT
#include "run/messages/program.hpp"

#include <algorithm>
#include <utility>

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

void Program::finish(std::size_t but_last) {
  list.push_back({Instruction::What::finish, 0, kNone, kNone, kNone, but_last});
}

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

namespace {

/// Puts the instructions of a part into a program, in any order in which posts come before their arrivals.
class Copier {
 public:
  Copier(Program& program, const Program& part, Address input, Address output, const std::function<int(int)>& peer)
      : program_(program), part_(part), input_(input), output_(output),
        scratch_(program.more_scratch((part.scratch + kLargestAlignment - 1) / kLargestAlignment * kLargestAlignment)),
        peer_(peer), posts_(static_cast<std::size_t>(part.posts)), sends_(program.sends) {}

  /// `post`: the number of its post in the part.
  void add(const Instruction& one, std::size_t post) {
    using What = Instruction::What;
    const auto number = static_cast<std::size_t>(one.other);
    switch (one.what) {
      case What::post: posts_[post] = program_.post(peer_(one.other), {moved(one.to), one.size}); break;
      case What::arrive: program_.arrive(posts_[number]); break;
      case What::send:
        program_.send(peer_(one.other), {moved(one.from), one.size});
        sends_ = program_.sends;
        break;
      case What::fold: program_.fold(moved(one.from), moved(one.right), moved(one.to), one.size); break;
      case What::copy: program_.copy(moved(one.to), {moved(one.from), one.size}); break;
      case What::finish: program_.finish(one.size + static_cast<std::size_t>(program_.sends - sends_)); break;
      case What::begin: program_.begin(part_.times[number]); break;
      case What::align: program_.align(part_.times[number]); break;
      case What::pause: program_.pause(part_.times[number]); break;
      case What::board: {
        BoardStep step = part_.steps[number];
        step.in = moved(step.in);
        step.out = moved(step.out);
        program_.board(step);
      }
    }
  }

 private:
  Address moved(Address at) const {
    return (at.memory == Memory::input ? input_ : at.memory == Memory::output ? output_ : scratch_) + at.offset;
  }

  Program& program_;
  const Program& part_;
  Address input_, output_, scratch_;
  const std::function<int(int)>& peer_;
  std::vector<std::int32_t> posts_;  ///< as the program counts them
  std::int32_t sends_ = 0;           ///< of the program, up to the last of this part
};

/// An instruction, and of a post its number.
using Numbered = std::pair<const Instruction*, std::size_t>;

/// Cut before arrivals and steps on the board. A message is asked for where those of its round are sent.
std::vector<std::vector<Numbered>> cut_into_steps(const Program& part) {
  std::vector<std::vector<Numbered>> steps(1);
  std::vector<const Instruction*> posts;
  std::size_t sending = 0;
  const auto sends = [](const Numbered& each) { return each.first->what == Instruction::What::send; };
  for (const Instruction& one : part.list) {
    if (one.what == Instruction::What::post) {
      posts.push_back(&one);
      continue;
    }
    const bool arrives = one.what == Instruction::What::arrive;
    if ((arrives || one.what == Instruction::What::board) && !steps.back().empty()) steps.emplace_back();
    if (arrives) {
      const auto number = static_cast<std::size_t>(one.other);
      auto& step = steps[sending];
      step.insert(std::find_if(step.begin(), step.end(), sends), {posts[number], number});
    }
    if (one.what == Instruction::What::send) sending = steps.size() - 1;
    steps.back().emplace_back(&one, 0);
  }
  return steps;
}

}  // namespace

void append(Program& program, const Program& part, Address input, Address output, const std::function<int(int)>& peer) {
  Copier copier(program, part, input, output, peer);
  std::size_t posts = 0;
  for (const Instruction& one : part.list) copier.add(one, one.what == Instruction::What::post ? posts++ : 0);
}

Program interleaved(const std::vector<PlacedPart>& parts, const std::vector<int>& order,
                    const std::function<int(int)>& peer) {
  Program program;
  std::vector<Copier> copiers;
  std::vector<std::vector<std::vector<Numbered>>> steps;
  for (const auto& [part, offset] : parts) {
    copiers.emplace_back(program, part, Address{Memory::input, offset}, Address{Memory::output, offset}, peer);
    steps.push_back(cut_into_steps(part));
  }
  std::vector<std::size_t> done(parts.size());
  for (const int part : order) {
    const auto i = static_cast<std::size_t>(part);
    CHASQUI_CHECK(done[i] < steps[i].size(), "part {} has {} steps", part, steps[i].size());
    for (const auto& [one, post] : steps[i][done[i]++]) copiers[i].add(*one, post);
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    CHASQUI_CHECK(done[i] == steps[i].size(), "{} of {} steps of part {}", done[i], steps[i].size(), i);
  return program;
}

Program in_pieces(Program whole, const std::function<std::size_t(std::size_t bytes)>& piece) {
  if (!piece) return whole;
  Program cut;
  cut.times = whole.times;
  cut.steps = whole.steps;
  cut.scratch = whole.scratch;
  std::vector<std::int32_t> first;  // piece of each message asked for
  std::vector<std::int32_t> sent;   // pieces before each message
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
        sent.push_back(cut.sends);
        each_piece(one.size, [&](std::size_t at, std::size_t bytes) { cut.send(one.other, {one.from + at, bytes}); });
        break;
      case Instruction::What::finish:
        cut.finish(one.size == 0 ? 0 : static_cast<std::size_t>(cut.sends - sent[sent.size() - one.size]));
        break;
      default: cut.list.push_back(one);
    }
  }
  return cut;
}

}  // namespace chasqui::run
