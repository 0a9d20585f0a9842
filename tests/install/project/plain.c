// SPDX-License-Identifier: MIT
// A program in C of somebody else.
#include <chasqui/chasqui.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char* claim;
  if (chasqui_bound("broadcast", "{\"P\": 8, \"L\": 6, \"o\": 2, \"g\": 4}", &claim) != 0) {
    fprintf(stderr, "%s\n", chasqui_last_error());
    return 1;
  }
  puts(strstr(claim, "\"finish\": 24") != NULL ? "finish 24" : claim);
  chasqui_free(claim);
  return 0;
}
