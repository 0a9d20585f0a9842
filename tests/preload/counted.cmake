# SPDX-License-Identifier: MIT
# cmake -D SERVED="words" -D REPORT=file -P counted.cmake
# The report counts what CHASQUI_VERIFY said on any rank.
include(${CMAKE_CURRENT_LIST_DIR}/reported.cmake)
string(REGEX MATCHALL "CHASQUI_VERIFY: MPI_" said "${log}")
list(LENGTH said count)
if(count EQUAL 0 OR NOT report MATCHES "\"different\":${count}}")
  message(FATAL_ERROR "said ${count} times:\n${log}\n${report}")
endif()
message(STATUS "${count} differences said and counted")
