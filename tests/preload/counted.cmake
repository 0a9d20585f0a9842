# SPDX-License-Identifier: MIT
# cmake -D SERVED="words" -D REPORT=file -P counted.cmake
# The report counts what CHASQUI_VERIFY said on any rank.
separate_arguments(served UNIX_COMMAND "${SERVED}")
file(REMOVE ${REPORT})
execute_process(COMMAND ${served} OUTPUT_QUIET ERROR_VARIABLE log RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit status ${code}\n${log}")
endif()
string(REGEX MATCHALL "CHASQUI_VERIFY: MPI_" said "${log}")
list(LENGTH said count)
file(READ ${REPORT} report)
if(count EQUAL 0 OR NOT report MATCHES "\"different\":${count}}")
  message(FATAL_ERROR "said ${count} times:\n${log}\n${report}")
endif()
message(STATUS "${count} differences said and counted")
