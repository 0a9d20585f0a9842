// SPDX-License-Identifier: MIT
// In place of src/base/version.cpp: a library of another version.
#include "chasqui/base/version.hpp"

namespace chasqui {

const char* version() { return "0.0.0"; }

}  // namespace chasqui
