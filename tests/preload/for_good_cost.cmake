# SPDX-License-Identifier: MIT
# cmake -D SERVED="words" -D REPORT=file -D BEST=ms -P for_good_cost.cmake
# A program in simulated time says how long its 1000 all-reduces took, of which the better side's take BEST each. The rest went by in choosing a side for
# good, but for what the machine itself takes for 1000 calls: the report says no more than that, and not less than the calls of a pair took.
include(${CMAKE_CURRENT_LIST_DIR}/reported.cmake)
if(NOT said MATCHES "([0-9]+) ms in 1000 calls")
  message(FATAL_ERROR "the program does not say how long it took\n${said}")
endif()
math(EXPR lost "${CMAKE_MATCH_1} - 1000 * ${BEST}")
if(NOT report MATCHES "\"collective\":\"Allreduce\",\"bytes\":\"2-7\"[^\n]*\"comparisons_ns\":([0-9]+)")
  message(FATAL_ERROR "nothing of all-reduces in ${report}")
endif()
math(EXPR spent "${CMAKE_MATCH_1} / 1000000")
math(EXPR pair "4 * ${BEST}")
if(spent LESS pair OR spent GREATER lost)
  message(FATAL_ERROR "choosing a side took ${lost} ms, and ${spent} ms by the report\n${said}\n${report}")
endif()
message(STATUS "${spent} ms of ${lost}")
