// SPDX-License-Identifier: MIT
// Whole files. Every failure is an Error that names the file and the system's reason.
#pragma once

#include <string>
#include <string_view>

namespace chasqui {

/// Throws Error: "PATH: cannot be read (REASON): REMEDY". A folder, a disk error in the middle: never a part of a file.
/// More than 1 GiB, and more than 1 MiB from a device, is refused likewise.
std::string read_file(const std::string& path, std::string_view remedy);

/// Likewise; "-" is the standard input.
std::string read_input(const std::string& path, std::string_view remedy);

/// Puts a new file in the place of `path`: readers see the old text or the new one. The draft beside it has a name that
/// nobody can foresee, is never opened through a link, and only its owner may read it; in its place the file has the mode of the one that
/// was there, or of any new file. What is no plain file (a pipe, /dev/stdout) is written to.
void replace_file(const std::string& path, std::string_view text);

}  // namespace chasqui
