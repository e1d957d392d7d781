// Emits the code of the host, which launches the kernels of a program called NAME, by two interfaces:
//
// - launch_NAME, at the end of NAME.cu, takes lists of addresses and launches by the CUDA runtime.
// - run_NAME, which the header NAME.h declares and documents for C and C++, without CUDA headers. Two files define it:
//   NAME.cu uses launch_NAME, and the shared library NAME.so the CUDA driver. It returns NULL on success, or one sentence
//   that describes the error:
//
//   const char* run_mlp(const void* pX, const void* pW, void* pY, void* workspace, struct CUstream_st* stream);
#pragma once
#include "emit/source_lines.hpp"
#include "manifest/manifest.hpp"

namespace zellige::emit {

/// Emits the host entry launch_NAME, which launches the program's kernels on a stream with the CUDA runtime,
/// and the entries by which the emulator runs each kernel. NVRTC skips this code.
void host_entry(const manifest::Manifest&, Text&);

/// Returns the source of NAME.h.
std::string c_header(const manifest::Manifest&);

/// Returns the functions for messages that run_NAME calls, in C.
std::string c_messages(const manifest::Manifest&);
/// Returns the beginning of the C source of run_NAME: its signature, checks of all addresses, and the arrays `inputs` and
/// `outputs`. The caller adds the launches, the return and the closing brace.
std::string c_checks(const manifest::Manifest&);

/// Returns the definition of run_NAME that NAME.cu has after its kernels.
std::string cuda_definition(const manifest::Manifest&);

/// Returns the C source of NAME.so, which contains the kernels' cubin. The library opens libcuda.so.1 at its first call, and
/// otherwise needs only the C library. `cubin` is the path of the cubin file, which the assembler includes when the source
/// is compiled. Throws Error if a kernel has more than 64 tensors or 8 tensor maps.
std::string c_library(const manifest::Manifest&, const std::string& cubin);

}  // namespace zellige::emit
