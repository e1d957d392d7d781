# Zellige's own headers as a C++ table inside the binary: NVRTC and the emulator compile against them on machines that
# have nothing but the executable.
#
# As a script (cmake -DROOT=include -DOUT=table.cpp -P embed.cmake): writes the table.
# Included: adds the table to the room that carries it.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/zellige/*.hpp)
  list(FILTER headers EXCLUDE REGEX "^zellige/program.hpp$")  # not of kernels
  list(SORT headers)
  set(rows "")
  foreach(header ${headers})
    file(READ ${ROOT}/${header} text)
    string(APPEND rows "    {\"${header}\", R\"zellige(${text})zellige\"sv},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#include "toolchain/headers.hpp"

namespace zellige::toolchain {
namespace {
using namespace std::string_view_literals;  // their lengths are known without counting
constexpr Header table[] = {
@rows@    {"", ""}};
}
std::span<const Header> headers() { return {table, std::size(table) - 1}; }
}  // namespace zellige::toolchain
]])
  return()
endif()

file(GLOB_RECURSE ZELLIGE_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/zellige/*.hpp)
set(ZELLIGE_HEADER_TABLE ${PROJECT_BINARY_DIR}/generated/headers_table.cpp)
add_custom_command(OUTPUT ${ZELLIGE_HEADER_TABLE}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/include -DOUT=${ZELLIGE_HEADER_TABLE}
          -P ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  DEPENDS ${ZELLIGE_HEADERS} ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  COMMENT "Embedding the headers" VERBATIM)
target_sources(zellige_run PRIVATE ${ZELLIGE_HEADER_TABLE})
