// Detects uses of uninitialised registers in kernels on the emulator. Kernels are compiled so that unwritten
// variables hold a bit pattern (-ftrivial-auto-var-init=pattern). The constructors of fragments, vectors and
// register tensors replace the pattern by NaNs that encode the source position of the declaration and the
// index of the value. Results computed from such NaNs are NaNs, too. A thread that stores, rounds, multiplies
// by or accumulates on such a NaN is reported. In this example, a matmul accumulates on a fragment (a thread's
// registers) that was not cleared:
//
//   Fragment<1, 16, 64> acc4;                       // no acc4.clear()
//   multiply<half_t, 64, true, false>(acc4, a, b, warp, lane);
//   // uninitialised read of registers acc4: thread 0 (warp 0) of block (0,0,0) accumulates at x.cu:62 on value 0,
//   // which nothing has written; they are declared at x.cu:60
#pragma once
#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

// The pattern that the compiler writes into an uninitialised word: a finite float with g++, a NaN with clang.
#if defined(__clang__)
inline constexpr std::uint32_t left_alone = 0xffffffff;
#else
inline constexpr std::uint32_t left_alone = 0xfefefefe;
#endif

// The bits of an unwritten float: a NaN, with the number of the declaration (0: unknown) in bits 8 to 17 and
// the index of the value in bits 0 to 7. Its upper half is a NaN of bfloat16_t and of half_t too, so it
// survives rounding to either.
inline constexpr std::uint32_t unwritten_word = 0x7fd40000, unwritten_mask = 0x7ffc0000;
inline constexpr std::uint16_t unwritten_half = 0x7fd4;
constexpr bool is_unwritten(std::uint32_t word) {
  return (word & unwritten_mask) == unwritten_word || word == left_alone;
}
constexpr bool is_unwritten_half(std::uint32_t half) { return (half & 0x7ffc) == unwritten_half; }

/// Size in bytes of the floats that a type consists of, if the emulator checks it for unwritten values: 4 or
/// 2; 0 for types that are not checked.
template <class T>
inline constexpr int number_bytes = [] {
  if constexpr (__is_same(T, float))
    return 4;
  else if constexpr (__is_class(T) && requires(T v) { v.bits, float(v); })
    return sizeof(T) == 4 ? 4 : sizeof(T) == 2 ? 2 : 0;
  else
    return 0;
}();

/// Source positions (code addresses) of declarations, by number; each library of compiled kernels has its own
/// table.
__attribute__((visibility("hidden"))) inline std::uintptr_t declarations[1024] = {};

