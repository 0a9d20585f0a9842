// SPDX-License-Identifier: MIT
#include "group/proof.hpp"

#include <crypt.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "chasqui/base/error.hpp"

namespace chasqui::group {
namespace {

constexpr std::size_t kLongest = 256;

std::string hexadecimal(const Nonce& nonce) {
  std::string text;
  for (const std::uint8_t byte : nonce) text += fmt::format("{:02x}", byte);
  return text;
}

template <typename Bytes>
bool alike(const Bytes& a, const Bytes& b) {
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

}  // namespace

Nonce fresh_nonce() {
  Nonce nonce{};
  while (getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size())) {
    if (errno != EINTR) throw Error("the kernel gives no random numbers: {}", std::strerror(errno));
  }
  return nonce;
}

Proof prove(const std::string& secret, const std::string& who, const Nonce& server, const Nonce& client) {
  const std::string phrase = fmt::format("{}:{}:{}:{}", secret, who, hexadecimal(server), hexadecimal(client));
  const auto room = std::make_unique<crypt_data>();
  const char* const text = crypt_r(phrase.c_str(), "$5$rounds=1000$chasqui$", room.get());
  if (text == nullptr || text[0] == '*') throw Error("libcrypt cannot compute SHA-256-crypt: {}", std::strerror(errno));
  const char* const hash = std::strrchr(text, '$') + 1;
  Proof proof{};
  std::copy_n(hash, std::min(std::strlen(hash), proof.size()), proof.begin());
  return proof;
}

bool equal(const Proof& a, const Proof& b) { return alike(a, b); }
bool equal(const Nonce& a, const Nonce& b) { return alike(a, b); }

void check_secret(const std::string& secret) {
  if (secret.size() > kLongest) throw Error("the secret has {} characters: at most {}", secret.size(), kLongest);
  if (secret.find('\0') != std::string::npos)
    throw Error("the secret has a zero byte in it: write it in letters and digits");
}

}  // namespace chasqui::group
