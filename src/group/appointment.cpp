// SPDX-License-Identifier: MIT
#include "group/appointment.hpp"

#include <fmt/format.h>

#include "chasqui/base/error.hpp"

namespace chasqui::group {

Card invite(MeetingPlace& place, const std::string& host) {
  Card card;
  std::string where;
  if (host.empty()) {
    place.listener = listen_anywhere(where);
  } else {
    Address address{.kind = Address::Kind::tcp, .text = "tcp://" + host, .where = host};
    place.listener = listen_anywhere_at(address);
    where = fmt::format("{}:{}", host, address.number);
  }
  where.copy(card.where, sizeof card.where - 1);
  const Nonce random = fresh_nonce();
  for (std::size_t i = 0; i < random.size(); ++i) fmt::format_to(card.password + 2 * i, "{:02x}", random[i]);
  return card;
}

void follow(MeetingPlace& place, const Card& card, const char* what) {
  const std::string where = card.where;
  const std::size_t colon = where.find(':');
  place.address = {.kind = Address::Kind::name, .text = what, .where = where};
  if (colon != std::string::npos) place.address = parse_address("tcp://" + where);
  place.address.text = what;
  place.secret = card.password;
}

}  // namespace chasqui::group
