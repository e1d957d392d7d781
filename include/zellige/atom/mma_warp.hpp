// Matrix instructions of a warp that mma.hpp does not spell out: SM70's quad pairs, SM75, 8-, 4- and 1-bit
// integers, f64 and complex numbers, 8-bit floats. Each is a row of mma_traits/table.hpp; its registers and its PTX
// follow from the row.
//
//   int32_t d[4] = {};
//   uint32_t a[4], b[2];
//   mma<SM80_16x8x32_S32S8S8S32_TN>(d, a, b);                  // d += a b
//
// d is float, int32_t, uint32_t (pairs of half) or double; the operands are uint32_t, or double where d is.
#pragma once

#include <zellige/atom/mma_traits/names.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/mma_warp_emulated.hpp>
#endif

namespace zellige {

namespace detail {

/// An instruction's PTX, made of its row.
struct MmaText {
  char text[96] = {};
  int length = 0;

  ZELLIGE_ALGEBRA constexpr void add(const char* word) {
    for (; *word; ++word) text[length++] = *word;
  }
  ZELLIGE_ALGEBRA constexpr void add(int number) {
    if (number >= 10) add(number / 10);
    text[length++] = static_cast<char>('0' + number % 10);
  }
  ZELLIGE_ALGEBRA constexpr void add(Number n) {
    if (n == Number::u1) return add(".b1");
    for (NumberName const& row : number_names) {
      if (row.number != n) continue;
      text[length++] = '.';
      for (const char* c = row.name; *c; ++c)
        text[length++] = static_cast<char>(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
    }
  }
};

ZELLIGE_ALGEBRA constexpr MmaText mma_text(MmaRow const& row) {
  MmaText t;
  t.add("mma.sync.aligned.m");
  t.add(row.m);
  t.add("n");
  t.add(row.n);
  t.add("k");
  t.add(row.k);
  t.add(row.a_rows ? ".row" : ".col");
  t.add(row.b_columns ? ".col" : ".row");
  if (row.ending == MmaRow::Ending::saturate) t.add(".satfinite");
  t.add(row.d);
  t.add(row.a);
  t.add(row.b);
  t.add(row.c);
  if (row.ending == MmaRow::Ending::xor_popc) t.add(".xor.popc");
  if (row.ending == MmaRow::Ending::and_popc) t.add(".and.popc");
  return t;
}

/// Registers of an operand that one thread holds: of 32 bits, or doubles.
ZELLIGE_ALGEBRA constexpr int mma_registers(MmaRow const& row, int elements, Number n) {
  const int threads = row.issuer == Issuer::quad_pair ? 8 : 32;
  return n == Number::f64 ? elements / threads : elements * bits_of(n) / (32 * threads);
}

template <bool float32, bool integer, bool float64>
struct mma_accumulator {
  using type = uint32_t;
};
template <>
struct mma_accumulator<true, false, false> {
  using type = float;
};
template <>
struct mma_accumulator<false, true, false> {
  using type = int32_t;
};
template <>
struct mma_accumulator<false, false, true> {
  using type = double;
};
template <bool float64>
struct mma_operand {
  using type = uint32_t;
};
template <>
struct mma_operand<true> {
  using type = double;
};

/// The parts of a row as constants that device code may use.
template <class Op>
struct MmaConstants {
  ZELLIGE_ALGEBRA static consteval MmaRow row() { return find_mma(Op::name); }
  static constexpr int na = mma_registers(row(), row().m * row().k, row().a);
  static constexpr int nb = mma_registers(row(), row().n * row().k, row().b);
  static constexpr int nd = mma_registers(row(), row().m * row().n, row().d);
  static constexpr bool float64 = row().d == Number::f64;
  static constexpr int length = mma_text(row()).length;
  using D = typename mma_accumulator<row().d == Number::f32, row().d == Number::s32, float64>::type;
  using AB = typename mma_operand<float64>::type;
};

template <int... I>
struct Places {};
template <int n, int... I>
struct make_places : make_places<n - 1, n - 1, I...> {};
template <int... I>
struct make_places<0, I...> {
  using type = Places<I...>;
};
template <class Op, class = typename make_places<MmaConstants<Op>::length>::type>
struct MmaPtx;
template <class Op, int... I>
struct MmaPtx<Op, Places<I...>> {
  static constexpr char text[] = {mma_text(find_mma(Op::name)).text[I]..., 0};
};

/// Which register counts and accumulators an instruction has: r 32 bits, f float, d double.
template <class Op, int na, int nb, int nd, char kind>
inline constexpr bool mma_takes = MmaConstants<Op>::na == na && MmaConstants<Op>::nb == nb && MmaConstants<Op>::nd == nd &&
                                  kind == (MmaConstants<Op>::float64                                 ? 'd'
                                           : is_same_v<typename MmaConstants<Op>::D, float> ? 'f'
                                                                                                     : 'r') &&
                                  find_mma(Op::name).a != Number::c64;

}  // namespace detail

/// A row of the tables that a warp issues and mma.hpp has no struct for.
template <class Op>
concept warp_mma_row = requires { Op::name; } && !requires { typename Op::ARegisters; } &&
                       (find_mma(Op::name).issuer == Issuer::warp || find_mma(Op::name).issuer == Issuer::quad_pair);
/// Of those, the complex ones: several real instructions.
template <class Op>
concept complex_mma_row = warp_mma_row<Op> && find_mma(Op::name).a == Number::c64;

template <class Op>
using MmaD = typename detail::MmaConstants<Op>::D[detail::MmaConstants<Op>::nd];
template <class Op>
using MmaA = typename detail::MmaConstants<Op>::AB[detail::MmaConstants<Op>::na];
template <class Op>
using MmaB = typename detail::MmaConstants<Op>::AB[detail::MmaConstants<Op>::nb];

#if defined(ZELLIGE_EMULATE)

template <warp_mma_row Op>
requires(!complex_mma_row<Op>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  constexpr MmaRow row = find_mma(Op::name);
  mma_warp_emulated<row.m, row.n, row.k>(detail::warp_mma_kind(row), d, a, b, Op::name);
}

#elif defined(__CUDACC__)

// Inline PTX must spell its operands out: one line for each number of registers.
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 1, 1, 2, 'r'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%4 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(b[0]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 2, 1, 4, 'r'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%7 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 2, 1, 2, 'r'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%5 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 4, 2, 4, 'r'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%10 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 4, 2, 2, 'r'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%8 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 2, 1, 4, 'f'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%7 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 4, 2, 4, 'f'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%10 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 2, 2, 4, 'r'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%8 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 2, 2, 8, 'f'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%12 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%0, %1, %2, %3, %4, %5, %6, %7};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 1, 1, 2, 'd'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%4 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a[0]), "d"(b[0]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 2, 1, 4, 'd'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%7 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(b[0]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 4, 2, 4, 'd'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%10 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "C"(detail::MmaPtx<Op>::text));
}
template <warp_mma_row Op>
requires(detail::mma_takes<Op, 8, 4, 4, 'd'>)
ZELLIGE_CALL void mma(MmaD<Op>& d, const MmaA<Op>& a, const MmaB<Op>& b) {
  asm volatile("%16 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]), "C"(detail::MmaPtx<Op>::text));
}

#endif

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
/// Complex numbers: real and imaginary parts in arrays of their own, four real products. d += a b.
template <class Real, int ND, int NA, int NB>
ZELLIGE_CALL void mma_complex(double (&re)[ND], double (&im)[ND], const double (&a_re)[NA],
                              const double (&a_im)[NA], const double (&b_re)[NB], const double (&b_im)[NB]) {
  double minus[NA];
  for (int i = 0; i < NA; ++i) minus[i] = -a_im[i];
  mma<Real>(re, a_re, b_re);
  mma<Real>(re, minus, b_im);
  mma<Real>(im, a_re, b_im);
  mma<Real>(im, a_im, b_re);
}
#endif

}  // namespace zellige
