# The tables of kernels as string literals (embed_table.cmake).
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
