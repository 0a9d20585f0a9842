// SPDX-License-Identifier: MIT
// Which sanitizers watch this program?
#pragma once

#if defined(__has_feature)  // clang's way to ask
#define CHASQUI_HAS_FEATURE(name) __has_feature(name)
#else
#define CHASQUI_HAS_FEATURE(name) 0
#endif

namespace chasqui {

#if defined(__SANITIZE_THREAD__) || CHASQUI_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadsWatched = true;
#else
inline constexpr bool kThreadsWatched = false;
#endif

/// It is several times slower then, and reserves far more memory than it uses.
#if defined(__SANITIZE_ADDRESS__) || CHASQUI_HAS_FEATURE(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kThreadsWatched;
#endif

}  // namespace chasqui
