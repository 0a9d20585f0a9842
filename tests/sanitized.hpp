// SPDX-License-Identifier: MIT
// Which sanitizers watch this program?
#pragma once

namespace chasqui {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressesWatched = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kAddressesWatched = true;
#else
inline constexpr bool kAddressesWatched = false;
#endif
#else
inline constexpr bool kAddressesWatched = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadsWatched = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kThreadsWatched = true;
#else
inline constexpr bool kThreadsWatched = false;
#endif
#else
inline constexpr bool kThreadsWatched = false;
#endif

/// It is several times slower then, and reserves far more memory than it uses.
inline constexpr bool kSanitized = kAddressesWatched || kThreadsWatched;

}  // namespace chasqui
