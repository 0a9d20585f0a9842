// SPDX-License-Identifier: MIT
// JSON files as documents, read more strictly than the library does: no key twice in an object, no number too large for a
// double, nothing nested deeper than our files are. Every refusal is an Error with place, line and column.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace chasqui {

/// One whole document. Throws Error: "PLACE: line 3, column 7: WHAT; REMEDY".
nlohmann::json json_document(std::string_view text, std::string_view place, std::string_view remedy);

/// "line 3, column 7" of the byte with this index.
std::string line_and_column(std::string_view text, std::size_t byte);

/// What a parser complains of, in our own words: those of the library change from version to version.
std::string_view json_fault(const nlohmann::json::exception& error);

}  // namespace chasqui
