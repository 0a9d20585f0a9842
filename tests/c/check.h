// SPDX-License-Identifier: MIT
// Checks for programs in C: the first that fails ends the program and names itself.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chasqui/chasqui.h"

#define CHECK(condition)                                                                                      \
  do {                                                                                                        \
    if (!(condition)) {                                                                                       \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, chasqui_last_error()); \
      exit(1);                                                                                                \
    }                                                                                                         \
  } while (0)

#define CHECK_HAS(text, part)                                                                \
  do {                                                                                       \
    if (strstr((text), (part)) == NULL) {                                                    \
      fprintf(stderr, "%s:%d: \"%s\" is not in:\n%s\n", __FILE__, __LINE__, (part), (text)); \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)
