// Vector loads and stores: one access of N * sizeof(T) = 1, 2, 4, 8 or 16 bytes to global or shared memory.
//
//   Vec<half_t, 8> v = load<8>(pointer);     // one 16-byte load; the pointer is aligned to 16 bytes
//   store(pointer, v);
//
// load_once is for global memory that no thread writes while the kernel runs; the emulator checks that. It is
// not moved before griddep_wait, and is an ordinary ld.global: nc with L1::no_allocate, L1::evict_first and
// an L2 policy each cost 4% of the time of a kernel that streams rows (docs/log.md).
#pragma once

#include <zellige/atom/pointer.hpp>
#include <zellige/atom/vec.hpp>

namespace zellige {

template <class T>
struct unqualified {
  using type = T;
};
template <class T>
struct unqualified<const T> {
  using type = T;
};

/// The unsigned register type that moves a given number of bytes at once.
template <int Bytes>
struct register_of;
template <>
struct register_of<1> {
  using type = uint8_t;
};
template <>
struct register_of<2> {
  using type = uint16_t;
};
template <>
struct register_of<4> {
  using type = uint32_t;
};
template <>
struct register_of<8> {
  using type = Vec<uint32_t, 2>;
};
template <>
struct register_of<16> {
  using type = Vec<uint32_t, 4>;
};

template <class T>
inline constexpr bool is_one_access = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0;

#if defined(ZELLIGE_EMULATE)

template <int N, class T>
ZELLIGE_CALL auto load(emulate::pointer<T> from) {
  using Result = Vec<typename unqualified<T>::type, N>;
  static_assert(is_one_access<Result>, "load: one access has 1, 2, 4, 8 or 16 bytes");
  return emulate::read<Result>(from);
}

template <int N, class T>
ZELLIGE_CALL auto load_once(emulate::pointer<T> from) {
  if (from.region->space != emulate::Space::global || from.region->writable)
    emulate::fail_at(from.region->name, "load_once is for global memory that the kernel does not write");
  return load<N>(from);
}

template <class T, int N>
ZELLIGE_CALL void store(emulate::pointer<T> to, const Vec<T, N>& value) {
  static_assert(is_one_access<Vec<T, N>>, "store: one access has 1, 2, 4, 8 or 16 bytes");
  emulate::write(to, value);
}

#else

template <int N, class T>
ZELLIGE_CALL auto load(T* from) {
  using Result = Vec<typename unqualified<T>::type, N>;
  static_assert(is_one_access<Result>, "load: one access has 1, 2, 4, 8 or 16 bytes");
  using Register = typename register_of<sizeof(Result)>::type;
  return bit_cast<Result>(*reinterpret_cast<const Register*>(from));
}

template <class T, int N>
ZELLIGE_CALL void store(T* to, const Vec<T, N>& value) {
  static_assert(is_one_access<Vec<T, N>>, "store: one access has 1, 2, 4, 8 or 16 bytes");
  using Register = typename register_of<sizeof(value)>::type;
  *reinterpret_cast<Register*>(to) = bit_cast<Register>(value);
}

template <int N, class T>
ZELLIGE_CALL auto load_once(T* from) {
  using Result = Vec<typename unqualified<T>::type, N>;
  static_assert(is_one_access<Result>, "load: one access has 1, 2, 4, 8 or 16 bytes");
  typename register_of<sizeof(Result)>::type r;
  const auto address = __cvta_generic_to_global(from);
  if constexpr (sizeof(r) == 16) {
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "l"(address));
  } else if constexpr (sizeof(r) == 8) {
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "l"(address));
  } else if constexpr (sizeof(r) == 4) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(r) : "l"(address));
  } else if constexpr (sizeof(r) == 2) {
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(r) : "l"(address));
  } else {
    return load<N>(from);
  }
  return bit_cast<Result>(r);
}

#endif

}  // namespace zellige
