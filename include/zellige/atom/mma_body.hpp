// What a warp's matrix instruction computes, from its row alone: the definition that the emulator runs for
// every row of the tables that mma_reference.hpp does not know. Host code only.
//
//   integers     sums in 64 bits, then cut to 32 bits, or to the nearest of them (saturating)
//   bits         how many bits of a xor b (or a and b) are set
//   8-bit floats products are exact, sums are in double and rounded once, to nearest even
//   double       one fused multiply-add after another, k ascending
#pragma once

#include <zellige/atom/mma_atom.hpp>
#include <zellige/atom/mma_reference.hpp>

namespace zellige::reference {

/// Value v of a fragment in registers, as a number of `Wide`.
template <class Wide, class T>
Wide fragment_value(void const* registers, int v) {
  constexpr int bits = sizeof_bits<T>::value;
  auto const* bytes = static_cast<unsigned char const*>(registers);
  if constexpr (bits < 8) {
    unsigned const raw = bytes[v * bits / 8] >> (v * bits % 8) & ((1u << bits) - 1);
    bool const negative = T(-1) < T(0) && raw >> (bits - 1);
    return Wide(negative ? int(raw) - (1 << bits) : int(raw));
  } else {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), bytes + v * sizeof(T), sizeof(T));
    if constexpr (is_same_v<T, double> || dynamic_integer<T>)
      return Wide(value);
    else
      return Wide(float(value));
  }
}
/// A sum as the accumulator's type holds it.
template <class D, class Wide>
D rounded(Wide sum, [[maybe_unused]] bool saturate) {
  if constexpr (dynamic_integer<D>) {
    constexpr long long most = 2147483647, least = -most - 1;
    if (saturate) sum = sum > most ? most : sum < least ? least : sum;
    return D(static_cast<unsigned>(sum));
  } else if constexpr (sizeof(D) >= 4) {
    return D(sum);
  } else {
    return D(round_to_odd(sum));
  }
}

template <class Op>
struct MmaIn {
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  typename Op::DRegisters c;
};
template <class Op>
struct MmaOut {
  typename Op::DRegisters d;
};

/// The 32 threads of a warp: one instruction, or four of Volta's quad pairs.
template <class Op>
[[gnu::noinline]] void mma_body(MmaIn<Op> const* in, MmaOut<Op>* out) {
  using Traits = MMA_Traits<Op>;
  using A = typename Traits::ValTypeA;
  using B = typename Traits::ValTypeB;
  using D = typename Traits::ValTypeD;
  using Wide = conditional_t<dynamic_integer<D>, long long, double>;
  constexpr MmaRow row = detail::mma_row_of<Op>::value;
  constexpr int m = row.m, n = row.n, k = row.k;
  constexpr int threads = row.issuer == Issuer::quad_pair ? 8 : 32;
  typename Traits::ALayout const at_a{};
  typename Traits::BLayout const at_b{};
  typename Traits::CLayout const at_c{};
  static thread_local Wide a[m * k], b[n * k], d[m * n];
  for (int group = 0; group < 32 / threads; ++group) {
    auto lane = [&](int t) { return threads == 8 ? int(typename Traits::ThrID{}(t)) + 4 * group : t; };
    for (int t = 0; t < threads; ++t) {
      MmaIn<Op> const& mine = in[lane(t)];
      for (int v = 0; v < int(size<1>(at_a)); ++v) a[int(at_a(t, v))] = fragment_value<Wide, A>(mine.a, v);
      for (int v = 0; v < int(size<1>(at_b)); ++v) b[int(at_b(t, v))] = fragment_value<Wide, B>(mine.b, v);
      for (int v = 0; v < int(size<1>(at_c)); ++v) d[int(at_c(t, v))] = fragment_value<Wide, D>(mine.c, v);
    }
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        Wide sum = d[i + m * j];
        for (int l = 0; l < k; ++l) {
          Wide const x = a[i + m * l], y = b[j + n * l];
          if constexpr (row.ending == MmaRow::Ending::xor_popc)
            sum += x != y;
          else if constexpr (row.ending == MmaRow::Ending::and_popc)
            sum += x != 0 && y != 0;
          else if constexpr (is_same_v<D, double>)
            sum = __builtin_fma(x, y, sum);
          else
            sum += x * y;
        }
        d[i + m * j] = sum;
      }
    }
    for (int t = 0; t < threads; ++t) {
      D values[int(size_v<remove_cvref_t<decltype(get<1>(at_c))>>)];
      for (int v = 0; v < int(size<1>(at_c)); ++v)
        values[v] = rounded<D>(d[int(at_c(t, v))], row.ending == MmaRow::Ending::saturate);
      static_assert(sizeof(values) == sizeof(out->d));
      __builtin_memcpy(out[lane(t)].d, values, sizeof(values));
    }
  }
}

}  // namespace zellige::reference