/// Returns the number of a source position, 1 to 1023; enters it in the table if it is new. Returns 0 if its
/// part of the table is full. Safe to call from several threads.
__attribute__((noinline, visibility("hidden"))) inline unsigned declaration(std::uintptr_t place) {
  for (unsigned probe = 0, i = unsigned(place * 0x9E3779B97F4A7C15ull >> 54); probe < 64; ++probe, i = (i + 1) % 1024) {
    if (i == 0) continue;
    std::uintptr_t there = __atomic_load_n(&declarations[i], __ATOMIC_RELAXED);
    if (!there &&
        __atomic_compare_exchange_n(&declarations[i], &there, place, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return i;
    if (there == place) return i;
  }
  return 0;
}

/// Enters the source position into which this function is inlined in the table `declarations`, unless it is
/// there, and returns its index. Returns 0, for an unknown position, if the table has no room, or on
/// processors other than x86-64 and AArch64.
inline __attribute__((always_inline)) unsigned declared_here() {
#if defined(__x86_64__)
  std::uintptr_t place;
  asm volatile("lea 0(%%rip), %0" : "=r"(place));
  return declaration(place);
#elif defined(__aarch64__)
  std::uintptr_t place;
  asm volatile("adr %0, . + 4" : "=r"(place));
  return declaration(place);
#else
  return 0;
#endif
}

/// Fills `count` values with NaNs that mark them as unwritten. Four-byte NaNs also encode the index of the
/// value and the caller's source position, which counts as the position of the values' declaration. Does
/// nothing for types that are not checked.
template <class T>
inline __attribute__((always_inline)) void leave_unwritten(T* values, int count) {
  if constexpr (number_bytes<T> == 4) {
    const std::uint32_t first = unwritten_word | declared_here() << 8;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t word = first | (i < 255 ? i : 255);
      __builtin_memcpy((void*)(values + i), &word, 4);
    }
  } else if constexpr (number_bytes<T> == 2) {
    for (int i = 0; i < count; ++i) __builtin_memcpy((void*)(values + i), &unwritten_half, 2);
  }
}

/// Last member of a class that holds a thread's registers: marks them as unwritten when an object is
/// default-initialised. It does nothing if the members before it have been initialised, for example by {}.
template <class Owner>
struct Registers {
  template <class T>
  inline __attribute__((always_inline)) constexpr Registers(T* values, int count) {
    if constexpr (number_bytes<T> != 0) {
      if (__builtin_is_constant_evaluated()) return;
      std::uint32_t word = left_alone;
      __builtin_memcpy(&word, (const void*)values, number_bytes<T>);
      asm volatile("" : "+r"(word));  // hides the undefined value, which the compiler could otherwise assume
      if (word == left_alone) leave_unwritten(values, count);
    }
  }
};

/// How an unwritten value is used; it selects the words of the engine's message.
enum class Use : unsigned char { stores, rounds, multiplies, accumulates };

/// Reports the use of an unwritten register as an error of the kernel. `use`: what the thread does with the
/// value; `word`: the register's content; `value`: index of the value in the declared object, for the case
/// that the NaN in `word` does not encode it.
inline __attribute__((always_inline)) void report_unwritten(Use use, std::uint32_t word, unsigned value) {
  Thread& t = self();
  const bool named = (word & unwritten_mask) == unwritten_word && (word >> 8 & 0x3ff) != 0;
  t.engine->unwritten(t, use, named ? declarations[word >> 8 & 0x3ff] : 0, named ? word & 0xff : value);
}

/// Reports an error of the kernel if one of the numbers in the `bytes` bytes at `registers` is unwritten.
/// `use`: what the thread does with them. Template argument Bytes: size of a number, 4 or 2.
template <int Bytes>
inline __attribute__((always_inline)) void look_for_unwritten(const void* registers, unsigned bytes, Use use) {
  for (unsigned i = 0; i < bytes / 4; ++i) {
    std::uint32_t word;
    __builtin_memcpy(&word, static_cast<const unsigned char*>(registers) + 4 * i, 4);
    const bool found = Bytes == 4 ? is_unwritten(word)
                                  : word == left_alone || is_unwritten_half(word) || is_unwritten_half(word >> 16);
    if (found) [[unlikely]]
      return report_unwritten(use, Bytes == 4 ? word : 0, i);
  }
  if constexpr (Bytes == 2) {
    std::uint16_t last = 0;
    if (bytes % 4) __builtin_memcpy(&last, static_cast<const unsigned char*>(registers) + bytes - 2, 2);
    if (is_unwritten_half(last)) [[unlikely]]
      report_unwritten(use, 0, 0);
  }
}

/// Fills `count` registers, which hold two 16-bit numbers each, with NaNs that mark them as unwritten, if the
/// first one holds the compiler's pattern for uninitialised variables. Returns the index of the caller's
/// source position in the table `declarations`, or 0 if the registers have been written. The caller passes
/// this index to look_for_unwritten_pair, because a 16-bit NaN has no space for it.
inline __attribute__((always_inline)) unsigned leave_unwritten_pairs(std::uint32_t* registers, int count) {
  std::uint32_t word = registers[0];
  asm volatile("" : "+r"(word));
  if (word != left_alone) return 0;
  for (int i = 0; i < count; ++i) registers[i] = unwritten_half * 0x10001u;
  return declared_here();
}
/// Reports an error of the kernel if `pair`, an operand of a multiplication, is a pair of unwritten 16-bit
/// numbers. `declared`: index of the declaration, as leave_unwritten_pairs returned it. `value`: index of the
/// register in the declared object.
inline __attribute__((always_inline)) void look_for_unwritten_pair(std::uint32_t pair, unsigned declared,
                                                                   unsigned value) {
  if (pair == unwritten_half * 0x10001u) [[unlikely]]
    report_unwritten(Use::multiplies, unwritten_word | declared << 8 | (value < 255 ? value : 255), value);
}

/// Reports an error of the kernel if `value` is an unwritten number, or a struct whose array member `values`
/// contains one. `use`: what the thread does with the value. Other types are not checked.
template <class T>
inline __attribute__((always_inline)) void look_for_unwritten(const T& value, Use use) {
  if constexpr (number_bytes<T> != 0) {
    look_for_unwritten<number_bytes<T>>(&value, sizeof(T), use);
  } else if constexpr (requires { value.values[0]; }) {
    [&]<class Element, int N>(const Element(&)[N]) __attribute__((always_inline)) {
      if constexpr (number_bytes<Element> != 0) look_for_unwritten<number_bytes<Element>>(&value, sizeof(T), use);
    }
    (value.values);
  }
}

}  // namespace zellige::emulate
