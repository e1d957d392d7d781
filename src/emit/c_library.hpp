// Emits the C source of the shared object NAME.so, which implements the function of NAME.h on the CUDA
// driver and contains the kernels' cubin. The library opens libcuda.so.1 at its first call, and otherwise
// needs only the C library.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Returns the source. `cubin` is the path of the cubin file, which the assembler includes when the source
/// is compiled. Throws Error if a kernel has more than 64 tensors or 8 tensor maps.
std::string c_library(const Manifest&, const std::string& cubin);

}  // namespace zellige::emit
