// SPDX-License-Identifier: MIT
#include "run/messages/player.hpp"

#include <algorithm>

namespace chasqui::run {

void Stage::fit(const Moves& moves, std::size_t bytes) {
  tickets.resize(std::max(tickets.size(), moves.receives.size() + static_cast<std::size_t>(moves.sends)));
  values.grown_to(static_cast<std::size_t>(moves.room) * bytes);
}

Playing::Playing(const Moves& moves, const Group& group, const Call& call, Stage& stage)
    : moves_(moves), transport_(*group.transport), group_(group), call_(call), tickets_(stage.tickets.data()),
      room_(bytes_of(stage.values)),
      own_(static_cast<std::byte*>(call.in != nullptr ? const_cast<void*>(call.in) : call.out)),
      target_(static_cast<std::byte*>(call.out)), bytes_(call.kind == Kind::barrier ? 0 : call.bytes()), begun_(0),
      ended_(moves.receives.size()) {}

Playing::~Playing() {
  for (std::size_t i = 0; i < begun_; ++i) {
    if (tickets_[i] != kNoTicket) transport_.abandon(tickets_[i]);
  }
}

bool Playing::done(std::size_t index) {
  const Transport::Ticket ticket = tickets_[index];
  if (ticket == kNoTicket) return true;
  tickets_[index] = kNoTicket;  // done() may throw, and the ticket is gone then too
  if (transport_.done(ticket)) return true;
  tickets_[index] = ticket;
  waits_ = index;
  return false;
}

/// Sends end while this rank waits for something else: at the end they would be paid for.
void Playing::end_sends() {
  const std::size_t waits = waits_;
  while (ended_ < begun_ && done(ended_)) ++ended_;
  waits_ = waits;
}

bool Playing::ready() {
  for (; begun_ < moves_.receives.size(); ++begun_) {
    const Reception& reception = moves_.receives[begun_];
    tickets_[begun_] =
        transport_.receive(group_.member({reception.peer}), group_.tag, at(reception.to), reception.values * bytes_);
  }
  for (; next_ < moves_.list.size(); ++next_) {
    const Move& move = moves_.list[next_];
    switch (move.what) {
      case Move::What::send:
        tickets_[begun_] =
            transport_.send(group_.member({move.other}), group_.tag, at(move.from), move.values * bytes_);
        ++begun_;
        break;
      case Move::What::arrive:
        if (!done(static_cast<std::size_t>(move.other))) return end_sends(), false;
        break;
      case Move::What::fold:
        call_.op(at(move.from), at(move.right), at(move.to), static_cast<std::size_t>(call_.count));
        break;
      case Move::What::copy: copy_bytes(at(move.to), at(move.from), bytes_); break;
    }
  }
  for (; ended_ < begun_; ++ended_) {
    if (!done(ended_)) return false;
  }
  if (moves_.result != kNowhere) copy_bytes(target_, at(moves_.result), bytes_);
  return true;
}

void Playing::block() {
  if (tickets_[waits_] != kNoTicket) transport_.wait(tickets_[waits_]);
}

Task play(Group group, std::shared_ptr<const Moves> moves, Call call) {
  Stage stage;
  stage.fit(*moves, call.bytes());
  Playing playing(*moves, group, call, stage);
  co_await playing;
}

}  // namespace chasqui::run
