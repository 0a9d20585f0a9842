// SPDX-License-Identifier: MIT
// Where some ranks of a group meet: the first of them listens, and its card says to the others where, and what they must know
// there. Cards go by whatever all ranks have already.
#pragma once

#include <string>

#include "group/meeting.hpp"

namespace chasqui::group {

struct Card {
  char where[24] = {};     ///< a local socket's name, or host:port
  char password[40] = {};  ///< as the meeting's secret
};

/// Begins to listen: locally, or at a port of `host`, where that is not empty.
Card invite(MeetingPlace& place, const std::string& host);
/// The meeting's place is the card's.
void follow(MeetingPlace& place, const Card& card, const char* what);

}  // namespace chasqui::group
