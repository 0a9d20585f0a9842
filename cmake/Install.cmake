# `cmake --install`: the rooms as static libraries with their headers, the program, the explorer, and two ways to find
# them: find_package(chasqui) and pkg-config. Rooms that need one particular MPI are left out.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # installing needs the libraries and the program, not the tests
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY CHASQUI_ROOMS)
list(FILTER rooms EXCLUDE REGEX "^(mpi|preload|cli)")
set(targets ${rooms})
list(TRANSFORM targets PREPEND chasqui_)
install(TARGETS ${targets} EXPORT chasqui_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(room ${rooms})
  if(EXISTS ${PROJECT_SOURCE_DIR}/include/chasqui/${room})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/chasqui/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/chasqui
      COMPONENT development PATTERN mpi.hpp EXCLUDE)
  endif()
endforeach()
if(TARGET chasqui)
  install(TARGETS chasqui RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
get_property(page GLOBAL PROPERTY CHASQUI_EXPLORER_PAGE)
if(page)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DATADIR}/chasqui COMPONENT tools OPTIONAL)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/chasqui COMPONENT tools RENAME copyright)

# find_package(chasqui COMPONENTS plan …) → chasqui::plan, …
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/chasqui)
set(CHASQUI_INSTALLED_ROOMS "${rooms}")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/chasqui-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/chasqui-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/chasqui-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT chasqui_targets NAMESPACE chasqui:: FILE chasqui-targets.cmake DESTINATION ${package_folder} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/cmake/chasqui-config.cmake ${PROJECT_BINARY_DIR}/cmake/chasqui-config-version.cmake
  DESTINATION ${package_folder} COMPONENT development)

# pkg-config chasqui: the rooms without solvers and fibres, right to left as a linker wants them.
set(CHASQUI_PC_LIBS "")
foreach(room show threads run simulate verify plan schedule model base)
  if(TARGET chasqui_${room})
    string(APPEND CHASQUI_PC_LIBS " -lchasqui_${room}")
  endif()
endforeach()
if(CHASQUI_HWLOC_LIBRARY)
  string(APPEND CHASQUI_PC_LIBS " -lhwloc")
endif()
file(RELATIVE_PATH CHASQUI_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/chasqui.pc.in ${PROJECT_BINARY_DIR}/cmake/chasqui.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/chasqui.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# `cpack -G DEB` in the build folder: one package with everything.
set(CPACK_PACKAGE_NAME chasqui)
set(CPACK_PACKAGE_VENDOR "Chasqui")
set(CPACK_PACKAGE_CONTACT "The Chasqui authors <chasqui@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "optimal collectives for LogP machines: planner, verifier, simulator")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
find_program(CHASQUI_SHLIBDEPS dpkg-shlibdeps)
if(CHASQUI_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libfmt-dev, nlohmann-json3-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "xdg-utils")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
include(CPack)
