#include "arithmetic/products.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "zellige/atom/mma_reference.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace zellige::arithmetic {

namespace {

using reference::Offsets;

// Where the elements of an operand lie in a matrix: element `v` of thread `t` at at[t * values + v].
struct ElementPlaces {
  int values = 0;
  bool pairs = true;  // elements 2 i and 2 i + 1 of a thread are neighbours in the matrix
  std::vector<std::uint16_t> at;
};

// How an instruction's operands become matrices: A (m, k) and C (m, n) row by row, B (k, n) as well.
struct MatrixPlaces {
  bool possible = false;
  std::vector<int> lane;  // of each thread in the layouts
  ElementPlaces a, b, c;
  bool quads =
      false;  // an m16n8 of a warp with accumulators of f32: four lanes have a row of C, and the one eight rows below
};

// The numbers of the matrices of an instruction.
struct ProductMatrices {
  double a[64 * 32], b[32 * 256];
  float c[64 * 256];
};

// Returns the places of an operand. `place(row, column)` is an element's place; the layout counts by columns of `rows` elements.
template <class Place>
ElementPlaces places_of(const Instruction::Operand& o, int rows, const Place& place) {
  ElementPlaces all;
  if (o.space == Instruction::Space::smem) return all;
  const Offsets<128> threads(o.layout.threads), values(o.layout.values);
  all.values = values.count;
  for (int t = 0; t < threads.count; ++t)
    for (int v = 0; v < values.count; ++v) {
      const int offset = threads.at[t] + values.at[v];
      all.at.push_back(std::uint16_t(place(offset % rows, offset / rows)));
      if (v % 2 == 1 && all.at.back() != all.at[all.at.size() - 2] + 1) all.pairs = false;
    }
  all.pairs = all.pairs && values.count % 2 == 0;
  return all;
}

bool is_short(Number x) {
  return x == Number::f16 || x == Number::bf16 || x == Number::tf32 || x == Number::e4m3 || x == Number::e5m2;
}

MatrixPlaces make_places(const Instruction& row) {
  MatrixPlaces all;
  all.possible = row.body == reference::mma && row.ending == MmaEnding::none &&
                 (row.issuers == 32 || row.issuers == 128) && is_short(row.a.number) && is_short(row.b.number) &&
                 (row.c.number == Number::f32 || row.c.number == Number::f16) && row.m % 4 == 0 && row.m <= 64 &&
                 row.n % 8 == 0 && row.n <= 256 && row.k <= 32;
  if (!all.possible) return all;
  const int n = row.n, k = row.k;
  const Offsets<128> issuers(issuing_threads(row.issuers == 128 ? Issuer::warpgroup : Issuer::warp).threads);
  all.lane.assign(issuers.at, issuers.at + issuers.count);
  all.a = places_of(row.a, row.m, [k](int r, int c) { return r * k + c; });
  all.b = places_of(row.b, n, [n](int r, int c) { return r + n * c; });
  all.c = places_of(row.c, row.m, [n](int r, int c) { return r * n + c; });
  for (const ElementPlaces* its : {&all.a, &all.b, &all.c})
    if (its->values != 0 && its->at.size() != all.lane.size() * std::size_t(its->values)) all.possible = false;
  all.quads =
      all.possible && row.issuers == 32 && row.m == 16 && n == 8 && row.c.number == Number::f32 && all.c.values == 4;
  for (int i = 0; all.quads && i < 128; ++i) {
    const int t = i / 4, v = i % 4;
    all.quads = all.lane[t] == t && all.c.at[i] == (t / 4 + v / 2 * 8) * 8 + t % 4 * 2 + v % 2;
  }
  return all;
}

const MatrixPlaces& places(const Instruction& row) {
  static thread_local std::unordered_map<const Instruction*, MatrixPlaces> known;
  static thread_local const Instruction* last = nullptr;
  static thread_local const MatrixPlaces* its = nullptr;
  if (last != &row) {
    const auto [found, fresh] = known.try_emplace(&row);
    if (fresh) found->second = make_places(row);
    last = &row, its = &found->second;
  }
  return *its;
}

// The values of all 256 numbers of 8 bits of type T.
template <class T>
const std::array<float, 256>& all_of() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values{};
    for (unsigned i = 0; i < 256; ++i) {
      const auto byte = static_cast<unsigned char>(i);
      values[i] = static_cast<float>(reference::value_at<T>(&byte, 0));
    }
    return values;
  }();
  return table;
}

