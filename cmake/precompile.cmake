# How sources are compiled where no cache of compiled sources (ccache) is; bench/build_time.py counts what it saves.
#   ZELLIGE_UNITY       several sources of a library are compiled as one, so that headers are parsed once for all of them
#   ZELLIGE_PRECOMPILE  the headers that most sources include are parsed once for a whole build
# With ccache both are off: it takes no source with precompiled headers, and a change would compile its neighbours, too.
#   ZELLIGE_BUILT_ONCE  the libraries and the programs that zellige_compiled_once names are compiled by -O1, which takes two
#                       thirds of -O3's time: for a build that is used once, as in CI
if(CCACHE)
  set(no_cache OFF)
else()
  set(no_cache ON)
endif()
option(ZELLIGE_PRECOMPILE "Precompile the headers that most sources include" ${no_cache})
option(ZELLIGE_UNITY "Compile several sources as one" ${no_cache})
option(ZELLIGE_BUILT_ONCE "Compile the libraries by -O1" OFF)

# zellige_unity(TARGET SOURCES): with ZELLIGE_UNITY, SOURCES of the target are compiled as one.
function(zellige_unity target sources)
  if(ZELLIGE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${sources})
  endif()
endfunction()

# zellige_precompile(TARGET room|test): with ZELLIGE_PRECOMPILE, the target's sources begin with the headers below.
set(ZELLIGE_PRECOMPILED_room <fmt/format.h> <algorithm> <array> <cstdint> <filesystem> <fstream> <functional> <map>
    <memory> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
# Without nlohmann/json.hpp, which few tests include: it takes 0.4 s of each source that begins with it.
set(ZELLIGE_PRECOMPILED_test <gtest/gtest.h> <cmath> ${ZELLIGE_PRECOMPILED_room})

set(ZELLIGE_OPTIMIZED $<$<AND:$<CONFIG:Release>,$<BOOL:${ZELLIGE_BUILT_ONCE}>>:-O1>)

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
      target_compile_options(${owner} PRIVATE ${ZELLIGE_OPTIMIZED})
    endif()
    target_precompile_headers(${owner} PRIVATE ${ZELLIGE_PRECOMPILED_${kind}})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# zellige_compiled_once(TARGET...): with ZELLIGE_BUILT_ONCE, these programs and libraries, which are not rooms, are compiled by -O1.
function(zellige_compiled_once)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE ${ZELLIGE_OPTIMIZED})
  endforeach()
endfunction()
