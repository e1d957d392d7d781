// What the compiler's instrumentation calls: -fsanitize=thread at each access of memory that is not certainly a local
// variable's, -fsanitize=bounds at an index outside of an array, -fsanitize=alignment at an address that is not a
// multiple of its type's alignment. No run-time library of a sanitizer is linked. This file is compiled by itself, without
// these options, and linked with the program.
#pragma once
#include <cstdio>
#include <exception>

#include "zellige/cuda/host.hpp"

namespace zellige::cuda {

#define ZELLIGE_HOOK extern "C" __attribute__((visibility("default"), used)) inline
#define ZELLIGE_CALLER                                                  \
  ::zellige::cuda::CallSite {                                           \
    reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),      \
        *static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) \
  }
#define ZELLIGE_ACCESS_HOOKS(N)                                                                                       \
  ZELLIGE_HOOK void __tsan_read##N(void* p) { ::zellige::cuda::tell(p, N, false, ZELLIGE_CALLER); }                   \
  ZELLIGE_HOOK void __tsan_write##N(void* p) { ::zellige::cuda::tell(p, N, true, ZELLIGE_CALLER); }                   \
  ZELLIGE_HOOK void __tsan_unaligned_read##N(void* p) { ::zellige::cuda::tell(p, N, false, ZELLIGE_CALLER); }         \
  ZELLIGE_HOOK void __tsan_unaligned_write##N(void* p) { ::zellige::cuda::tell(p, N, true, ZELLIGE_CALLER); }         \
  ZELLIGE_HOOK void __tsan_volatile_read##N(void* p) { ::zellige::cuda::tell_volatile(p, N, false, ZELLIGE_CALLER); } \
  ZELLIGE_HOOK void __tsan_volatile_write##N(void* p) { ::zellige::cuda::tell_volatile(p, N, true, ZELLIGE_CALLER); }

/// Tells the emulator of an access. Constructors of global variables run before it has set `host`.
inline __attribute__((always_inline)) void tell(const void* p, std::size_t bytes, bool writes, CallSite site) {
  if (host) host->access(p, bytes, writes, site);
}
inline __attribute__((always_inline)) void tell_volatile(const void* p, std::size_t bytes, bool writes, CallSite site) {
  if (host) host->volatile_access(p, bytes, writes, site);
}

/// What -fsanitize=bounds and -fsanitize=alignment know of a place in the source.
struct SourcePlace {
  const char* file;
  unsigned line, column;
};
/// A type's description: its name follows as a string.
struct TypeName {
  unsigned short kind, info;
  char name[1];
};
struct IndexFault {
  SourcePlace place;
  const TypeName *array, *index;
};
struct AlignmentFault {
  SourcePlace place;
  const TypeName* type;
  unsigned char log_alignment, check;
};

}  // namespace zellige::cuda

ZELLIGE_ACCESS_HOOKS(1)
ZELLIGE_ACCESS_HOOKS(2)
ZELLIGE_ACCESS_HOOKS(4)
ZELLIGE_ACCESS_HOOKS(8)
ZELLIGE_ACCESS_HOOKS(16)
ZELLIGE_HOOK void __tsan_read_range(void* p, unsigned long n) { ::zellige::cuda::tell(p, n, false, ZELLIGE_CALLER); }
ZELLIGE_HOOK void __tsan_write_range(void* p, unsigned long n) { ::zellige::cuda::tell(p, n, true, ZELLIGE_CALLER); }
ZELLIGE_HOOK void __tsan_init() {}
ZELLIGE_HOOK void __tsan_vptr_update(void**, void*) {}
ZELLIGE_HOOK void __tsan_vptr_read(void**) {}
ZELLIGE_HOOK void __tsan_func_entry(void*) {}
ZELLIGE_HOOK void __tsan_func_exit() {}
ZELLIGE_HOOK void __ubsan_handle_out_of_bounds(::zellige::cuda::IndexFault* fault, unsigned long index) {
  if (::zellige::cuda::host)
    ::zellige::cuda::host->bad_index(fault->array->name, static_cast<long long>(index), ZELLIGE_CALLER);
}
ZELLIGE_HOOK void __ubsan_handle_type_mismatch_v1(::zellige::cuda::AlignmentFault* fault, unsigned long p) {
  if (::zellige::cuda::host)
    ::zellige::cuda::host->bad_alignment(fault->type->name, reinterpret_cast<const void*>(p),
                                         1ul << fault->log_alignment, ZELLIGE_CALLER);
}

