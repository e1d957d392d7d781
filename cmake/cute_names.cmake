# The names of src/port/cute_names.txt within the library zellige_port: zellige doctor needs no file.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/port/cute_names.txt)
file(READ ${PROJECT_SOURCE_DIR}/src/port/cute_names.txt cute_names)
set(cute_names_source ${PROJECT_BINARY_DIR}/generated/cute_names.cpp)
file(CONFIGURE OUTPUT ${cute_names_source} @ONLY CONTENT
"#include \"port/report.hpp\"

std::string_view zellige::port::cute_names() {
  return R\"names(@cute_names@)names\";
}
")
target_sources(zellige_port PRIVATE ${cute_names_source})
