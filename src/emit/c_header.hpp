// A program as one C function: NAME.h declares and documents it, for C and C++, without CUDA headers.
//
//   const char* run_mlp(const void* pX, const void* pW, void* pY, void* workspace, struct CUstream_st* stream);
//
// It returns NULL, or one sentence with the error. NAME.cu implements it with the CUDA runtime, NAME.so with
// the driver.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Returns the whole of NAME.h.
std::string c_header(const Manifest&);

/// Returns "const char* run_NAME(...)" without a semicolon or body.
std::string c_signature(const Manifest&);

/// Returns the beginning of its definition, up to where `inputs` and `outputs` hold the checked addresses.
std::string c_checks(const Manifest&);

/// Returns what NAME.cu has after its kernels if it is used with NAME.h: the definition, which calls the host
/// entry.
std::string cuda_definition(const Manifest&);

}  // namespace zellige::emit
