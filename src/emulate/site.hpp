// Identifies the place in a kernel that calls an operation of the emulator (a memory access, a barrier, ...) by
// the call's return address and the stack frame of the calling function. Findings report the source lines of
// the call and of its callers. The callers are found from the stack frame, while the call has not returned.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::emulate {

/// A call from a kernel to a function of the emulator.
struct Site {
  std::uintptr_t address = 0;
  std::uintptr_t frame = 0;  // the calling function's: [0] is the frame of its caller, [1] its return address
};

/// The Site of the kernel's call to the function in which the macro is expanded. Expand it only in a function
/// that the kernel calls directly.
#define ZELLIGE_SITE()                                                  \
  ::zellige::emulate::Site {                                            \
    reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),      \
        *static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) \
  }

/// Returns the return addresses of a call and of its callers, innermost first, at most 32. Follows frames as
/// long as they are within the stack [low, high) and ascend.
[[gnu::no_sanitize_address]] inline std::vector<std::uintptr_t> callers(Site site, std::uintptr_t low,
                                                                        std::uintptr_t high) {
  std::vector<std::uintptr_t> result{site.address};
  std::uintptr_t frame = site.frame;
  while (result.size() < 32 && frame >= low && frame + 16 <= high && frame % 8 == 0) {
    const auto* f = reinterpret_cast<const std::uintptr_t*>(frame);
    result.push_back(f[1]);
    if (f[0] <= frame) break;
    frame = f[0];
  }
  return result;
}

/// Returns the 64-bit code address whose low 32 bits are `low`; shadow memory stores only these. Of the
/// possible addresses, it is the one closest to `near`, an address in the same library.
inline std::uintptr_t widen(std::uint32_t low, std::uintptr_t near) {
  const std::uintptr_t span = std::uintptr_t(1) << 32;
  std::uintptr_t address = (near & ~(span - 1)) | low;
  if (address > near && address - near > span / 2)
    address -= span;
  else if (near > address && near - address > span / 2)
    address += span;
  return address;
}

}  // namespace zellige::emulate
