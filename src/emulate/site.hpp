// Identifies the place in a kernel that calls an operation of the emulator (a memory access, a barrier, ...) by
// the call's return address and the stack frame of the calling function. Findings report the source lines of
// the call and of its callers. The callers are found from the stack frame, while the call has not returned.
#pragma once
#include <cstdint>

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
