# k-item broadcast: its sources, and the table of kernels as string literals (embed_table.cmake).
set(kernels_table ${PROJECT_SOURCE_DIR}/data/kernels.txt)
set(kernels_source ${CMAKE_CURRENT_BINARY_DIR}/shipped_kernels.cpp)
add_custom_command(OUTPUT ${kernels_source}
  COMMAND ${CMAKE_COMMAND} -DTABLE=${kernels_table} -DSOURCE=${kernels_source}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/kernel/embed_table.cmake
  DEPENDS ${kernels_table} ${CMAKE_CURRENT_SOURCE_DIR}/kernel/embed_table.cmake
  VERBATIM)

set(kernel_sources
  kernel/build.cpp
  kernel/circle.cpp
  kernel/codec.cpp
  kernel/counting.cpp
  kernel/edge_colouring.cpp
  kernel/endgame.cpp
  kernel/few_items.cpp
  kernel/kernel.cpp
  kernel/kernel_plan.cpp
  kernel/search.cpp
  kernel/table.cpp
  kernel/telephone.cpp
  kernel/tree.cpp
  kernel/window.cpp
  kitem.cpp
  kitem_bound.cpp
  kitem_reduce.cpp
  postal_step.cpp
  repeated_plan.cpp
  segments.cpp
  ${kernels_source})
