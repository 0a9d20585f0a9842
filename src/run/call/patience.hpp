// SPDX-License-Identifier: MIT
// Variables of the environment that hold seconds.
#pragma once

namespace chasqui::run {

/// Throws an Error for anything but a number of 0 or more.
double seconds_of_variable(const char* name, double otherwise);

}  // namespace chasqui::run
