// SPDX-License-Identifier: MIT
// A proof that one knows a secret, without saying it: SHA-256-crypt of libcrypt, which every Debian has, over the secret,
// who proves, and a fresh nonce of each side. It takes a millisecond, so that who overhears one cannot try many secrets.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace chasqui::group {

using Nonce = std::array<std::uint8_t, 16>;
using Proof = std::array<char, 64>;

Nonce fresh_nonce();  ///< from the kernel

/// `who` says which side proves and what: no proof can be sent back as the other side's.
Proof prove(const std::string& secret, const std::string& who, const Nonce& server, const Nonce& client);

/// Takes as long for every answer.
bool equal(const Proof& a, const Proof& b);
bool equal(const Nonce& a, const Nonce& b);

/// Throws an Error for a secret that is too long or has a zero in it.
void check_secret(const std::string& secret);

}  // namespace chasqui::group
