# What `cmake --install` puts down: the headers, the rooms as static libraries, the executable, and a package, so that
#   find_package(zellige REQUIRED)
#   target_link_libraries(mine PRIVATE zellige::headers)        # layouts, tensors, instructions: nothing to link
#   target_link_libraries(mine PRIVATE zellige::run)            # the transpiler and what runs its kernels
# work elsewhere.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(TARGET zellige_run)
  include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)
endif()

get_property(rooms GLOBAL PROPERTY ZELLIGE_ROOMS)
set_target_properties(zellige_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS zellige_headers ${rooms} EXPORT zellige_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/zellige)
install(DIRECTORY include/zellige DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
# CuTe's header names are put where only those who ask for them find them: -I PREFIX/include/zellige/compat.
install(DIRECTORY compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zellige/compat)
# The rooms' own headers, under a folder of theirs: #include "graph/graph.hpp" is found by the target's include path.
foreach(room ${rooms})
  string(REPLACE zellige_ "" folder ${room})
  install(DIRECTORY src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zellige FILES_MATCHING PATTERN "*.hpp")
endforeach()
if(TARGET zellige)
  install(TARGETS zellige RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/zellige)
install(EXPORT zellige_targets NAMESPACE zellige:: DESTINATION ${package})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/zellige-config.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(Boost COMPONENTS context)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/zellige_targets.cmake)
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/zellige-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/zellige-config.cmake ${PROJECT_BINARY_DIR}/zellige-config-version.cmake
        DESTINATION ${package})
