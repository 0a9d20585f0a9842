// SPDX-License-Identifier: MIT
// Tests that a page names: programs in `code`, then perhaps cases, whole or cut off by an ellipsis.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace chasqui::structure {

/// The names under which CMake registers tests.
std::set<std::string> registered_tests();

/// "Suite.Name" of every test case, and the names of files that tests read, one a line.
std::string all_cases();

/// A file of the repository, by its path or the end of it; or a folder.
bool file_exists(const std::string& name);

/// Fails, naming `place`, for every program or case in `text` that does not exist. How many it has looked up.
std::size_t expect_cited_tests(const std::string& text, const std::set<std::string>& tests, const std::string& cases,
                               const std::string& place);

}  // namespace chasqui::structure
