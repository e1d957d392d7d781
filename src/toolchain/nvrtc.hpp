// Compiles CUDA source code to a cubin with NVRTC, loaded on first use. Zellige's headers are embedded in the binary.
#pragma once
#include <string>
#include <string_view>

#include "toolchain/cache.hpp"

namespace zellige::toolchain {

/// The machine code of a program, with how it was compiled.
struct Cubin {
  std::string bytes;
  std::string architecture;  // architecture that it was compiled for: sm_80, sm_90, sm_90a
  double compile_ms = 0;     // NVRTC's time; that of the original compilation if `cached`
  bool cached = false;
  std::string note;  // why it was compiled without cache hints, or why a cache entry was not used; else ""
};

/// Returns NVRTC's version, for example "13.0". Throws Error if there is no NVRTC of version 12.3 or newer.
const std::string& nvrtc_version();

/// Throws Error if $ZELLIGE_NVRTC is set but names no usable NVRTC: if it is set, no other one is searched for.
void require_named_nvrtc();

/// Compiles a program for an architecture (sm_80, sm_90a), or finds its cubin in the cache. If the machine
/// code takes a memory descriptor from an odd register (toolchain/machine_code.hpp), compiles the source code again
/// without cache hints, and says so in Cubin::note. Throws Fault if the machine code has such a descriptor
/// even then. If the compiler rejects the source code, throws Fault with the compiler's log.
Cubin compile_cubin(const std::string& source, std::string_view architecture, const Cache&);

/// Throws Fault if a cubin, from any compiler, takes a memory descriptor from an odd register, and Error if
/// it is not a complete cubin. `program` is its name in messages.
void require_even_descriptors(std::string_view cubin, std::string_view program);

}  // namespace zellige::toolchain