// Converts `count` adjacent numbers to float.
__attribute__((target("avx2,fma,f16c"))) void to_floats(Number number, const void* from, int count, float* to) {
  const auto* const bytes = static_cast<const unsigned char*>(from);
  int i = 0;
  if (number == Number::f16) {
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 2 * i))));
    for (; i < count; i += 2) {
      std::uint32_t pair;
      std::memcpy(&pair, bytes + 2 * i, 4);
      _mm_storel_pi(reinterpret_cast<__m64*>(to + i), _mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(pair))));
    }
  } else if (number == Number::bf16) {
    for (; i + 8 <= count; i += 8) {
      const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 2 * i));
      _mm256_storeu_ps(to + i, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight), 16)));
    }
    for (; i < count; ++i) {
      std::uint16_t half;
      std::memcpy(&half, bytes + 2 * i, 2);
      to[i] = __builtin_bit_cast(float, std::uint32_t(half) << 16);
    }
  } else if (number == Number::tf32) {
    for (; i < count; ++i) {
      std::uint32_t word;
      std::memcpy(&word, bytes + 4 * i, 4);
      to[i] = __builtin_bit_cast(float, word & 0xffffe000u);
    }
  } else {
    const std::array<float, 256>& values = number == Number::e4m3 ? all_of<float_e4m3_t>() : all_of<float_e5m2_t>();
    for (; i < count; ++i) to[i] = values[bytes[i]];
  }
}

// Writes an operand that the threads hold in registers to the matrix `to`.
__attribute__((target("avx2,fma,f16c"))) void gather(const ElementPlaces& p, Number number,
                                                     const std::vector<int>& lanes, const void* const* from,
                                                     double* to) {
  alignas(32) float its[128];
  const std::uint16_t* at = p.at.data();
  for (std::size_t t = 0; t < lanes.size(); ++t, at += p.values) {
    to_floats(number, from[lanes[t]], p.values, its);
    if (p.pairs)
      for (int v = 0; v < p.values; v += 2)
        _mm_storeu_pd(to + at[v],
                      _mm_cvtps_pd(_mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(its + v))));
    else
      for (int v = 0; v < p.values; ++v) to[at[v]] = static_cast<double>(its[v]);
  }
}

// Writes an operand of `rows` rows of k elements that lies in shared memory, row by row, to the matrix `to`: row by row, or by
// columns if `transposed`.
__attribute__((target("avx2,fma,f16c"))) void gather(const void* from, Number number, int bits, int rows, int k,
                                                     bool transposed, double* to) {
  alignas(32) float its[32];
  const auto* const bytes = static_cast<const unsigned char*>(from);
  for (int r = 0; r < rows; ++r) {
    to_floats(number, bytes + std::ptrdiff_t(r) * k * bits / 8, k, its);
    if (transposed)
      for (int c = 0; c < k; ++c) to[r + rows * c] = static_cast<double>(its[c]);
    else
      for (int c = 0; c < k; ++c) to[r * k + c] = static_cast<double>(its[c]);
  }
}

// Writes the accumulators, which the threads hold in registers, to the matrix `to`.
void gather_accumulators(const ElementPlaces& p, Number number, const std::vector<int>& lanes, const void* const* from,
                         float* to) {
  float its[128];
  const std::uint16_t* at = p.at.data();
  for (std::size_t t = 0; t < lanes.size(); ++t, at += p.values) {
    const float* values = static_cast<const float*>(from[lanes[t]]);
    if (number == Number::f16) to_floats(number, values, p.values, its), values = its;
    if (p.pairs)
      for (int v = 0; v < p.values; v += 2) std::memcpy(to + at[v], values + v, 8);
    else
      for (int v = 0; v < p.values; ++v) std::memcpy(to + at[v], values + v, 4);
  }
}

// Writes the matrix `from` to the threads' registers.
void deal_accumulators(const ElementPlaces& p, Number number, const std::vector<int>& lanes, const float* from,
                       void* const* to) {
  const std::uint16_t* at = p.at.data();
  for (std::size_t t = 0; t < lanes.size(); ++t, at += p.values) {
    auto* const its = static_cast<unsigned char*>(to[lanes[t]]);
    if (number == Number::f16)
      for (int v = 0; v < p.values; ++v) {
        const half_t x(from[at[v]]);
        std::memcpy(its + 2 * v, static_cast<const void*>(&x), 2);
      }
    else if (p.pairs)
      for (int v = 0; v < p.values; v += 2) std::memcpy(its + 4 * v, from + at[v], 8);
    else
      for (int v = 0; v < p.values; ++v) std::memcpy(its + 4 * v, from + at[v], 4);
  }
}

