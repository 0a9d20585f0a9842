# SPDX-License-Identifier: MIT
# cmake -D COMMAND="words" -D EXAMPLE=_hpccinf.txt -D FOLDER=scratch -P hpcc.cmake
# Debian's HPC Challenge on a small problem: it checks its own numbers.
file(MAKE_DIRECTORY ${FOLDER})
file(REMOVE ${FOLDER}/hpccoutf.txt)
file(READ ${EXAMPLE} input)
string(REGEX REPLACE "\n1000 +Ns" "\n200 Ns" input "${input}")
string(REGEX REPLACE "\n80 +NBs" "\n20 NBs" input "${input}")
file(WRITE ${FOLDER}/hpccinf.txt "${input}")
separate_arguments(words UNIX_COMMAND "${COMMAND}")
execute_process(COMMAND ${words} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE code)
file(READ ${FOLDER}/hpccoutf.txt output)
if(NOT code EQUAL 0 OR NOT output MATCHES "\nSuccess=1\n" OR output MATCHES "FAILED")
  message(FATAL_ERROR "hpcc ended with ${code}; see ${FOLDER}/hpccoutf.txt")
endif()
