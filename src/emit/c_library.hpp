// The text of NAME.so: NAME.h's function on the CUDA driver, in C, with the kernels' cubin beside it as a file. It takes libcuda.so.1
// when it is first called, and needs no other library than C's.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// `cubin`: the file's path, read when the text is compiled.
std::string c_library(const Manifest&, const std::string& cubin);

}  // namespace zellige::emit
