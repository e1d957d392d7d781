// Emits the C source of NAME.so, the shared library of a compiled program called NAME. The source defines the
// function that NAME.h declares (c_header.hpp), which launches the program's kernels through the CUDA driver
// API, and it contains the kernels' cubin. The library opens libcuda.so.1 at its first call, and otherwise
// needs only the C library.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Returns the C source of NAME.so. `cubin` is the path of the cubin file, which the assembler includes when the source
/// is compiled. Throws Error if a kernel has more than 64 tensors or 8 tensor maps.
std::string c_library(const Manifest&, const std::string& cubin);

}  // namespace zellige::emit
