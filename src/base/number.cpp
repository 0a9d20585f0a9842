// SPDX-License-Identifier: MIT
#include "base/number.hpp"

#include <locale>
#include <sstream>
#include <string>

namespace chasqui {

/// By a stream: there are C++ libraries whose std::from_chars knows no doubles.
std::optional<double> number_from(std::string_view text) {
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> std::noskipws >> value) || stream.peek() != std::istringstream::traits_type::eof())
    return std::nullopt;
  return value;
}

}  // namespace chasqui
