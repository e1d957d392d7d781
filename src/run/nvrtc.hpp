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
};

/// "13.0". Fails where there is no NVRTC.
const std::string& nvrtc_version();

/// Compiles for an architecture (sm_80, sm_90a); the log of a failure is in the message.
Cubin compile_cubin(const std::string& source, std::string_view architecture, const Cache&);

}  // namespace zellige::run
