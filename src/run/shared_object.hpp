// Builds a program as a shared object for a linker or dlopen: its kernels' cubin and the function of NAME.h,
// compiled by g++ (or $ZELLIGE_CXX). It needs the C library, and libcuda.so.1 on its first call.
#pragma once
#include <string>

#include "emit/manifest.hpp"
#include "run/cache.hpp"

namespace zellige::run {

/// Returns its bytes. `cubin` is the result of compile_cubin for the program's source code.
std::string shared_object(const emit::Manifest&, const std::string& cubin, const Cache&);

}  // namespace zellige::run
