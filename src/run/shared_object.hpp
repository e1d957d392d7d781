// A program as a shared object that a linker or dlopen takes: its kernels' cubin and NAME.h's function, by g++ (or what $ZELLIGE_CXX
// names). It needs the C library, and libcuda.so.1 when it is first called.
#pragma once
#include <string>

#include "emit/manifest.hpp"
#include "run/cache.hpp"

namespace zellige::run {

/// Its bytes. `cubin` is what compile_cubin makes of the program's text.
std::string shared_object(const emit::Manifest&, const std::string& cubin, const Cache&);

}  // namespace zellige::run
