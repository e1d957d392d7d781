// CUDA's atomic functions on global and shared memory. The scopes _block and _system are taken for the device's.
#pragma once
#include "zellige/cuda/intrinsics.hpp"

namespace zellige::cuda {

template <class T>
struct Same {
  using type = T;
};
/// A type that is not deduced.
template <class T>
using same = typename Same<T>::type;

/// Performs an atomic: writes change(old value), and returns the old value.
template <class T, class F>
ZELLIGE_DEVICE T atomic(T* p, F change) {
  struct With {
    F change;
    T old;
  } with{change, T{}};
  host->atomic(
      p, sizeof(T),
      [](void* value, void* context) {
        With& w = *static_cast<With*>(context);
        __builtin_memcpy(static_cast<void*>(&w.old), value, sizeof(T));
        const T now = w.change(w.old);
        __builtin_memcpy(value, static_cast<const void*>(&now), sizeof(T));
      },
      &with);
  return with.old;
}

}  // namespace zellige::cuda

#define ZELLIGE_ATOMIC(NAME, EXPRESSION)                                                  \
  template <class T>                                                                      \
  ZELLIGE_DEVICE T NAME(T* p, ::zellige::cuda::same<T> v) {                               \
    return ::zellige::cuda::atomic(p, [v](T old) { return static_cast<T>(EXPRESSION); }); \
  }                                                                                       \
  template <class T>                                                                      \
  ZELLIGE_DEVICE T NAME##_block(T* p, ::zellige::cuda::same<T> v) {                       \
    return ::zellige::cuda::atomic(p, [v](T old) { return static_cast<T>(EXPRESSION); }); \
  }                                                                                       \
  template <class T>                                                                      \
  ZELLIGE_DEVICE T NAME##_system(T* p, ::zellige::cuda::same<T> v) {                      \
    return ::zellige::cuda::atomic(p, [v](T old) { return static_cast<T>(EXPRESSION); }); \
  }
ZELLIGE_ATOMIC(atomicAdd, old + v)
ZELLIGE_ATOMIC(atomicSub, old - v)
ZELLIGE_ATOMIC(atomicMin, v < old ? v : old)
ZELLIGE_ATOMIC(atomicMax, old < v ? v : old)
ZELLIGE_ATOMIC(atomicAnd, old& v)
ZELLIGE_ATOMIC(atomicOr, old | v)
ZELLIGE_ATOMIC(atomicXor, old ^ v)
ZELLIGE_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
ZELLIGE_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
ZELLIGE_ATOMIC(atomicExch, (static_cast<void>(old), v))
#undef ZELLIGE_ATOMIC

template <class T>
ZELLIGE_DEVICE T atomicCAS(T* p, ::zellige::cuda::same<T> compare, ::zellige::cuda::same<T> v) {
  return ::zellige::cuda::atomic(
      p, [compare, v](T old) { return __builtin_memcmp(&old, &compare, sizeof(T)) == 0 ? v : old; });
}
template <class T>
ZELLIGE_DEVICE T atomicCAS_block(T* p, ::zellige::cuda::same<T> compare, ::zellige::cuda::same<T> v) {
  return atomicCAS(p, compare, v);
}
template <class T>
ZELLIGE_DEVICE T atomicCAS_system(T* p, ::zellige::cuda::same<T> compare, ::zellige::cuda::same<T> v) {
  return atomicCAS(p, compare, v);
}
