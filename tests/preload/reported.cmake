# SPDX-License-Identifier: MIT
# Included by scripts that compare what is said in a run with its report: runs SERVED; then `said` and `log` are its standard output and error, `report` is the file REPORT.
separate_arguments(served UNIX_COMMAND "${SERVED}")
file(REMOVE ${REPORT})
execute_process(COMMAND ${served} OUTPUT_VARIABLE said ERROR_VARIABLE log RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit status ${code}\n${log}")
endif()
file(READ ${REPORT} report)
