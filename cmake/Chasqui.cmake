# Helper functions only: one line registers a room, a test or a benchmark.

# chasqui_precompiled(TARGET HOLDER): the headers that most files read are parsed once, in HOLDER. Where ccache is at hand each file
# is compiled by itself instead: ccache remembers it, and an include that a file forgot is found.
set(CHASQUI_COMMON_HEADERS <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <string> <vector>)
function(chasqui_precompiled target holder)
  if(CHASQUI_CCACHE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  if(target STREQUAL holder)
    target_precompile_headers(${target} PRIVATE ${CHASQUI_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${holder})
  endif()
  target_compile_options(${target} PRIVATE -Wno-error=invalid-pch)  # then they are read as text
endfunction()

# chasqui_precompiled_programs(FOLDER): so too for the programs of a folder that share no headers with others yet. Not for those with options
# of their own or without our warnings: what is compiled otherwise cannot be shared.
function(chasqui_precompiled_programs folder)
  if(NOT TARGET chasqui_program_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/program_headers.cpp CONTENT "")
    add_library(chasqui_program_headers OBJECT ${PROJECT_BINARY_DIR}/program_headers.cpp)
    target_link_libraries(chasqui_program_headers PRIVATE chasqui_warnings)
    set_target_properties(chasqui_program_headers PROPERTIES EXCLUDE_FROM_ALL ON)
    chasqui_precompiled(chasqui_program_headers chasqui_program_headers)
  endif()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(shared ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    get_target_property(options ${target} COMPILE_OPTIONS)
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    list(FILTER options EXCLUDE REGEX "^(options-NOTFOUND|-W.*|.*:-Wno-subobject-linkage>)$")
    if(type STREQUAL EXECUTABLE AND NOT shared AND NOT options AND libraries MATCHES chasqui_warnings AND NOT libraries MATCHES OpenMP
        AND NOT sources MATCHES "\\.c(;|$)")
      chasqui_precompiled(${target} chasqui_program_headers)
    endif()
  endforeach()
endfunction()

# chasqui_together(TARGET): a dozen files are compiled at once where ccache is not at hand, a third of the time of one by one.
# Their file-local names must differ. GCC takes files that another includes for headers, and what is local to them for a mistake.
# CHASQUI_BATCH is another number than a dozen.
function(chasqui_together target)
  if(NOT CHASQUI_BATCH)
    set(CHASQUI_BATCH 12)
  endif()
  if(NOT CHASQUI_CCACHE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${CHASQUI_BATCH})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# chasqui_room(NAME SOURCES a.cpp … DEPENDS room … LIBRARIES target …)
# One room of the house: target chasqui_NAME, alias chasqui::NAME. No file-local name stands in two of its files.
# DEPENDS lists rooms to its left; a test compares them with the include lines.
function(chasqui_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  add_library(chasqui_${name} STATIC ${ARG_SOURCES})
  add_library(chasqui::${name} ALIAS chasqui_${name})
  target_include_directories(chasqui_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(chasqui_${name} PUBLIC cxx_std_20)
  set(independent ON)
  if(EMSCRIPTEN)  # linked once, into the page
    set(independent OFF)
  endif()
  set_target_properties(chasqui_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ${independent} EXPORT_NAME ${name} CXX_VISIBILITY_PRESET default)
  foreach(room ${ARG_DEPENDS})
    target_link_libraries(chasqui_${name} PUBLIC chasqui_${room})
  endforeach()
  target_link_libraries(chasqui_${name} PUBLIC ${ARG_LIBRARIES}
    PRIVATE ${ARG_PRIVATE_LIBRARIES} $<BUILD_INTERFACE:chasqui_warnings>)
  chasqui_precompiled(chasqui_${name} chasqui_base <fmt/core.h>)
  chasqui_together(chasqui_${name})
  set_property(GLOBAL APPEND PROPERTY CHASQUI_ROOMS ${name})
  list(JOIN ARG_DEPENDS " " depends)
  set_property(GLOBAL APPEND_STRING PROPERTY CHASQUI_ROOM_DEPENDS "${name} ${depends}\n")
endfunction()

# chasqui_test(NAME SOURCES a.cpp … LIBRARIES target …): a GoogleTest program test_NAME, one ctest entry.
# PATHS: it reads files of the tree (CHASQUI_SOURCE_DIR, CHASQUI_BINARY_DIR); others compile alike in every checkout.
# A folder that sets CHASQUI_TESTS_OF has one program for all its tests where files are compiled together: each ctest entry then runs the
# files of its own. ALONE: not this one, which replaces functions or is linked otherwise.
function(chasqui_test name)
  cmake_parse_arguments(ARG "RAPIDCHECK;PATHS;ALONE" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT CHASQUI_TESTS)
    return()
  endif()
  set(program test_${name})
  set(files "")
  if(CHASQUI_TESTS_OF AND NOT CHASQUI_CCACHE AND NOT ARG_ALONE)
    set(program tests_of_${CHASQUI_TESTS_OF})
    set(files ${ARG_SOURCES})
    add_custom_target(test_${name})
    if(NOT TARGET ${program})
      add_executable(${program} ${PROJECT_SOURCE_DIR}/tests/chosen_main.cpp)
      target_link_libraries(${program} PRIVATE GTest::gtest)
    endif()
    add_dependencies(test_${name} ${program})
    target_sources(${program} PRIVATE ${ARG_SOURCES})
  else()
    add_executable(${program} ${ARG_SOURCES})
    target_link_libraries(${program} PRIVATE GTest::gtest_main)
  endif()
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  if(ARG_PATHS)
    target_compile_definitions(${program} PRIVATE
      CHASQUI_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CHASQUI_BINARY_DIR="${PROJECT_BINARY_DIR}")
  endif()
  target_link_libraries(${program} PRIVATE ${ARG_LIBRARIES} fmt::fmt chasqui_warnings)
  if(ARG_RAPIDCHECK)
    target_link_libraries(${program} PRIVATE rapidcheck)
  endif()
  chasqui_precompiled(${program} chasqui_test_headers)
  chasqui_together(${program})
  add_test(NAME ${name} COMMAND ${program} ${files})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  chasqui_sanitized_tests()
endfunction()

# The tests of this folder, when all of them are there: under a sanitizer libraries may be preloaded before its runtime, and leaks and
# locks of the MPI libraries are theirs (tests/leaks.txt, tests/races.txt).
function(chasqui_sanitized_tests)
  get_property(asked DIRECTORY PROPERTY CHASQUI_SANITIZED)
  if(NOT CHASQUI_SANITIZE OR asked)
    return()
  endif()
  set_property(DIRECTORY PROPERTY CHASQUI_SANITIZED TRUE)
  cmake_language(DEFER CALL chasqui_adapt_tests)
endfunction()
function(chasqui_adapt_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test ${tests})
    # On x86-64 the MPI libraries keep no frame pointers: only a slow walk up the stack tells whose a leak is.
    set(walk 1)
    get_test_property(${test} LABELS labels)
    if(labels MATCHES "mpi" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
      set(walk 0)
    endif()
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=verify_asan_link_order=0:fast_unwind_on_malloc=${walk}
      LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks.txt:print_suppressions=0)
    if(CHASQUI_SANITIZE STREQUAL "thread")  # UCX writes its hooks into functions that TSan has replaced, and crashes
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT UCX_MEM_EVENTS=n
        TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/races.txt)
    endif()
  endforeach()
endfunction()

# chasqui_bench(NAME SOURCES a.cpp … LIBRARIES target …): a Google Benchmark program bench_NAME.
function(chasqui_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT CHASQUI_BENCHMARKS)
    return()
  endif()
  add_executable(bench_${name} ${ARG_SOURCES})
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(bench_${name} PRIVATE ${ARG_LIBRARIES} chasqui_warnings benchmark::benchmark_main)
endfunction()

# chasqui_example(NAME room …): examples/NAME.cpp, built and run as a test.
function(chasqui_example name)
  add_executable(example_${name} ${PROJECT_SOURCE_DIR}/examples/${name}.cpp)
  list(TRANSFORM ARGN PREPEND "chasqui::" OUTPUT_VARIABLE libraries)
  target_link_libraries(example_${name} PRIVATE ${libraries} chasqui_warnings)
  if(CHASQUI_TESTS)
    add_test(NAME example_${name} COMMAND example_${name})
  endif()
endfunction()
