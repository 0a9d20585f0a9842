// SPDX-License-Identifier: MIT
// The version, as macros and as a function of the library that is linked. The numbers stand here and nowhere else: CMake
// reads them. While the first is 0, a change of the second may break programs, a change of the third not.
#pragma once

#define CHASQUI_VERSION_MAJOR 0  ///< changes with what breaks programs, from 1 on
#define CHASQUI_VERSION_MINOR 1  ///< changes with what is new
#define CHASQUI_VERSION_PATCH 0  ///< changes with what is mended

/// The three numbers as text.
#define CHASQUI_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
/// The same of macros.
#define CHASQUI_VERSION_TEXT(major, minor, patch) CHASQUI_VERSION_TEXT_OF(major, minor, patch)
/// The headers' version: "0.1.0".
#define CHASQUI_VERSION CHASQUI_VERSION_TEXT(CHASQUI_VERSION_MAJOR, CHASQUI_VERSION_MINOR, CHASQUI_VERSION_PATCH)

namespace chasqui {

/// The version of the library that the program was linked with; CHASQUI_VERSION is that of the headers.
const char* version();

}  // namespace chasqui
