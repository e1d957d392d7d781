// Implements the matrix instructions of SM120 on floats of 4, 6 and 8 bits on the CPU: d = a b + c for the 32 threads of a
// warp, where blocks of A and B may have scales, and A may be sparse. The emulator runs it. Host code only.
//
//   a thread's words of A     the registers of A; if A is sparse, its metadata; if there are scales, those of A
//   a thread's words of B     the registers of B; if there are scales, those of B
//
// Each product is exact; they are added to c in double, k ascending, and rounded once, to nearest even.
//
// An element of a byte has its bits at the bottom, except for e2m1, which has two bits below it. The scales of row r of
// A are those of thread r % 8 of each four, plus r / 8; of column n of B those of thread 4 n; a byte is a block along
// K. The metadata of row r are in the threads 4 (r % 8) + r / 8, and two threads later for the second half of K: four bits
// for each group of 4 elements, or of 4 pairs of e2m1 in mxf4nvf4, with the places of the two that are stored.
#pragma once

#include <zellige/atom/float_scale.hpp>
#include <zellige/atom/float_subbyte.hpp>
#include <zellige/atom/mma_reference.hpp>

namespace zellige::reference {

/// Returns the number of type n whose bits are `code`.
inline double narrow_value(Number n, unsigned code) {
  const auto byte = static_cast<unsigned char>(code);
  switch (n) {
    case Number::e2m1:
      return static_cast<float>(float_e2m1_t::bitcast(byte));
    case Number::e2m3:
      return static_cast<float>(float_e2m3_t::bitcast(byte));
    case Number::e3m2:
      return static_cast<float>(float_e3m2_t::bitcast(byte));
    case Number::e4m3:
      return value_at<float_e4m3_t>(&byte, 0);
    case Number::e5m2:
      return value_at<float_e5m2_t>(&byte, 0);
    case Number::ue8m0:
      return static_cast<float>(float_ue8m0_t::bitcast(byte));
    default:
      return static_cast<float>(float_ue4m3_t::bitcast(byte));
  }
}
/// Returns stored element number v of operand `o`, whose registers are `words`.
inline double narrow_element(const Instruction::Operand& o, const uint32_t* words, int v) {
  const int bit = v * o.bits;
  unsigned code = words[bit / 32] >> (bit % 32);
  if (o.bits == 4) return narrow_value(o.number, code & 0xfu);
  code &= 0xffu;
  if (o.number == Number::e2m1) return narrow_value(o.number, code >> 2 & 0xfu);
  return narrow_value(o.number, bits_of(o.number) == 6 ? code & 0x3fu : code);
}

/// The operands of one instruction as matrices: A is (m, k) and B (n, k), column-major, scaled and without its zeros
/// left out.
struct NarrowMatrices {
  double a[16 * 128], b[8 * 128], d[16 * 8];
};

/// Writes the elements of operand `o`, of `rows` rows, to the column-major matrix `to`. from[t] points to the registers
/// of thread t.
inline void gather_narrow(const Instruction::Operand& o, const void* const* from, double* to) {
  const Offsets<128> threads(o.layout.threads), values(o.layout.values);
  for (int t = 0; t < threads.count; ++t)
    for (int v = 0; v < values.count; ++v)
      to[threads.at[t] + values.at[v]] = narrow_element(o, static_cast<const uint32_t*>(from[t]), v);
}
/// Writes the sparse operand A to the column-major matrix `to`, with zeros where nothing is stored.
inline void gather_sparse(const Instruction& row, const void* const* from, double* to) {
  const Instruction::Operand& o = row.a;
  const int of_pair = o.bits == 4 ? 2 : 1;          // elements that the metadata place together
  const int group = 4 * of_pair, half = row.k / 2;  // elements of A
  const Offsets<128> threads(o.layout.threads), values(o.layout.values);
  for (int i = 0; i < row.m * row.k; ++i) to[i] = 0;
  for (int t = 0; t < threads.count; ++t) {
    for (int v = 0; v < values.count; v += group) {
      const int first = threads.at[t] + values.at[v], r = first % row.m, k = first / row.m;
      const auto* owner = static_cast<const uint32_t*>(from[r % 8 * 4 + r / 8 + k / half * 2]);
      const unsigned places = owner[o.registers] >> (k % half / group * 4) & 0xfu;
      for (int i = 0; i < 2 * of_pair; ++i) {
        const int place = static_cast<int>(i < of_pair ? places & 3u : places >> 2) * of_pair + i % of_pair;
        to[r + row.m * (k + place)] = narrow_element(o, static_cast<const uint32_t*>(from[t]), v / 2 + i);
      }
    }
  }
}
/// Multiplies each element of the column-major (rows, k) matrix by its block's scale. thread(r) has the scales of row r,
/// in word `word`.
template <class Thread>
void apply_scales(const Instruction& row, int rows, const void* const* from, int word, Thread thread, double* matrix) {
  for (int r = 0; r < rows; ++r) {
    const uint32_t scales = static_cast<const uint32_t*>(from[thread(r)])[word];
    for (int k = 0; k < row.k; ++k)
      matrix[r + rows * k] *= narrow_value(row.scale, scales >> (k / row.scale_block * 8) & 0xffu);
  }
}

/// Executes the matrix instruction that descriptor `row` describes, for all its threads: operands.d = a b + c.
inline void narrow_mma(const Instruction& row, const BodyOperands& operands) {
  static thread_local NarrowMatrices* const matrices = new NarrowMatrices;  // little thread-local memory is free
  auto& [a, b, d] = *matrices;
  if (row.sparse)
    gather_sparse(row, operands.a, a);
  else
    gather_narrow(row.a, operands.a, a);
  gather_narrow(row.b, operands.b, b);
  if (row.scale != Number::none) {
    const int after_a = row.a.registers + (row.sparse ? 1 : 0);
    apply_scales(
        row, row.m, operands.a, after_a, [](int r) { return r % 8 * 4 + r / 8; }, a);
    apply_scales(
        row, row.n, operands.b, row.b.registers, [](int n) { return n * 4; }, b);
  }
  const auto lane = [](int t) { return t; };
  gather(row.c, row.m, row.n, operands.c, lane, d);
  for (int n = 0; n < row.n; ++n)
    for (int m = 0; m < row.m; ++m)
      for (int k = 0; k < row.k; ++k) d[m + row.m * n] += a[m + row.m * k] * b[n + row.n * k];
  if (row.c.number == Number::f16)
    deal<half_t>(row.c, d, operands.d, lane, [](double x) { return half_t(round_to_odd(x)); });
  else
    deal<float>(row.c, d, operands.d, lane, [](double x) { return x; });
}

}  // namespace zellige::reference
