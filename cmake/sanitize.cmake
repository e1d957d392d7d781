# ZELLIGE_FUZZ: everything is compiled with AddressSanitizer, UndefinedBehaviorSanitizer and the coverage that libFuzzer
# steers by, so that the libraries are compiled once for the fuzz targets and for the tests labelled `sanitized`.
if(ZELLIGE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ZELLIGE_FUZZ needs clang++ (it brings libFuzzer), found ${CMAKE_CXX_COMPILER_ID}")
  endif()
  add_compile_options(-g1 -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()
