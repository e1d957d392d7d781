# What `cmake --install` puts down: the headers, the rooms as static libraries, the executable, and a package, so that
#   find_package(zellige REQUIRED)
#   target_link_libraries(mine PRIVATE zellige::headers)        # layouts, tensors, instructions: nothing to link
#   target_link_libraries(mine PRIVATE zellige::program)        # <zellige/program.hpp>: graphs run on the caller's memory
#   target_link_libraries(mine PRIVATE zellige::run)            # the transpiler and what runs its kernels
# work elsewhere. The headers need nothing but a C++ compiler; the rooms need what they are built with, and are left out
# where that is not found. `cmake --install BUILD --component headers` puts down the headers alone, built or not.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(TARGET zellige_run)
  include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/zellige)
set_target_properties(zellige_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS zellige_headers EXPORT zellige_headers)
install(EXPORT zellige_headers NAMESPACE zellige:: DESTINATION ${package} COMPONENT headers)
install(DIRECTORY include/zellige DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
# CuTe's header names are put where only those who ask for them find them: -I PREFIX/include/zellige/compat.
install(DIRECTORY compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zellige/compat COMPONENT headers)

get_property(rooms GLOBAL PROPERTY ZELLIGE_ROOMS)
install(TARGETS ${rooms} EXPORT zellige_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/zellige)
install(EXPORT zellige_targets NAMESPACE zellige:: DESTINATION ${package})
# The rooms' own headers, under a folder of theirs: #include "graph/graph.hpp" is found by the target's include path.
get_property(folders GLOBAL PROPERTY ZELLIGE_ROOM_FOLDERS)
foreach(folder ${folders})
  install(DIRECTORY src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zellige FILES_MATCHING PATTERN "*.hpp")
endforeach()
if(TARGET zellige)
  install(TARGETS zellige RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The C ABI, <zellige/api.h> and <zellige/program.hpp>: a shared object, and nothing that it was built with.
install(TARGETS zellige_api EXPORT zellige_program LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT zellige_program NAMESPACE zellige:: DESTINATION ${package})
# What the Python package has beside its modules: python/zellige finds the library beside itself.
if(SKBUILD)
  install(TARGETS zellige_api LIBRARY DESTINATION ${SKBUILD_PLATLIB_DIR}/zellige COMPONENT python)
  install(TARGETS zellige RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/zellige-config.cmake @ONLY CONTENT [[
include(${CMAKE_CURRENT_LIST_DIR}/zellige_headers.cmake)
set(zellige_headers_FOUND TRUE)
include(${CMAKE_CURRENT_LIST_DIR}/zellige_program.cmake OPTIONAL)

# The rooms come with what they are built with, or not at all.
set(zellige_lacks)
if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/zellige_targets.cmake)
  list(APPEND zellige_lacks "the libraries, which were not installed")
else()
  foreach(zellige_needs fmt nlohmann_json Threads)
    find_package(${zellige_needs} QUIET)
    if(NOT ${zellige_needs}_FOUND)
      list(APPEND zellige_lacks ${zellige_needs})
    endif()
  endforeach()
  find_package(Boost QUIET COMPONENTS context)
  if(NOT TARGET Boost::context)
    list(APPEND zellige_lacks "Boost.Context")
  endif()
endif()
if(zellige_lacks)
  list(JOIN zellige_lacks ", " zellige_lacks)
  if(NOT zellige_FIND_QUIETLY)
    message(STATUS "zellige: zellige::headers alone; zellige::run and the others need ${zellige_lacks}")
  endif()
else()
  include(${CMAKE_CURRENT_LIST_DIR}/zellige_targets.cmake)
endif()

# find_package(zellige COMPONENTS headers run): each is a target zellige::NAME.
foreach(zellige_asked ${zellige_FIND_COMPONENTS})
  if(TARGET zellige::${zellige_asked})
    set(zellige_${zellige_asked}_FOUND TRUE)
  elseif(zellige_FIND_REQUIRED_${zellige_asked})
    set(zellige_FOUND FALSE)
    set(zellige_NOT_FOUND_MESSAGE "zellige::${zellige_asked} is not there; it may need ${zellige_lacks}")
  endif()
endforeach()
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/zellige-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/zellige-config.cmake ${PROJECT_BINARY_DIR}/zellige-config-version.cmake
        DESTINATION ${package} COMPONENT headers)
