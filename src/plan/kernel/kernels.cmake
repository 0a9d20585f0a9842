# k-item broadcast: its sources, and the tables of kernels as string literals (embed_table.cmake).
function(chasqui_embed_table table name source)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DTABLE=${table} -DNAME=${name} -DSOURCE=${source}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/kernel/embed_table.cmake
    DEPENDS ${table} ${CMAKE_CURRENT_SOURCE_DIR}/kernel/embed_table.cmake
    VERBATIM)
endfunction()
set(kernels_source ${CMAKE_CURRENT_BINARY_DIR}/shipped_kernels.cpp)
set(kernel_bases_source ${CMAKE_CURRENT_BINARY_DIR}/shipped_kernel_bases.cpp)
chasqui_embed_table(${PROJECT_SOURCE_DIR}/data/kernels.txt kShippedKernel ${kernels_source})
chasqui_embed_table(${PROJECT_SOURCE_DIR}/data/kernel_bases.txt kBaseKernel ${kernel_bases_source})

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
  kernel/merged.cpp
  kernel/placement.cpp
  kernel/rings.cpp
  kernel/search.cpp
  kernel/special.cpp
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
  ${kernels_source}
  ${kernel_bases_source})
