// CUDA text to a cubin, by NVRTC, which is loaded when it is first needed. Zellige's headers come from the
// binary.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "run/cache.hpp"

namespace zellige::run {

struct Cubin {
  std::string bytes;
  std::string architecture;  // that it was compiled for: sm_80, sm_90, sm_90a
  double compile_ms = 0;     // of NVRTC; as it was when the entry was made if `cached`
  bool cached = false;
  std::string note;  // that it was compiled without cache hints, and why; "" else
};

/// "13.0". Fails where there is no NVRTC.
const std::string& nvrtc_version();

/// Fails where $ZELLIGE_NVRTC is set and names no NVRTC that can be used: whoever set it wants that one, and no way around it.
void require_named_nvrtc();

/// Compiles for an architecture (sm_80, sm_90a); the log of a failure is in the message. The machine code is read for descriptors in
/// odd registers (run/machine_code.hpp): where it has one, the text is compiled again without cache hints, and `note` says so; where
/// it has one still, throws Fault.
Cubin compile_cubin(const std::string& source, std::string_view architecture, const Cache&);

/// Throws Fault where the machine code of a cubin, whoever made it, has a descriptor in an odd register, and Error where it is no whole
/// cubin.
void require_even_descriptors(std::string_view cubin, std::string_view program);

}  // namespace zellige::run
