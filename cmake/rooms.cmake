# zellige_room(NAME [DEPENDS lib...]): the folder src/NAME as the static library zellige_NAME.
# Every .cpp of the folder belongs to it; a room whose folder is still empty is skipped.
function(zellige_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(zellige_${name} STATIC ${sources})
  add_library(zellige::${name} ALIAS zellige_${name})
  target_include_directories(zellige_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/zellige>)
  set_target_properties(zellige_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME ${name})
  target_compile_options(zellige_${name} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  target_link_libraries(zellige_${name} PUBLIC zellige_headers fmt::fmt ${ROOM_DEPENDS})
  zellige_precompile(zellige_${name} room)
  set_property(GLOBAL APPEND PROPERTY ZELLIGE_ROOMS zellige_${name})
endfunction()
