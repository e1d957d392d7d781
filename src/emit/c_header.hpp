// A program as one function of C: NAME.h declares it and says what it takes, for C and C++ alike and without CUDA's headers.
//
//   const char* run_mlp(const void* pX, const void* pW, void* pY, void* workspace, struct CUstream_st* stream);
//
// It gives NULL, or one sentence that says what is wrong. NAME.cu defines it by CUDA's runtime, NAME.so by the driver.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// NAME.h, whole.
std::string c_header(const Manifest&);

/// "const char* run_NAME(...)", without what follows it.
std::string c_signature(const Manifest&);

/// The beginning of its definition, up to where `inputs` and `outputs` hold addresses that were checked.
std::string c_checks(const Manifest&);

/// What NAME.cu has behind its kernels where it goes with NAME.h: the definition, on the host entry.
std::string cuda_definition(const Manifest&);

}  // namespace zellige::emit
