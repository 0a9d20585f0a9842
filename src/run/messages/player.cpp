// SPDX-License-Identifier: MIT
#include "run/messages/player.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::run {

void Scratch::fit(const Program& program) {
  tickets.resize(std::max(tickets.size(), static_cast<std::size_t>(program.posts + program.sends)));
  memory.grown_to(program.scratch);
}

Buffers buffers_of(const Call& call, int rank) {
  const std::size_t own = static_cast<std::size_t>(rank) * call.bytes();
  switch (call.kind) {
    case Kind::gather:
    case Kind::allgather:
      if (call.in != nullptr) return {call.in, call.out};
      return {call.out != nullptr ? static_cast<std::byte*>(call.out) + own : nullptr, call.out};
    case Kind::scatter:
      if (call.out != nullptr || call.in == nullptr) return {call.in, call.out};
      // In place: the program's copy from there to there is none.
      return {call.in, const_cast<std::byte*>(static_cast<const std::byte*>(call.in) + own)};
    default: return {call.in != nullptr ? call.in : call.out, call.out};
  }
}

Player::Player(const Program& program, const Group& group, Buffers buffers, const Operator& op, Scratch& scratch)
    : next_(program.list.data()), end_(next_ + program.list.size()), times_(program.times.data()),
      transport_(*group.transport), group_(group), op_(op),
      tickets_(scratch.tickets.data()), buffers_{static_cast<std::byte*>(const_cast<void*>(buffers.input)),
                                                 static_cast<std::byte*>(buffers.output), scratch.memory.data()},
      begun_(static_cast<std::size_t>(program.posts)), ended_(begun_) {
  CHASQUI_CHECK(scratch.tickets.size() >= begun_ + static_cast<std::size_t>(program.sends) &&
                    scratch.memory.size() >= program.scratch,
                "{} tickets and {} bytes for a program that needs {} and {}", scratch.tickets.size(),
                scratch.memory.size(), program.posts + program.sends, program.scratch);
}

Player::~Player() {
  const auto abandon = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (tickets_[i] != kNoTicket) transport_.abandon(tickets_[i]);
    }
  };
  abandon(0, posted_);
  abandon(ended_, begun_);
}

bool Player::done(std::size_t index) {
  const Transport::Ticket ticket = tickets_[index];
  if (ticket == kNoTicket) return true;
  tickets_[index] = kNoTicket;  // done() may throw, and the ticket is gone then too
  if (transport_.done(ticket)) return true;
  tickets_[index] = ticket;
  waits_ = index;
  until_ = 0;
  return false;
}

bool Player::sent(std::size_t tickets) {
  while (ended_ < tickets && done(ended_)) ++ended_;
  return ended_ >= tickets;
}

/// Sends end while this rank waits for something else: at the end they would be paid for. Where waiting blocks, a look
/// takes time that nothing fills.
void Player::look_at_sends() {
  if (ended_ == begun_ || group_.timing.blocks) return;
  const std::size_t waits = waits_;
  sent(begun_);
  waits_ = waits;
}

bool Player::past(double time) {
  until_ = origin_ + time;
  return group_.timing.now() >= until_;
}

bool Player::go_on() {
  using What = Instruction::What;
  for (; next_ != end_; ++next_) {
    const Instruction& now = *next_;
    switch (now.what) {
      case What::post:
        tickets_[posted_] = transport_.receive(group_.member({now.other}), group_.tag, at(now.to), now.size);
        ++posted_;
        break;
      case What::arrive:
        if (!done(static_cast<std::size_t>(now.other))) return look_at_sends(), false;
        break;
      case What::send:
        tickets_[begun_] = transport_.send(group_.member({now.other}), group_.tag, at(now.from), now.size);
        ++begun_;
        break;
      case What::fold: op_(at(now.from), at(now.right), at(now.to), now.size); break;
      case What::copy: copy_bytes(at(now.to), at(now.from), now.size); break;
      case What::finish:
        if (!sent(begun_ - now.size)) return false;
        break;
      case What::begin: origin_ = group_.timing.now() + times_[now.other]; break;
      case What::align: origin_ = std::min(origin_, group_.timing.now() - times_[now.other]); break;
      case What::pause:
        if (!past(times_[now.other])) return false;
        break;
      case What::board: ++next_; return true;
    }
  }
  return true;
}

void Player::block() {
  if (until_ != 0) group_.timing.sleep_until(until_);
  else if (tickets_[waits_] != kNoTicket) transport_.wait(tickets_[waits_]);
}

Task play(Group group, std::shared_ptr<const Program> program, Buffers buffers, Operator op) {
  Scratch scratch;
  scratch.fit(*program);
  Player player(*program, group, buffers, op, scratch);
  co_await player;
}

}  // namespace chasqui::run