namespace zellige::cuda {

/// Copies bytes upwards, without a call of memcpy.
inline void copy_up(void* to, const void* from, unsigned long n) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
#else
  for (unsigned long i = 0; i < n; ++i)
    static_cast<volatile unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
#endif
}

}  // namespace zellige::cuda

// Copies of bytes that the compiler leaves to the C library.
ZELLIGE_HOOK void* memcpy(void* to, const void* from, unsigned long n) {
  if (n) ::zellige::cuda::tell(from, n, false, ZELLIGE_CALLER), ::zellige::cuda::tell(to, n, true, ZELLIGE_CALLER);
  ::zellige::cuda::copy_up(to, from, n);
  return to;
}
ZELLIGE_HOOK void* memset(void* to, int value, unsigned long n) {
  if (n) ::zellige::cuda::tell(to, n, true, ZELLIGE_CALLER);
  for (unsigned long i = 0; i < n; ++i) static_cast<volatile unsigned char*>(to)[i] = static_cast<unsigned char>(value);
  return to;
}

// Atomics of C++ in host code (std::atomic, shared_ptr) are performed as they are.
#define ZELLIGE_FETCH_HOOK(N, T, OPERATION)                                      \
  ZELLIGE_HOOK T __tsan_atomic##N##_fetch_##OPERATION(volatile T* p, T v, int) { \
    return __atomic_fetch_##OPERATION(p, v, __ATOMIC_SEQ_CST);                   \
  }
#define ZELLIGE_ATOMIC_HOOKS(N, T)                                                                                  \
  ZELLIGE_HOOK T __tsan_atomic##N##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
  ZELLIGE_HOOK void __tsan_atomic##N##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); } \
  ZELLIGE_HOOK T __tsan_atomic##N##_exchange(volatile T* p, T v, int) {                                             \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                             \
  }                                                                                                                 \
  ZELLIGE_FETCH_HOOK(N, T, add)                                                                                     \
  ZELLIGE_FETCH_HOOK(N, T, sub)                                                                                     \
  ZELLIGE_FETCH_HOOK(N, T, and)                                                                                     \
  ZELLIGE_FETCH_HOOK(N, T, or)                                                                                      \
  ZELLIGE_FETCH_HOOK(N, T, xor)                                                                                     \
  ZELLIGE_HOOK int __tsan_atomic##N##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {          \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                  \
  }                                                                                                                 \
  ZELLIGE_HOOK int __tsan_atomic##N##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {            \
    return __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
  }
ZELLIGE_ATOMIC_HOOKS(8, unsigned char)
ZELLIGE_ATOMIC_HOOKS(16, unsigned short)
ZELLIGE_ATOMIC_HOOKS(32, unsigned int)
ZELLIGE_ATOMIC_HOOKS(64, unsigned long)
ZELLIGE_HOOK void __tsan_atomic_thread_fence(int) {}
ZELLIGE_HOOK void __tsan_atomic_signal_fence(int) {}

/// Gives the program the emulator's functions, and returns the list of its variables.
ZELLIGE_HOOK ::zellige::cuda::Declaration* zellige_cuda_start(const ::zellige::cuda::Host* host) {
  ::zellige::cuda::host = host;
  return ::zellige::cuda::Declaration::first;
}

/// Calls the program's main. An exception that nobody catches ends the program, as it does without the emulator.
ZELLIGE_HOOK int zellige_cuda_main(int (*program)(int, char**, char**), int argc, char** argv, char** environment) {
  try {
    return program(argc, argv, environment);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "an exception ends the program: %s\n", e.what());
  }
  return 134;
}
