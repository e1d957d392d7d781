# zellige_precompile(TARGET room|test): with ZELLIGE_PRECOMPILE, the target's sources begin with headers that are parsed
# once. It pays where nothing is cached, as in CI: half of the time of a build is the parsing of these headers. Where
# ccache has most of it, it does not: ccache takes no source with precompiled headers. Such a build is used once, so the libraries,
# and the programs that zellige_compiled_once names, are compiled by -O1, which takes two thirds of -O3's time.
option(ZELLIGE_PRECOMPILE "Precompile the headers that most sources include" OFF)

set(ZELLIGE_PRECOMPILED_room <fmt/format.h> <algorithm> <array> <cstdint> <filesystem> <fstream> <functional> <map>
    <memory> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
# Without nlohmann/json.hpp, which few tests include: it takes 0.4 s of each source that begins with it.
set(ZELLIGE_PRECOMPILED_test <gtest/gtest.h> <cmath> ${ZELLIGE_PRECOMPILED_room})

set(ZELLIGE_PRECOMPILED_OPTIONS $<$<CONFIG:Release>:-O1>)

function(zellige_precompile target kind)
  if(NOT ZELLIGE_PRECOMPILE)
    return()
  endif()
  set(owner zellige_precompiled_${kind})
  if(NOT TARGET ${owner})
    set(source ${PROJECT_BINARY_DIR}/generated/precompiled_${kind}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// The headers' owner.\n")
    add_library(${owner} OBJECT ${source})
    target_link_libraries(${owner} PRIVATE fmt::fmt)
    if(kind STREQUAL test)
      target_link_libraries(${owner} PRIVATE GTest::gtest)
      target_compile_options(${owner} PRIVATE ${ZELLIGE_TEST_OPTIONS})
    else()
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      target_compile_options(${owner} PRIVATE ${ZELLIGE_PRECOMPILED_OPTIONS})
    endif()
    target_precompile_headers(${owner} PRIVATE ${ZELLIGE_PRECOMPILED_${kind}})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(kind STREQUAL room)
    target_compile_options(${target} PRIVATE ${ZELLIGE_PRECOMPILED_OPTIONS})
  endif()
endfunction()

# zellige_compiled_once(TARGET...): programs and libraries that are not rooms, likewise by -O1.
function(zellige_compiled_once)
  if(ZELLIGE_PRECOMPILE)
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE ${ZELLIGE_PRECOMPILED_OPTIONS})
    endforeach()
  endif()
endfunction()