// Rounds four results to the accumulators' type: to floats, or so that rounding to f16 afterwards gives the same as rounding once.
__attribute__((target("avx2,fma,f16c"))) inline void store(float* to, __m256d x, bool to_half) {
  if (!to_half) return _mm_storeu_ps(to, _mm256_cvtpd_ps(x));
  alignas(32) double its[4];
  _mm256_store_pd(its, x);
  for (int i = 0; i < 4; ++i) to[i] = reference::round_to_odd(its[i]);
}

// Adds the product of four rows of A (k columns) and eight columns of B, whose rows are n numbers apart, to `sums`. Returns a mask: where a
// result is a NaN.
__attribute__((target("avx2,fma,f16c"), always_inline)) inline __m256d add_to(__m256d (&sums)[4][2], const double* a,
                                                                              const double* b, int n, int k) {
  __m256d s00 = sums[0][0], s01 = sums[0][1], s10 = sums[1][0], s11 = sums[1][1];
  __m256d s20 = sums[2][0], s21 = sums[2][1], s30 = sums[3][0], s31 = sums[3][1];
  for (int l = 0; l < k; ++l) {
    const __m256d x = _mm256_loadu_pd(b + l * n), y = _mm256_loadu_pd(b + l * n + 4);
    const __m256d a0 = _mm256_broadcast_sd(a + l), a1 = _mm256_broadcast_sd(a + k + l);
    s00 = _mm256_fmadd_pd(a0, x, s00), s01 = _mm256_fmadd_pd(a0, y, s01);
    s10 = _mm256_fmadd_pd(a1, x, s10), s11 = _mm256_fmadd_pd(a1, y, s11);
    const __m256d a2 = _mm256_broadcast_sd(a + 2 * k + l), a3 = _mm256_broadcast_sd(a + 3 * k + l);
    s20 = _mm256_fmadd_pd(a2, x, s20), s21 = _mm256_fmadd_pd(a2, y, s21);
    s30 = _mm256_fmadd_pd(a3, x, s30), s31 = _mm256_fmadd_pd(a3, y, s31);
  }
  const __m256d all[4][2] = {{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}};
  __m256d nan = _mm256_setzero_pd();
  for (int r = 0; r < 4; ++r)
    for (int half = 0; half < 2; ++half) {
      sums[r][half] = all[r][half];
      nan = _mm256_or_pd(nan, _mm256_cmp_pd(all[r][half], all[r][half], _CMP_UNORD_Q));
    }
  return nan;
}

// Adds four rows and eight columns of the product to the accumulators at c. Returns true if a result is a NaN.
__attribute__((target("avx2,fma,f16c"))) inline bool add_tile(const double* a, const double* b, float* c, int n, int k,
                                                              bool to_half) {
  __m256d sum[4][2];
  for (int r = 0; r < 4; ++r) {
    sum[r][0] = _mm256_cvtps_pd(_mm_loadu_ps(c + r * n));
    sum[r][1] = _mm256_cvtps_pd(_mm_loadu_ps(c + r * n + 4));
  }
  const __m256d nan = add_to(sum, a, b, n, k);
  for (int r = 0; r < 4; ++r)
    for (int half = 0; half < 2; ++half) store(c + r * n + 4 * half, sum[r][half], to_half);
  return _mm256_movemask_pd(nan) != 0;
}

__attribute__((target("avx2,fma,f16c"))) bool add_product(const Instruction& row, ProductMatrices& room) {
  const bool to_half = row.c.number == Number::f16;
  bool nan = false;
  for (int j = 0; j < row.n; j += 8)
    for (int i = 0; i < row.m; i += 4)
      nan |= add_tile(room.a + i * row.k, room.b + j, room.c + i * row.n + j, row.n, row.k, to_half);
  return !nan;
}

