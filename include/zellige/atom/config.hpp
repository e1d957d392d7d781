// Defines the macros and integer types by which the headers of atom/ build in three ways from one source:
//   nvcc, NVRTC                    device code; nothing of the standard library is included
//   g++ -DZELLIGE_EMULATE          the emulator: every call is checked and computed in <zellige/emulate/>
//   any host compiler              the number types, conversions and the instruction table only
#pragma once

// ZELLIGE_CALL declares a function that kernels call; the macro is not defined in builds for the host only.
// ZELLIGE_ANYWHERE declares a function for kernels and for the host.
#if defined(__CUDACC__)
#define ZELLIGE_CALL __device__ __forceinline__
#define ZELLIGE_ANYWHERE __host__ __device__ __forceinline__
#elif defined(ZELLIGE_EMULATE)
// Always inlined, so that the emulator's reports name the calling line of the kernel, not a line of these
// headers.
#define ZELLIGE_CALL [[gnu::always_inline]] inline
#define ZELLIGE_ANYWHERE [[gnu::always_inline]] inline
#else
#define ZELLIGE_ANYWHERE inline
#endif

#if defined(__CUDACC_RTC__)
namespace zellige {
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int8_t = signed char;
using int16_t = short;
using int64_t = long long;
using uint64_t = unsigned long long;
}  // namespace zellige
#else
#include <stdint.h>
namespace zellige {
using ::int16_t, ::int32_t, ::int64_t, ::int8_t, ::uint16_t, ::uint32_t, ::uint64_t, ::uint8_t;
}
#endif
