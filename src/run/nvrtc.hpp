// Compiles CUDA source code to a cubin with NVRTC, which is loaded on first use. Zellige's headers come from
// the binary.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "run/cache.hpp"

namespace zellige::run {

struct Cubin {
  std::string bytes;
  std::string architecture;  // that it was compiled for: sm_80, sm_90, sm_90a
  double compile_ms = 0;     // of NVRTC; that of the original compilation if `cached`
  bool cached = false;
  std::string note;  // why it was compiled without cache hints; else ""
};

/// "13.0". Throws Error if there is no NVRTC.
const std::string& nvrtc_version();

/// Throws Error if $ZELLIGE_NVRTC is set and names no usable NVRTC: there is no fallback from an explicit
/// choice.
void require_named_nvrtc();

/// Compiles for an architecture (sm_80, sm_90a); throws with the compiler's log on failure. The machine code
/// is checked for descriptors in odd registers (run/machine_code.hpp): if there is one, the source code is
/// compiled again without cache hints, and `note` says so; if there still is one, throws Fault.
Cubin compile_cubin(const std::string& source, std::string_view architecture, const Cache&);

/// Throws Fault if a cubin of any origin has a descriptor in an odd register, and Error if it is not a
/// complete cubin.
void require_even_descriptors(std::string_view cubin, std::string_view program);

}  // namespace zellige::run
