// Forms in which matmuls read their operands from stages: mma.sync and FMA on tiles loaded by cp.async, wgmma
// on tiles loaded by TMA. Operands are small integers, so that every accumulator is exact.
#pragma once
#include <zellige/atom/wgmma.hpp>
#include <zellige/block/multiply.hpp>
#include <zellige/block/multiply_outer.hpp>

#include "hardware_ring_boxes.hpp"

namespace zellige::ring_forms {

/// `count` integers of type T from -most to most, and the same as numbers.
template <class T>
struct Integers {
  std::vector<int> number;
  Bytes bytes;
  Integers(std::size_t count, int maximum) : number(count), bytes(count * sizeof(T)) {
    for (std::size_t i = 0; i < count; ++i) {
      number[i] = static_cast<int>(generator() % static_cast<unsigned>(2 * maximum + 1)) - maximum;
      const T value = [&] {
        if constexpr (std::is_integral_v<T>)
          return static_cast<T>(number[i]);
        else
          return T(static_cast<float>(number[i]));
      }();
      std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
    }
  }
};

/// Accumulators over iterations and K, as bytes of type D. a(it, m, k) and b(it, k, n) are operands.
template <class D, class A, class B>
Bytes product(int M, int N, int K, A a, B b) {
  Bytes bytes(std::size_t(M) * N * sizeof(D));
  std::vector<int> sum(N);
  for (int m = 0; m < M; ++m) {
    std::fill(sum.begin(), sum.end(), 0);
    for (int it = 0; it < trip_count; ++it)
      for (int k = 0; k < K; ++k)
        for (int n = 0, x = a(it, m, k); x != 0 && n < N; ++n) sum[n] += x * b(it, k, n);
    for (int n = 0; n < N; ++n) {
      const D value = static_cast<D>(sum[n]);
      std::memcpy(&bytes[(std::size_t(m) * N + n) * sizeof(D)], &value, sizeof(D));
    }
  }
  return bytes;
}

enum class From { tile, registers };

// Warps of a block, 2 along M by 2 along N. Operands are lines of 64 elements along one dimension, a line for each of the other.
inline constexpr int line_elements = 64;
template <class T, int Lines, bool LinesAreRows>
using Operand2d =
    Swizzled<3, sizeof(T) == 2 ? 3 : 2, sizeof(T) == 2 ? 3 : 4,
             Layout<Shape<Int<1>, Int<LinesAreRows ? Lines : line_elements>, Int<LinesAreRows ? line_elements : Lines>>,
                    Stride<Int<Lines * line_elements>, Int<LinesAreRows ? line_elements : 1>,
                           Int<LinesAreRows ? 1 : line_elements>>>>;

template <class T, int Lines, class Tile>
ZELLIGE_CALL void fill_lines(const Tile& tile, const T* from, bool lines_are_rows) {
  constexpr int chunk = 16 / sizeof(T), in_line = line_elements / chunk, all = Lines * in_line;
#pragma unroll
  for (int i = 0; i < (all + threads - 1) / threads; ++i) {
    const int c = threadIdx.x + i * threads, at = c / in_line, along = c % in_line * chunk;
    if (c < all)
      cp_async<16>(lines_are_rows ? tile(0, at, along) : tile(0, along, at), from + at * line_elements + along);
  }
}

template <class T, class F, int K, bool AlongA, bool AlongB, From A>
__global__ void __launch_bounds__(threads)
    warp_product_kernel(const T* a, const T* b, float* out, int trip_count, int stages) {
  constexpr int M = F::rows, N = F::columns, lines_a = AlongA ? M : K, lines_b = AlongB ? N : K;
  constexpr int of_a = lines_a * line_elements, of_b = lines_b * line_elements, Stages = stages_of_copies;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto ring_a = shared_ring<T, Stages, Operand2d<T, lines_a, AlongA>>("A", 0, Stages * of_a);
  const auto ring_b =
      shared_ring<T, Stages, Operand2d<T, lines_b, !AlongB>>("B", Stages * of_a * sizeof(T), Stages * of_b);
  F d;
  d.clear();
  pipeline<Stages, false>(
      trip_count, stages,
      [&](int stage, int it) {
        fill_lines<T, lines_a>(ring_a.shift(stage * of_a), a + it * of_a, AlongA);
        fill_lines<T, lines_b>(ring_b.shift(stage * of_b), b + it * of_b, !AlongB);
      },
      [&](int stage, int) {
        const auto tile_a = ring_a.shift(stage * of_a);
        const auto tile_b = ring_b.shift(stage * of_b);
        if constexpr (std::is_same_v<T, float>) {
          multiply_outer<K, AlongA, AlongB>(d, tile_a, tile_b, warp, lane);
        } else if constexpr (A == From::registers) {
          using P = Fragment<1, M, K, 1, F::warps_m, 1, 1>;
          Operand<T, P> op;
#pragma unroll
          for (int i = 0; i < P::pairs; ++i) {
            const FragmentAt at = P::at(i, warp, lane);
            const Vec<float, 2> x = read<2>(tile_a(0, at.m, at.n));
            op.put(i, x[0], x[1]);
          }
          multiply<T, K, AlongB>(d, op, tile_b, warp, lane);
        } else {
          multiply<T, K, AlongA, AlongB>(d, tile_a, tile_b, warp, lane);
        }
      });
#pragma unroll
  for (int i = 0; i < F::runs; ++i) {
    const FragmentAt at = F::at(i, warp, lane);
    for (int v = 0; v < F::neighbours; ++v)
      if (at.m < M && at.n + v < N) out[at.m * N + at.n + v] = d.run(i)[v];
  }
}

template <class T, class F, int K, bool AlongA, bool AlongB, From A>
std::string run_warp_product() {
  constexpr int M = F::rows, N = F::columns, of_a = (AlongA ? M : K) * line_elements,
                of_b = (AlongB ? N : K) * line_elements;
  const Integers<T> a(trip_count * of_a, 2), b(trip_count * of_b, 2);
  const Bytes want = product<float>(
      M, N, K,
      [&](int it, int m, int k) {
        return a.number[it * of_a + (AlongA ? m * line_elements + k : k * line_elements + m)];
      },
      [&](int it, int k, int n) {
        return b.number[it * of_b + (AlongB ? n * line_elements + k : k * line_elements + n)];
      });
  const Memory in_a(a.bytes), in_b(b.bytes), result(Bytes(want.size(), untouched));
  run_kernel(
      warp_product_kernel<T, F, K, AlongA, AlongB, A>,
      {.grid = dim3(1), .block = dim3(threads), .shared_bytes = stages_of_copies * (of_a + of_b) * unsigned(sizeof(T))},
      reinterpret_cast<const T*>(in_a.data), reinterpret_cast<const T*>(in_b.data),
      reinterpret_cast<float*>(result.data), trip_count, stages_of_copies);
  return difference(result.get(), want, want.size());
}

/// K 64 is whole steps of m16n8k16; 40 ends in one of m16n8k8; N 24 and M 24 read their last rows and columns again.
template <class T>
void add_mma(const std::string& type) {
  using F = Fragment<1, 32, 64, 1, 2, 2>;
  using Odd = Fragment<1, 24, 24, 1, 2, 2>;
  using Rows = Fragment<1, 64, 64, 1, 4, 1>;
  constexpr From tile = From::tile, registers = From::registers;
  const std::string name = "mma_sync/" + type;
  forms.push_back({name + "/a_k_major/b_k_major", run_warp_product<T, F, 64, true, true, tile>});
  forms.push_back({name + "/a_k_major/b_n_major", run_warp_product<T, F, 64, true, false, tile>});
  forms.push_back({name + "/a_m_major/b_k_major", run_warp_product<T, F, 64, false, true, tile>});
  forms.push_back({name + "/a_m_major/b_n_major", run_warp_product<T, F, 64, false, false, tile>});
  forms.push_back({name + "/k40/a_k_major/b_k_major", run_warp_product<T, F, 40, true, true, tile>});
  forms.push_back({name + "/k40/a_m_major/b_n_major", run_warp_product<T, F, 40, false, false, tile>});
  forms.push_back({name + "/24x24/a_k_major/b_k_major", run_warp_product<T, Odd, 64, true, true, tile>});
  forms.push_back({name + "/24x24/a_m_major/b_n_major", run_warp_product<T, Odd, 40, false, false, tile>});
  forms.push_back({name + "/a_registers/b_k_major", run_warp_product<T, Rows, 64, true, true, registers>});
  forms.push_back({name + "/a_registers/b_n_major", run_warp_product<T, Rows, 64, true, false, registers>});
}
template <class P>
void add_outer(const std::string& type) {
  using F = Fragment<1, 64, 64, 1, 2, 2, 1, P>;
  constexpr From tile = From::tile;
  const std::string name = "multiply_outer/" + type;
  forms.push_back({name + "/a_k_major/b_k_major", run_warp_product<float, F, 64, true, true, tile>});
  forms.push_back({name + "/a_m_major/b_n_major", run_warp_product<float, F, 64, false, false, tile>});
}

// Warpgroups: A's tile is M rows of K, or consecutive spans of 64 of M with one row for each k; B's the same
// for N. A row or span has 128 bytes.
template <class T, int M, int N, Major AM, Major BM, From A, unsigned Registers>
__global__ void __launch_bounds__(2 * M + (Registers ? 128 : 32), 1)
    warpgroup_product_kernel(const __grid_constant__ TmaDescriptor map_a, const __grid_constant__ TmaDescriptor map_b,
                             const T* a, std::conditional_t<std::is_integral_v<T>, int32_t, float>* out,
                             int trip_count) {
  using D = std::conditional_t<std::is_integral_v<T>, int32_t, float>;
  constexpr bool whole = sizeof(T) == 2;  // the types that emitted code multiplies
  constexpr int K = line / sizeof(T), warps = M / 16, Stages = 3, of_a = M * line, of_b = N * line;
  constexpr int columns = BM == Major::K ? N : (N + 63) / 64 * 64;
  static_assert(columns == N || whole);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto ring = Ring<Stages, Tiles<of_b, of_a>>::at({0, Stages * of_b}, Stages * (of_a + of_b), {"B", "A"});
  if (threadIdx.x == 0) {
    prefetch_tma_descriptor(map_a);
    prefetch_tma_descriptor(map_b);
    ring.init(warps);
    fence_mbarrier_init();
  }
  __syncthreads();
  roles(consumer<warps, Registers>([&] {
          auto next = ring.first(), used = ring.first(), at = ring.first();
          Fragment<1, M, N, 1, warps> acc;
          D sums[N / 2];
          const auto multiply = [&](bool accumulate, int it) {
            const auto tile_a = ring.tile(at, 1) + warp / 4 * 8192;
            const auto tile_b = ring.tile(at, 0);
            const auto by = [&](const auto& left) {
              if constexpr (!whole) {
                const auto right = k_major<N>(tile_b);
                wgmma_fence();
#pragma unroll
                for (int i = 0; i < 4; ++i) wgmma<T, Major::K, Major::K>(sums, left(i), right(i), i > 0 || accumulate);
              } else if constexpr (BM == Major::K) {
                issue_wgmma<T, 4>(acc, left, k_major<N>(tile_b), accumulate);
              } else {
                issue_wgmma<T, 4>(acc, left, mn_major<N, K>(tile_b), accumulate);
              }
              wgmma_commit();
            };
            if constexpr (A == From::registers) {
              using P = Fragment<1, M, K, 1, warps>;
              Operand<T, P> op;
#pragma unroll
              for (int i = 0; i < P::pairs; ++i) {
                const FragmentAt p = P::at(i, warp, lane);
                const Vec<float, 2> x = read<2>(a + (p.m * trip_count + it) * K + p.n);
                op.put(i, x[0], x[1]);
              }
              by(op);
              wgmma_wait<0>();
            } else if constexpr (AM == Major::K) {
              by(k_major<M>(tile_a));
            } else {
              by(mn_major<64, K>(tile_a));
            }
          };
          at = next++;
          ring.wait(at);
          multiply(false, 0);
#pragma unroll 1
          for (int it = 1; it < trip_count; ++it) {
            at = next++;
            ring.wait(at);
            multiply(true, it);
            wgmma_wait<1>();
            ring.release(used++);
          }
          wgmma_wait<0>();
          named_barrier_sync(1, 32 * warps);
#pragma unroll
          for (int i = 0; i < N / 2; ++i) {
            const int row = warp * 16 + i / 2 % 2 * 8 + lane / 4, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            if constexpr (whole)
              out[row * N + column] = acc.d[i / 4][i % 4];
            else
              out[row * N + column] = sums[i];
          }
        }),
        producer < Registers ? 4 : 1,
        Registers ? 40 : 0 > ([&] {
                           auto next = ring.first_empty();
                           griddep_wait();
#pragma unroll 1
                           for (int it = 0; it < trip_count; ++it) {
                             const auto at = next++;
                             const auto full = ring.acquire(at);
                             if (BM == Major::K) tma_load_2d(ring.tile(at, 0), map_b, full, it * K, 0);
                             if (BM == Major::MN)
                               for (int j = 0; j < N / 64; ++j)
                                 tma_load_2d(ring.tile(at, 0) + j * 8192, map_b, full, j * 64, it * K);
                             if (AM == Major::K) tma_load_2d(ring.tile(at, 1), map_a, full, it * K, 0);
                             if (AM == Major::MN)
                               for (int j = 0; j < M / 64; ++j)
                                 tma_load_2d(ring.tile(at, 1) + j * 8192, map_a, full, j * 64, it * K);
                           }
                         }));
}

/// An operand of `rows` rows (of A; columns for B) by all of K.
template <class T>
TmaDescriptor operand_map(Major major, int rows, const Memory& memory) {
  constexpr int size = sizeof(T), K = line / size;
  const int64_t all = trip_count * K;
  TmaTensor t{.element = size == 1   ? TmaElement::u8
                         : size == 4 ? TmaElement::f32
                                     : TmaElement::f16,
              .rank = 2,
              .extent = {all, rows},
              .stride = {0, all * size},
              .box = {K, rows},
              .swizzle = SwizzleMode::b128};
  if (major == Major::MN) t.extent[0] = rows, t.extent[1] = all, t.stride[1] = rows * size, t.box[0] = 64, t.box[1] = K;
  return make_tma_descriptor(t, memory.data);
}

template <class T, int M, int N, Major AM, Major BM, From A = From::tile, unsigned Registers = 0>
std::string run_warpgroup_product() {
  using D = std::conditional_t<std::is_integral_v<T>, int32_t, float>;
  constexpr int K = line / sizeof(T), maximum = sizeof(T) == 1 ? 1 : 2;
  const Integers<T> a(std::size_t(trip_count) * M * K, maximum), b(std::size_t(trip_count) * N * K, maximum);
  const auto at = [](Major major, int rows, int it, int row, int k) {
    return major == Major::K ? (row * trip_count + it) * K + k : (it * K + k) * rows + row;
  };
  const Bytes want = product<D>(
      M, N, K, [&](int it, int m, int k) { return a.number[at(AM, M, it, m, k)]; },
      [&](int it, int k, int n) { return b.number[at(BM, N, it, n, k)]; });
  const Memory in_a(a.bytes), in_b(b.bytes), result(Bytes(want.size(), untouched));
  run_kernel(
      warpgroup_product_kernel<T, M, N, AM, BM, A, Registers>,
      {.grid = dim3(1), .block = dim3(2 * M + (Registers ? 128 : 32)), .shared_bytes = 3 * ((M + N) * line + 16)},
      operand_map<T>(AM, M, in_a), operand_map<T>(BM, N, in_b), reinterpret_cast<const T*>(in_a.data),
      reinterpret_cast<D*>(result.data), trip_count);
  return difference(result.get(), want, want.size());
}

template <class T>
void add_wgmma(const std::string& type) {
  constexpr Major K = Major::K, MN = Major::MN;
  constexpr From registers = From::registers;
  const std::string name = "wgmma/" + type;
  forms.push_back({name + "/64x64/a_k_major/b_k_major", run_warpgroup_product<T, 64, 64, K, K>});
  forms.push_back({name + "/64x64/a_k_major/b_n_major", run_warpgroup_product<T, 64, 64, K, MN>});
  forms.push_back({name + "/64x64/a_m_major/b_k_major", run_warpgroup_product<T, 64, 64, MN, K>});
  forms.push_back({name + "/64x64/a_m_major/b_n_major", run_warpgroup_product<T, 64, 64, MN, MN>});
  forms.push_back({name + "/64x8/a_k_major/b_k_major", run_warpgroup_product<T, 64, 8, K, K>});
  forms.push_back({name + "/128x128/a_k_major/b_n_major", run_warpgroup_product<T, 128, 128, K, MN>});
  forms.push_back({name + "/128x128/a_m_major/b_k_major", run_warpgroup_product<T, 128, 128, MN, K>});
  forms.push_back(
      {name + "/128x256/a_k_major/b_n_major/setmaxnreg", run_warpgroup_product<T, 128, 256, K, MN, From::tile, 232>});
  forms.push_back(
      {name + "/128x64/a_registers/b_k_major/setmaxnreg", run_warpgroup_product<T, 128, 64, K, K, registers, 232>});
  forms.push_back({name + "/64x128/a_registers/b_n_major", run_warpgroup_product<T, 64, 128, K, MN, registers>});
}
/// Types that emitted code does not multiply by wgmma, K-major as required.
template <class T>
void add_wgmma_beyond(const std::string& type) {
  forms.push_back(
      {"wgmma/" + type + "/128x128/a_k_major/b_k_major", run_warpgroup_product<T, 128, 128, Major::K, Major::K>});
}

inline void add_products() {
  add_mma<half_t>("f16");
  add_mma<bfloat16_t>("bf16");
  add_outer<OuterProduct<4, 4, 4, 8>>("4x4x4x8");
  add_outer<OuterProduct<4, 2, 4, 8>>("4x2x4x8");
  add_outer<OuterProduct<1, 1, 1, 32>>("1x1x1x32");
  add_wgmma<half_t>("f16");
  add_wgmma<bfloat16_t>("bf16");
  add_wgmma_beyond<tfloat32_t>("tf32");
  add_wgmma_beyond<float_e4m3_t>("e4m3");
  add_wgmma_beyond<float_e5m2_t>("e5m2");
  add_wgmma_beyond<int8_t>("s8");
}

}  // namespace zellige::ring_forms
