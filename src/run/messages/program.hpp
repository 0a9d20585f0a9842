// SPDX-License-Identifier: MIT
// What one rank does in a collective that goes by messages: what to receive, send, fold and copy, in which order, and
// where sends wait for their time. Addresses are relative to the call's buffers, so that a program is found once and
// played (player.hpp) by every call of its shape. Builders of programs: builders.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/model/kind.hpp"

namespace chasqui::run {

enum class Memory : std::uint8_t {
  input,   ///< what this rank contributes; never written to
  output,  ///< what this rank gets; the same memory as the input where the call is in place
  scratch  ///< Program::scratch bytes that the program may use as it likes
};

struct Address {
  Memory memory : 2;
  std::uint64_t offset : 62;  ///< bytes from the beginning

  constexpr Address(Memory which, std::uint64_t bytes) : memory(which), offset(bytes) {}
  Address operator+(std::size_t bytes) const { return {memory, offset + bytes}; }
  friend bool operator==(const Address&, const Address&) = default;
};
static_assert(sizeof(Address) == 8);
inline constexpr Address kInput{Memory::input, 0}, kOutput{Memory::output, 0};

struct Range {
  Address at;
  std::size_t bytes;
};

struct Instruction {
  enum class What : std::uint8_t {
    post,    ///< asks for a message: `to`, `size` from rank `other` of the plan
    arrive,  ///< waits until post number `other` has its message
    send,    ///< `from`, `size` to rank `other` of the plan; what is sent stays as it is until the next finish of it
    fold,    ///< to = from o right on `size` elements; `to` may be one of the two
    copy,    ///< `size` bytes
    finish,  ///< waits until everything sent has gone but for the last `size` messages
    begin,   ///< a plan with times begins: its time 0 is times[other] nanoseconds from now
    align,   ///< its time 0 was times[other] nanoseconds ago, or earlier: messages are late, never early
    pause,   ///< waits until times[other] nanoseconds after its time 0
    board,   ///< the player stops, so that its owner does steps[other]
  };
  What what;
  std::int32_t other;
  Address from;
  Address right;
  Address to;
  std::size_t size;
};

/// What the ranks of a node do on their board in the midst of a program; each of their programs has it.
struct BoardStep {
  Kind kind;
  int root;                ///< place on the board; 0 where there is none
  int contributors;        ///< reduce, allreduce, barrier: places 0 .. contributors-1 bring something; 0: all do
  Address in, out;         ///< the same: in place
  std::size_t count;       ///< elements, as in a call
  bool exclusive = false;  ///< scan
};

/// INVARIANT: messages and copies lie inside the scratch memory, an arrive names a post before it, nothing is written to
/// the input. The functions that append see to it; that all posts arrive and the end is a finish, or copies behind one, is
/// the builder's business.
struct Program {
  std::vector<Instruction> list;
  std::vector<double> times;
  std::vector<BoardStep> steps;  ///< on the board, in order
  std::int32_t posts = 0;
  std::int32_t sends = 0;
  std::size_t scratch = 0;  ///< bytes

  /// Fresh scratch memory, aligned for elements whose size divides `bytes`.
  Address more_scratch(std::size_t bytes);

  /// Returns the number that arrive() wants.
  std::int32_t post(int peer, Range to);
  void arrive(std::int32_t post);
  /// Posts and waits.
  void receive(int peer, Range to) { arrive(post(peer, to)); }
  void send(int peer, Range from);
  void fold(Address left, Address right, Address to, std::size_t count);
  void copy(Address to, Range from);
  void finish(std::size_t but_last = 0);
  void begin(double time);
  void align(double time);
  void pause(double time);
  void board(const BoardStep& step);

 private:
  void check(Range range) const;
  void add_time(Instruction::What what, double time);
};

/// Appends `part` with other buffers; its messages go to peer(their rank).
void append(Program& program, const Program& part, Address input, Address output, const std::function<int(int)>& peer);

/// A program for a part of the buffers that begins so many bytes behind their beginning.
struct PlacedPart {
  Program program;
  std::size_t offset;
};
/// Parts of a call by turns: order[i] is the part that goes on next, up to its next arrival or step on the board. A message is asked for
/// when its partner sends it. REQUIRES that what a rank sends in a step of a part its partner asks for there, and one order for all
/// ranks that exchange messages: then both ends have them in one order. Messages go to peer(their rank).
Program interleaved(const std::vector<PlacedPart>& parts, const std::vector<int>& order,
                    const std::function<int(int)>& peer);

/// A program with its messages cut: piece(bytes) says of how many bytes the pieces of a message are, but for the last;
/// missing: whole.
Program in_pieces(Program whole, const std::function<std::size_t(std::size_t bytes)>& piece);

}  // namespace chasqui::run
