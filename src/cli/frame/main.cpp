// SPDX-License-Identifier: MIT

#include "cli/frame/command.hpp"

int main(int count, char** words) {
  chasqui::cli::Output out = chasqui::cli::Output::standard();
  return chasqui::cli::run_main({words + 1, words + count}, out);
}
