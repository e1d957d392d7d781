// Loads of 16 bytes that may begin at any element.
//
//   Vec<half_t, 8> v = load_anywhere<8>(row + k, edge(K - k, 8), last + 1);    // the first ones that exist, zeros behind them
//   Vec<half_t, 8> v = load_anywhere<8>(row + k, edge(K - k, 8));              // 16 bytes and more in front of the tensor's end
//
// The two aligned words in which the elements lie are loaded and shifted: two loads and a dozen steps in place of eight loads. `end` is the
// first element behind the tensor: where a word reaches past it, elements are loaded one by one. The emulator reads just the elements.
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/atom/vec.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/access.hpp>
#endif

namespace zellige {

/// The first `valid` elements from byte `shift` of two words on, of 16 bytes each; zeros behind them.
template <class Result>
ZELLIGE_ANYWHERE Result shifted(const Vec<uint32_t, 4>& low, const Vec<uint32_t, 4>& high, uint32_t shift,
                                int valid) {
  const bool by_two = (shift & 8) != 0, by_one = (shift & 4) != 0;
  // Down by two registers, by one, by the rest of the bits.
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

/// An element of so many bits, and behind it what was there; the last element is gone.
template <int Bits>
ZELLIGE_ANYWHERE Vec<uint32_t, 4> in_front(Vec<uint32_t, 4> x, uint32_t element) {
  for (int w = 3; w >= 0; --w) {
    const uint64_t two = static_cast<uint64_t>(x[w]) << 32 | (w > 0 ? x[w - 1] : 0u);
    x[w] = static_cast<uint32_t>(two << Bits >> 32);
  }
  x[0] |= element;
  return x;
}

#if defined(ZELLIGE_EMULATE)

template <int N, class T>
ZELLIGE_CALL auto load_anywhere(emulate::pointer<T> from, int valid, emulate::pointer<T> = {}) {
  using Result = Vec<typename unqualified<T>::type, N>;
  static_assert(sizeof(Result) == 16, "load_anywhere: 16 bytes");
  Result result{};
  for (int i = 0; i < valid && i < N; ++i) result[i] = load<1>(from + i)[0];
  return result;
}

#elif defined(__CUDACC__)

template <int N, class T>
ZELLIGE_CALL auto load_anywhere(T* from, int valid, T* end = nullptr) {
  using Result = Vec<typename unqualified<T>::type, N>;
  static_assert(sizeof(Result) == 16, "load_anywhere: 16 bytes");
  Result result{};
  if (valid <= 0) return result;
  const auto address = reinterpret_cast<uint64_t>(from);
  const auto shift = static_cast<uint32_t>(address % 16);
  const bool second = shift + static_cast<uint32_t>(valid) * sizeof(T) > 16;
  if (end && address - shift + (second ? 32 : 16) > reinterpret_cast<uint64_t>(end)) {
    // From the last one on, each in front of those that are there: a loop of one load and four shifts, since few threads come here
    // and each place that loads has it.
    Vec<uint32_t, 4> x{};
#pragma unroll 1
    for (int i = valid; i-- > 0;)
      x = in_front<8 * sizeof(T)>(x, bit_cast<typename register_of<sizeof(T)>::type>(from[i]));
    return bit_cast<Result>(x);
  }
  const auto* words = reinterpret_cast<const Vec<uint32_t, 4>*>(address - shift);
  const Vec<uint32_t, 4> low = words[0];
  Vec<uint32_t, 4> high{};
  if (second) high = words[1];
  return shifted<Result>(low, high, shift, valid);
}

#endif

}  // namespace zellige
