// SPDX-License-Identifier: MIT
// Switches that make the board wrong. All are off unless a test looks whether it notices.
#pragma once

namespace chasqui::run {

struct Mutants {
  unsigned row = 0;            ///< rows that a rank writes too early
  unsigned chunk = 0;          ///< chunks of the stage likewise
  unsigned began = 0;          ///< 1: who has begun a collective is taken to have finished it
  unsigned root_began = 0;     ///< calls that a root is taken to be further than it said
  unsigned root_consumed = 0;  ///< rounds likewise
  bool divided = false;        ///< a new division of the stage waits for nobody
  bool left = false;           ///< nobody waits for those who use its buffers
  bool withdrawn = false;      ///< nor when it takes them back
  bool recheck = false;        ///< who comes for buffers does not look whether they were taken back
};
extern Mutants mutants;

}  // namespace chasqui::run
