// The C source of NAME.so: NAME.h's function on the CUDA driver, with the kernels' cubin as a file next to
// the source. It opens libcuda.so.1 at its first call and otherwise needs only the C library.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// `cubin`: path of the cubin file, which is read when this source is compiled.
std::string c_library(const Manifest&, const std::string& cubin);

}  // namespace zellige::emit
