// Computes tcgen05.mma on the CPU, from its instruction descriptor: D = A B^T, or D += A B^T, for the rows of one CTA. The
// emulator runs it. Host code only.
//
// Products are exact; they are added to D in double, k ascending, and rounded once to the type of D. An element of D takes a
// word of 32 bits, of which one of 16 bits is the lower half.
#pragma once

#include <vector>
#include <zellige/atom/narrow_mma_reference.hpp>

namespace zellige::reference {

/// The kinds of tcgen05.mma, in the order of UMMA::Kind.
enum class UmmaKind : unsigned char { tf32, f16, i8, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

/// The fields of an instruction's descriptor (umma_descriptor.hpp).
struct UmmaShape {
  unsigned m, n, k;         // of all CTAs
  Number a, b, d;           // none: the kind has no such operands
  bool a_mn, b_mn;          // contiguous along M or N, not along K
  bool negative, saturate;  // of the product; of integers
  unsigned size;  // bytes of an operand's element in shared memory; two of 4 bits share one if they are packed
  Number scale = Number::none;              // of blocks along K
  unsigned scale_at_a = 0, scale_at_b = 0;  // the byte at which the scales of a row begin
  bool packed = false;

  UmmaShape(UmmaKind kind, uint32_t word) {
    const unsigned of_d = word >> 4 & 3;
    d = of_d == 0 ? Number::f16 : of_d == 1 ? Number::f32 : Number::s32;
    a = number(kind, word >> 7 & 7), b = number(kind, word >> 10 & 7);
    a_mn = word >> 15 & 1, b_mn = word >> 16 & 1;
    negative = (word >> 13 & 1) != (word >> 14 & 1), saturate = word >> 3 & 1;
    n = (word >> 17 & 0x3f) * 8, m = (word >> 24 & 0x1f) * 16;
    size = kind == UmmaKind::tf32 ? 4 : kind == UmmaKind::f16 ? 2 : 1;
    k = 32 / size;
    if (kind < UmmaKind::mxf8f6f4) return;
    d = Number::f32, scale = word >> 23 & 1 ? Number::ue8m0 : Number::ue4m3;
    scale_at_a = word >> 29 & 3, scale_at_b = word >> 4 & 3, saturate = false;
    packed = kind != UmmaKind::mxf8f6f4;
    if (packed) k = 64, a = b = Number::e2m1;
  }
  /// Returns the number type of an operand's code in the descriptor of an instruction of this kind.
  static Number number(UmmaKind kind, unsigned code) {
    constexpr Number narrow[] = {Number::e4m3, Number::e5m2, Number::none, Number::e2m3,
                                 Number::e3m2, Number::e2m1, Number::none, Number::none};
    switch (kind) {
      case UmmaKind::tf32:
        return code == 2 ? Number::tf32 : Number::none;
      case UmmaKind::f16:
        return code == 0 ? Number::f16 : code == 1 ? Number::bf16 : Number::none;
      case UmmaKind::i8:
        return code == 0 ? Number::u8 : code == 1 ? Number::s8 : Number::none;
      default:
        return narrow[code];
    }
  }
};

/// Returns element c of a row of an operand. Elements of 4 and 6 bits are packed, 16 in each 16 bytes.
inline double umma_element(Number number, const unsigned char* row, unsigned c) {
  const int i = static_cast<int>(c);
  switch (number) {
    case Number::tf32:
      return value_at<tfloat32_t>(row, i);
    case Number::f16:
      return value_at<half_t>(row, i);
    case Number::bf16:
      return value_at<bfloat16_t>(row, i);
    case Number::u8:
      return row[c];
    case Number::s8:
      return static_cast<signed char>(row[c]);
    default:
      break;
  }
  const auto bits = static_cast<unsigned>(bits_of(number));
  if (bits == 8) return narrow_value(number, row[c]);
  const unsigned at = c % 16 * bits;
  const unsigned char* const chunk = row + c / 16 * 16;
  const unsigned pair = chunk[at / 8] | (at % 8 + bits > 8 ? unsigned(chunk[at / 8 + 1]) << 8 : 0u);
  return narrow_value(number, pair >> at % 8 & ((1u << bits) - 1));
}
/// Returns element c of a row of elements of 4 bits that are packed without gaps.
inline double packed_element(const unsigned char* row, unsigned c) {
  return narrow_value(Number::e2m1, row[c / 2] >> c % 2 * 4 & 0xfu);
}

/// Returns lane and column of element (row, column) of a CTA's `rows` rows of D, whose address has the lane `first` (0, or 16
/// with 64 rows) and column 0. With 64 rows a CTA alone has them in 16 of each 32 lanes; each of a pair has the two halves of
/// N in the lanes from 0 and from 64 on.
struct UmmaPlace {
  unsigned lane, column;
  UmmaPlace(unsigned rows, unsigned ctas, unsigned n, unsigned first, unsigned row, unsigned at)
      : lane(row), column(at) {
    if (rows == 128) return;
    if (ctas == 1)
      lane = first + row % 16 + row / 16 * 32;
    else if (at >= n / 2)
      lane += 64, column -= n / 2;
  }
};

/// Computes `rows` rows of D. a: row by row, of s.k elements; b: likewise, its s.n rows; word(row, column): the word of an
/// element of D.
template <class Word>
void umma(const UmmaShape& s, unsigned rows, const double* a, const double* b, bool accumulate, Word word) {
  std::vector<double> across(s.k * s.n), sums(s.n);
  for (unsigned n = 0; n < s.n; ++n)
    for (unsigned k = 0; k < s.k; ++k) across[k * s.n + n] = b[n * s.k + k];
  for (unsigned m = 0; m < rows; ++m) {
    for (unsigned n = 0; n < s.n; ++n) {
      const uint32_t before = word(m, n);
      sums[n] = !accumulate          ? 0
                : s.d == Number::s32 ? value_at<int32_t>(&before, 0)
                : s.d == Number::f32 ? value_at<float>(&before, 0)
                                     : value_at<half_t>(&before, 0);
    }
    for (unsigned k = 0; k < s.k; ++k) {
      const double x = s.negative ? -a[m * s.k + k] : a[m * s.k + k];
      const double* const y = &across[k * s.n];
      for (unsigned n = 0; n < s.n; ++n) sums[n] += x * y[n];
    }
    for (unsigned n = 0; n < s.n; ++n) {
      uint32_t& after = word(m, n);
      if (s.d == Number::s32)
        after = static_cast<uint32_t>(cut(sums[n], s.saturate));
      else if (s.d == Number::f32)
        after = __builtin_bit_cast(uint32_t, static_cast<float>(sums[n]));
      else
        after = half_t(round_to_odd(sums[n])).bits;
    }
  }
}

}  // namespace zellige::reference
