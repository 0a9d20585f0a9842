// SPDX-License-Identifier: MIT
#include "chasqui/base/version.hpp"

namespace chasqui {

const char* version() { return CHASQUI_VERSION; }

}  // namespace chasqui
