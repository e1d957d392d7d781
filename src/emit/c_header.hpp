// Emits the C interface of a program: the header NAME.h, where NAME is the program's name. The header declares and
// documents one function that launches the program, for C and C++, without CUDA headers.
//
//   const char* run_mlp(const void* pX, const void* pW, void* pY, void* workspace, struct CUstream_st* stream);
//
// The function returns NULL on success, or one sentence that describes the error. Two files define it: NAME.cu uses
// the CUDA runtime, and the shared library NAME.so uses the CUDA driver (c_library.hpp).
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Returns the source of NAME.h.
std::string c_header(const Manifest&);

/// Returns "const char* run_NAME(...)" without a semicolon or body.
std::string c_signature(const Manifest&);

/// Returns the beginning of the C source of run_NAME: functions for messages, its signature, checks of all addresses,
/// and the arrays `inputs` and `outputs`. The caller adds the launches, the return and the closing brace.
std::string c_checks(const Manifest&);

/// Returns the definition of run_NAME, the C function that launches the program. NAME.cu has it after its kernels. The
/// function checks the addresses and calls launch_NAME, which launches the kernels (host_text.hpp).
std::string cuda_definition(const Manifest&);

}  // namespace zellige::emit
