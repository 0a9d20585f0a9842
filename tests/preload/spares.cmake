# SPDX-License-Identifier: MIT
# cmake -D SERVED="words" -D REPORT=file -D LEAST=n -P spares.cmake
# Of the communicators that a program makes, uses and frees, so many got what freed ones left.
include(${CMAKE_CURRENT_LIST_DIR}/reported.cmake)
if(NOT said MATCHES "one after the other: right")
  message(FATAL_ERROR "the program does not say that all was right\n${said}")
endif()
if(NOT report MATCHES "\"prepared\":([0-9]+),\"spared\":([0-9]+)")
  message(FATAL_ERROR "the report does not say what was prepared\n${report}")
endif()
if(CMAKE_MATCH_2 LESS LEAST)
  message(FATAL_ERROR "${CMAKE_MATCH_1} were prepared, and only ${CMAKE_MATCH_2} got what others left\n${report}")
endif()
message(STATUS "${CMAKE_MATCH_1} prepared, ${CMAKE_MATCH_2} by what others left")
