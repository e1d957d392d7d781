# How sources are compiled where no cache of compiled sources (ccache) is: bench/build_time.py counts what it saves.
#   ZELLIGE_UNITY       several sources of a library are compiled as one, so that headers are parsed once for all of them
#   ZELLIGE_PRECOMPILE  the headers that most sources include are parsed once for a whole build
# With ccache both are off: it takes no source with precompiled headers, and a change would compile its neighbours, too.
if(CCACHE)
  set(ZELLIGE_NO_CACHE OFF)
else()
  set(ZELLIGE_NO_CACHE ON)
endif()
option(ZELLIGE_PRECOMPILE "Precompile the headers that most sources include" ${ZELLIGE_NO_CACHE})
option(ZELLIGE_UNITY "Compile several sources as one" ${ZELLIGE_NO_CACHE})

# zellige_unity(TARGET [SOURCES]): with ZELLIGE_UNITY, so many sources of the target are compiled as one.
function(zellige_unity target)
  if(ZELLIGE_UNITY)
    set(batch 8)
    if(ARGC GREATER 1)
      set(batch ${ARGV1})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

# zellige_precompile(TARGET room|test): with ZELLIGE_PRECOMPILE, the target's sources begin with headers that are parsed
# once.

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