// Adds the product of 16 rows of A (k columns) and 8 columns of B to accumulators that the lanes hold as quads. Leaves them
// and returns false if a result is a NaN.
__attribute__((target("avx2,fma,f16c"))) bool add_quads(const double* a, const double* b, void* const* d, int k) {
  alignas(32) float results[16 * 8];
  __m256d nan = _mm256_setzero_pd();
  for (int row = 0; row < 16; row += 4) {
    __m256d sum[4][2];
    for (int r = 0; r < 4; ++r)
      for (int half = 0; half < 2; ++half) {
        const auto pair = [&](int q) {
          return reinterpret_cast<const __m64*>(static_cast<const float*>(d[(row + r) % 8 * 4 + q]) +
                                                (row + r) / 8 * 2);
        };
        const __m128 low = _mm_loadl_pi(_mm_setzero_ps(), pair(2 * half));
        sum[r][half] = _mm256_cvtps_pd(_mm_loadh_pi(low, pair(2 * half + 1)));
      }
    nan = _mm256_or_pd(nan, add_to(sum, a + row * k, b, 8, k));
    for (int r = 0; r < 4; ++r)
      for (int half = 0; half < 2; ++half)
        _mm_store_ps(results + (row + r) * 8 + half * 4, _mm256_cvtpd_ps(sum[r][half]));
  }
  if (_mm256_movemask_pd(nan) != 0) return false;
  for (int lane = 0; lane < 32; ++lane) {
    const float* const from = results + lane / 4 * 8 + lane % 4 * 2;
    const __m128 top = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(from));
    _mm_storeu_ps(static_cast<float*>(d[lane]), _mm_loadh_pi(top, reinterpret_cast<const __m64*>(from + 64)));
  }
  return true;
}

bool has_vectors() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");  // these have f16c
  return has;
}

}  // namespace

bool multiply_floats(const Instruction& row, const BodyOperands& operands) {
  const MatrixPlaces& p = places(row);
  if (!p.possible || !has_vectors()) return false;
  static thread_local const std::unique_ptr<ProductMatrices> room = std::make_unique<ProductMatrices>();
  const int m = row.m, n = row.n, k = row.k;
  if (row.a.space == Instruction::Space::smem)
    gather(operands.a[0], row.a.number, row.a.bits, m, k, false, room->a);
  else
    gather(p.a, row.a.number, p.lane, operands.a, room->a);
  if (row.b.space == Instruction::Space::smem)
    gather(operands.b[0], row.b.number, row.b.bits, n, k, true, room->b);
  else
    gather(p.b, row.b.number, p.lane, operands.b, room->b);
  if (operands.sign < 0)
    for (int i = 0; i < n * k; ++i) room->b[i] = -room->b[i];
  if (operands.c)
    gather_accumulators(p.c, row.c.number, p.lane, operands.c, room->c);
  else
    std::fill(room->c, room->c + m * n, 0.0f);
  if (!add_product(row, *room)) return false;
  deal_accumulators(p.c, row.c.number, p.lane, room->c, operands.d);
  return true;
}

bool multiply_fragments(const Instruction& row, int m, int n, const void* const* a, const void* const* b,
                        void* const* d) {
  const MatrixPlaces& p = places(row);
  if (!p.quads || !has_vectors()) return false;
  const int k = row.k, of_a = 16 * k, of_b = 8 * k;
  static thread_local std::vector<double> room;
  room.resize(std::max<std::size_t>(room.size(), std::size_t(m * of_a + n * of_b)));
  double* const to_a = room.data();
  double* const to_b = to_a + m * of_a;
  for (int i = 0; i < m; ++i)
    if (a[i * 32]) gather(p.a, row.a.number, p.lane, a + i * 32, to_a + i * of_a);
  for (int j = 0; j < n; ++j)
    if (b[j * 32]) gather(p.b, row.b.number, p.lane, b + j * 32, to_b + j * of_b);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      void* const* const its = d + (i * n + j) * 32;
      if (!its[0] || add_quads(to_a + i * of_a, to_b + j * of_b, its, k)) continue;
      float c[32][4];
      const void* sums[32];
      for (int lane = 0; lane < 32; ++lane) sums[lane] = std::memcpy(c[lane], its[lane], sizeof(c[lane]));
      row.body(row, {a + i * 32, b + j * 32, sums, its});
    }
  return true;
}

}  // namespace zellige::arithmetic

#else

namespace zellige::arithmetic {
bool multiply_floats(const Instruction&, const BodyOperands&) { return false; }
bool multiply_fragments(const Instruction&, int, int, const void* const*, const void* const*, void* const*) {
  return false;
}
}  // namespace zellige::arithmetic

#endif
