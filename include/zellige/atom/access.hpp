// Vector loads and stores: load<N>(p) and store(p, v) move N values of type T between registers and global or
// shared memory in one access of N * sizeof(T) = 1, 2, 4, 8 or 16 bytes.
//
//   Vec<half_t, 8> v = load<8>(pointer);     // one 16-byte load; the pointer is aligned to 16 bytes
//   store(pointer, v);
//
// load_once<N>(p) is a load<N>(p) from global memory that no thread writes while the kernel runs; the
// emulator checks that. Loads of 2 bytes and more are volatile inline PTX, so that the compiler does not move
// them before griddep_wait. No cache modifiers are used: ld.global.nc with L1::no_allocate, L1::evict_first
// or an L2 policy made a kernel that reads a tensor once 4% slower (docs/log.md).
#pragma once

#include <zellige/atom/pointer.hpp>
#include <zellige/atom/vec.hpp>

namespace zellige {

/// unqualified<T>::type is T without a top-level const.
template <class T>
struct unqualified {
  using type = T;
};
template <class T>
struct unqualified<const T> {
  using type = T;
};

/// register_of<Bytes>::type is the unsigned integer, or vector of 32-bit integers, through which one load or
/// store moves `Bytes` bytes: 1, 2, 4, 8 or 16.
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

/// True if one load or store instruction can move a T: its size is a power of two of at most 16 bytes.
template <class T>
inline constexpr bool is_one_access = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0;

#if defined(ZELLIGE_EMULATE)

/// Returns the N values at `from` as a Vec, read in one access. `from` must be aligned to N * sizeof(T) bytes.
template <int N, class T>
ZELLIGE_CALL auto load(emulate::pointer<T> from) {
  using Result = Vec<typename unqualified<T>::type, N>;
  static_assert(is_one_access<Result>, "load: one access has 1, 2, 4, 8 or 16 bytes");
  return emulate::read<Result>(from);
}

/// Returns load<N>(from), for global memory that no thread writes while the kernel runs. The emulator reports an
/// error if `from` is in other memory, or in a tensor that the kernel may write.
template <int N, class T>
ZELLIGE_CALL auto load_once(emulate::pointer<T> from) {
  if (from.region->space != emulate::Space::global || from.region->writable)
    emulate::fail_at(from.region->name, "load_once is for global memory that the kernel does not write");
  return load<N>(from);
}

/// Writes the N values of `value` to `to` in one access. `to` must be aligned to N * sizeof(T) bytes.
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
