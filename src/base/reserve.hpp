// SPDX-License-Identifier: MIT
// Memory and disk that a file shall have before anybody touches it: where there is not so much, that is an error, and no signal later.
#pragma once

#include <cstdint>

namespace chasqui {

/// So many bytes of the file from there on, which grows if it must. Returns what errno would say; 0: they are there.
int reserve(int file, std::uint64_t from, std::uint64_t bytes) noexcept;

}  // namespace chasqui
