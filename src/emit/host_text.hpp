// Emits the host code at the end of NAME.cu, the source of the program called NAME: the function launch_NAME,
// which launches the program's kernels, and functions by which the emulator runs the kernels on the CPU.
#pragma once
#include "emit/manifest.hpp"
#include "emit/source_lines.hpp"

namespace zellige::emit {

/// Emits the host entry launch_NAME, which launches the program's kernels on a stream with the CUDA runtime,
/// and the entries by which the emulator runs each kernel. NVRTC skips this code.
void host_entry(const Manifest&, Text&);

}  // namespace zellige::emit
