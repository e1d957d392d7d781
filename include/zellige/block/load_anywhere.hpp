// Defines LoadAnywhere, which loads 16 bytes from an address that need not be a multiple of 16.
//
//   // elements k to k + 15 of a row of K elements; `last` points to the last element of the tensor
//   LoadAnywhere<half_t, 8> x[2];
//   for (int i = 0; i < 2; ++i) x[i].start(row + k + 8 * i, edge(K - k - 8 * i, 8), last + 1);  // all in flight
//   for (int i = 0; i < 2; ++i) store(s + 8 * i, x[i].value());  // zeros from element K on
//
// A LoadAnywhere loads the two aligned 16-byte words that contain the elements and shifts them: two loads and a dozen
// instructions in place of eight loads. If a word crosses the tensor's end, the elements are loaded one by one. If the
// end is not passed, at least 16 readable bytes must follow the tensor. The emulator reads only the elements.
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/atom/vec.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/access.hpp>
#endif

namespace zellige {

/// Returns a vector of type Result whose first `valid` elements begin at byte `shift` (0 to 15) of the 32 bytes (low,
/// high); its other elements are zero.
template <class Result>
ZELLIGE_ANYWHERE Result shifted(const Vec<uint32_t, 4>& low, const Vec<uint32_t, 4>& high, uint32_t shift, int valid) {
  const bool by_two = (shift & 8) != 0, by_one = (shift & 4) != 0;
  // Shifts down by two registers, by one, then by the remaining bits.
  const uint32_t w[8] = {low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
  uint32_t v[6], u[5];
  for (int i = 0; i < 6; ++i) v[i] = by_two ? w[i + 2] : w[i];
  for (int i = 0; i < 5; ++i) u[i] = by_one ? v[i + 1] : v[i];
  Vec<uint32_t, 4> bits;
  for (int i = 0; i < 4; ++i)
    bits[i] = static_cast<uint32_t>((static_cast<uint64_t>(u[i + 1]) << 32 | u[i]) >> 8 * (shift & 3));
  Result result = bit_cast<Result>(bits);
  constexpr int elements = sizeof(Result) / sizeof(result[0]);
  for (int i = 0; i < elements; ++i)
    if (i >= valid) result[i] = {};
  return result;
}

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)

/// A load of N elements of type T, 16 bytes in total, to registers: start() issues the load, value() returns its
/// result.
template <class T, int N>
class LoadAnywhere {
 public:
  using Result = Vec<T, N>;
  static_assert(sizeof(Result) == 16, "LoadAnywhere: 16 bytes");

#if defined(ZELLIGE_EMULATE)

  template <class P>
  ZELLIGE_CALL void start(P from, int valid, P = {}) {
    value_ = {};
    for (int i = 0; i < valid && i < N; ++i) value_[i] = load<1>(from + i)[0];
  }
  ZELLIGE_CALL Result value() const { return value_; }

 private:
  Result value_{};

#else

  /// Starts the load of `valid` elements (at most N) from `from` on. `end` points after the tensor's last element, or
  /// is null if at least 16 readable bytes follow the tensor. Branches only on addresses, so that several loads can be
  /// in flight.
  ZELLIGE_CALL void start(const T* from, int valid, const T* end = nullptr) {
    const auto address = reinterpret_cast<uint64_t>(from);
    const uint32_t shift = address % 16;
    const bool second = shift + static_cast<uint32_t>(valid) * sizeof(T) > 16;
    from_ = from, valid_ = valid;
    last_ = end && valid > 0 && address - shift + (second ? 32 : 16) > reinterpret_cast<uint64_t>(end);
    load_if(valid > 0 && !last_, address - shift, low_);
    load_if(valid > 0 && !last_ && second, address - shift + 16, high_);
  }
  /// Waits for the load, and returns its `valid` elements followed by zeros.
  ZELLIGE_CALL Result value() const {
    const auto shift = static_cast<uint32_t>(reinterpret_cast<uint64_t>(from_) % 16);
    Result value = shifted<Result>(low_, high_, shift, valid_);
    if (last_) {
#pragma unroll
      for (int i = 0; i < N; ++i)
        if (i < valid_) value[i] = from_[i];
    }
    return value;
  }

 private:
  /// Loads 16 bytes from `address` if `there` is true, else leaves `to` unchanged. Uses a predicated instruction: after
  /// a branch, the next load could not start before this one has completed.
  static ZELLIGE_CALL void load_if(bool there, uint64_t address, Vec<uint32_t, 4>& to) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n"
        "@p ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
        : "+r"(to[0]), "+r"(to[1]), "+r"(to[2]), "+r"(to[3])
        : "l"(address), "r"(static_cast<uint32_t>(there)));
  }

  Vec<uint32_t, 4> low_{}, high_{};
  const T* from_ = nullptr;
  int valid_ = 0;
  bool last_ = false;  // the words cross the tensor's end

#endif
};

#endif

}  // namespace zellige
