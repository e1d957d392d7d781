// Builds a program as a shared object that a C program links or opens by dlopen. It contains the cubin and
// the function that NAME.h declares, and is compiled by g++ (or $ZELLIGE_CXX). It needs the C library, and
// loads libcuda.so.1 on its first call.
#pragma once
#include <string>

#include "emit/manifest.hpp"
#include "run/cache.hpp"

namespace zellige::run {

/// Builds the shared object of a program and returns its bytes. `cubin`: the program's machine code, from
/// compile_cubin. Throws Error if there is no compiler, and Fault if the compiler fails.
std::string shared_object(const emit::Manifest&, const std::string& cubin, const Cache&);

}  // namespace zellige::run
