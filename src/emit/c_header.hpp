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

/// Returns the text of NAME.h.
std::string c_header(const Manifest&);

/// Returns "const char* run_NAME(...)" without a semicolon or body.
std::string c_signature(const Manifest&);

/// Returns the beginning of the function's definition: helper functions for messages, then the signature
/// and the checks of all addresses. It ends where the arrays `inputs` and `outputs` have been declared; the
/// caller adds the launches, the return and the closing brace.
std::string c_checks(const Manifest&);

/// Returns the definition of the C function, which NAME.cu has after its kernels. The function checks the
/// addresses and calls the host entry of the program.
std::string cuda_definition(const Manifest&);

}  // namespace zellige::emit
