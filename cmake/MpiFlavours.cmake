# The MPI libraries of this machine, side by side. Each flavour found (openmpi, mpich) is an interface target
# chasqui_mpi_flavour_<flavour>; the list is CHASQUI_MPI_FLAVOURS. Everything that speaks MPI is built once per flavour.
include_guard(GLOBAL)

set(CHASQUI_MPI_FLAVOURS "")

function(chasqui_find_mpi_flavour flavour package)
  if(NOT flavour IN_LIST CHASQUI_MPI)
    return()
  endif()
  find_program(CHASQUI_MPICXX_${flavour} NAMES mpicxx.${flavour})
  find_program(CHASQUI_MPIRUN_${flavour} NAMES mpirun.${flavour} mpiexec.${flavour})
  if(NOT CHASQUI_MPICXX_${flavour} OR NOT CHASQUI_MPIRUN_${flavour})
    message(STATUS "MPI flavour ${flavour} not found: skipped (apt install ${package})")
    return()
  endif()
  # Both wrappers print the full compiler line; only -I, -L and -l matter, and the C++ bindings are not used.
  execute_process(COMMAND ${CHASQUI_MPICXX_${flavour}} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed)
  if(failed)
    message(STATUS "MPI flavour ${flavour}: its compiler wrapper does not answer -show: skipped")
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  add_library(chasqui_mpi_flavour_${flavour} INTERFACE)
  set(directories "")
  set(libraries "")
  foreach(word ${words})
    if(word MATCHES "^-I(.+)")
      target_include_directories(chasqui_mpi_flavour_${flavour} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      list(APPEND directories ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-l(mpi|mpich)$")
      list(APPEND libraries ${CMAKE_MATCH_1})
    endif()
  endforeach()
  foreach(library ${libraries})
    find_library(CHASQUI_MPI_${flavour}_${library} NAMES ${library} HINTS ${directories})
    target_link_libraries(chasqui_mpi_flavour_${flavour} INTERFACE ${CHASQUI_MPI_${flavour}_${library}})
  endforeach()
  target_compile_definitions(chasqui_mpi_flavour_${flavour} INTERFACE
    OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX CHASQUI_MPI_FLAVOUR="${flavour}")
  list(APPEND CHASQUI_MPI_FLAVOURS ${flavour})
  set(CHASQUI_MPI_FLAVOURS ${CHASQUI_MPI_FLAVOURS} PARENT_SCOPE)
endfunction()

chasqui_find_mpi_flavour(openmpi libopenmpi-dev)
chasqui_find_mpi_flavour(mpich libmpich-dev)

# chasqui_mpi_run(OUT flavour ranks): the launcher's words for `ranks` processes on this machine, more than cores allowed.
function(chasqui_mpi_run out flavour ranks)
  chasqui_sanitized_tests()
  if(flavour STREQUAL openmpi)
    set(${out} ${CHASQUI_MPIRUN_openmpi} --allow-run-as-root --oversubscribe --bind-to none
      --mca mpi_yield_when_idle 1 --mca btl self,vader --mca btl_vader_single_copy_mechanism none
      -np ${ranks} PARENT_SCOPE)
  else()
    # chasqui_yielding (tests/engines) lets UCX give the core away instead of spinning.
    set(${out} ${CHASQUI_MPIRUN_${flavour}} -genv LD_PRELOAD $<TARGET_FILE:chasqui_yielding> -n ${ranks} PARENT_SCOPE)
  endif()
endfunction()
