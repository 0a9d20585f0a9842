# `cmake --install`: the rooms as static libraries with their headers, the program with its manual and completions, the
# drop-in MPI libraries, the explorer, the documentation, and two ways to find them: find_package(chasqui) and pkg-config.
# `cmake --build … --target installable` builds all of it and nothing else.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # installing needs the libraries and the program, not the tests
include(CMakePackageConfigHelpers)

# What needs one particular MPI is there once per library: chasqui::mpi_openmpi, chasqui::bsp_mpi_mpich, …
get_property(rooms GLOBAL PROPERTY CHASQUI_ROOMS)
list(REMOVE_ITEM rooms cli)
set(targets ${rooms})
list(TRANSFORM targets PREPEND chasqui_)
set(flavour_targets "")
foreach(flavour ${CHASQUI_MPI_FLAVOURS})
  list(APPEND flavour_targets chasqui_mpi_flavour_${flavour})
  set_target_properties(chasqui_mpi_flavour_${flavour} PROPERTIES EXPORT_NAME mpi_flavour_${flavour})
  if(TARGET chasqui_bsp_mpi_${flavour})
    list(APPEND targets chasqui_bsp_mpi_${flavour})
    list(APPEND rooms bsp_mpi_${flavour})
    set_target_properties(chasqui_bsp_mpi_${flavour} PROPERTIES EXPORT_NAME bsp_mpi_${flavour})
  endif()
endforeach()
install(TARGETS ${targets} ${flavour_targets} EXPORT chasqui_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/chasqui DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

set(programs "")
foreach(flavour ${CHASQUI_MPI_FLAVOURS})
  install(TARGETS chasqui_preload_${flavour} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${flavour})
  install(TARGETS chasqui-mpi-${flavour} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${flavour})
  list(APPEND programs chasqui_preload_${flavour} chasqui-mpi-${flavour})
endforeach()
if(TARGET chasqui)
  install(TARGETS chasqui RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  list(APPEND programs chasqui)
endif()

# Manual pages and completions are written by the program itself.
set(manual "")
if(TARGET chasqui)
  set(manual ${PROJECT_BINARY_DIR}/share/man/man1/chasqui.1)
  set(completions ${PROJECT_BINARY_DIR}/share/completions)
  add_custom_command(OUTPUT ${manual} ${completions}/chasqui ${completions}/_chasqui
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_BINARY_DIR}/share/man/man1
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/man/man1 ${completions}
    COMMAND chasqui man --all ${PROJECT_BINARY_DIR}/share/man/man1
    COMMAND chasqui completion bash > ${completions}/chasqui
    COMMAND chasqui completion zsh > ${completions}/_chasqui
    DEPENDS chasqui COMMENT "Manual pages and completions" VERBATIM)
  add_custom_target(chasqui_manual ALL DEPENDS ${manual})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools)
  install(FILES ${completions}/chasqui DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  set(zsh_folder site-functions)
  if(EXISTS /etc/debian_version)
    set(zsh_folder vendor-completions)
  endif()
  install(FILES ${completions}/_chasqui DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder} COMPONENT tools)
endif()
add_custom_target(installable DEPENDS ${targets} ${programs} ${manual})

get_property(page GLOBAL PROPERTY CHASQUI_EXPLORER_PAGE)
if(page)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DATADIR}/chasqui COMPONENT tools OPTIONAL)
  add_dependencies(installable explorer_page)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)

# find_package(chasqui COMPONENTS plan …) → chasqui::plan, …
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/chasqui)
set(CHASQUI_INSTALLED_ROOMS "${rooms}")
set(CHASQUI_INSTALLED_FLAVOURS "${CHASQUI_MPI_FLAVOURS}")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/chasqui-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/chasqui-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/chasqui-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT chasqui_targets NAMESPACE chasqui:: FILE chasqui-targets.cmake DESTINATION ${package_folder} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/cmake/chasqui-config.cmake ${PROJECT_BINARY_DIR}/cmake/chasqui-config-version.cmake
  DESTINATION ${package_folder} COMPONENT development)

# pkg-config chasqui: the rooms without solvers and fibres, right to left as a linker wants them. chasqui-bsp and
# chasqui-mpi-<flavour> (to be compiled with that library's mpicxx) add theirs.
function(chasqui_pkg_config name description requires libraries)
  set(CHASQUI_PC_NAME ${name})
  set(CHASQUI_PC_DESCRIPTION ${description})
  set(CHASQUI_PC_REQUIRES ${requires})
  set(CHASQUI_PC_LIBS ${libraries})
  file(RELATIVE_PATH CHASQUI_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/chasqui.pc.in ${PROJECT_BINARY_DIR}/cmake/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
set(libraries "")
foreach(room show threads run simulate verify plan schedule model base)
  if(TARGET chasqui_${room})
    string(APPEND libraries " -lchasqui_${room}")
  endif()
endforeach()
if(CHASQUI_HWLOC_LIBRARY)
  string(APPEND libraries " -lhwloc")
endif()
chasqui_pkg_config(chasqui "Optimal collectives for LogP machines" fmt "${libraries}")
if(TARGET chasqui_bsp)
  chasqui_pkg_config(chasqui-bsp "Bulk-synchronous programs on Chasqui" chasqui "-lchasqui_bsp -lboost_context")
endif()
foreach(flavour ${CHASQUI_MPI_FLAVOURS})
  chasqui_pkg_config(chasqui-mpi-${flavour} "Chasqui's collectives over ${flavour}" chasqui "-lchasqui_mpi_${flavour}")
endforeach()

# `cpack -G DEB` in the build folder: chasqui (the program), chasqui-dev (libraries and headers), and one package for each
# MPI with its drop-in library, so that nobody needs both.
set(CPACK_PACKAGE_NAME chasqui)
set(CPACK_PACKAGE_VENDOR "Chasqui")
set(CPACK_PACKAGE_CONTACT "The Chasqui authors <chasqui@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "optimal collectives for LogP machines: planner, verifier, simulator")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tools development ${CHASQUI_MPI_FLAVOURS})
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME chasqui)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME chasqui-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libboost-context-dev, coinor-libcbc-dev, libhwloc-dev")
foreach(flavour ${CHASQUI_MPI_FLAVOURS})
  string(TOUPPER ${flavour} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME chasqui-${flavour})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "chasqui (= ${PROJECT_VERSION})")
endforeach()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
find_program(CHASQUI_SHLIBDEPS dpkg-shlibdeps)
if(CHASQUI_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "xdg-utils, chasqui-openmpi, chasqui-mpich")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
include(CPack)
