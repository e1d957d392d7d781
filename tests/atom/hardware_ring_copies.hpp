// Forms in which threads move data themselves: cp.async, loads and stores, ldmatrix and stmatrix.
#pragma once
#include <zellige/atom/ldmatrix.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/block/load_anywhere.hpp>
#include <zellige/block/tile.hpp>

#include "hardware_ring.hpp"

namespace zellige::ring_forms {

inline constexpr int line = 128;     // bytes, of a tile
inline constexpr int threads = 128;  // of a block
inline constexpr int stages_of_copies = 3;

/// The bytes of a row that an iteration loads: from none to all, consecutively.
ZELLIGE_ANYWHERE constexpr int columns_in(int iteration) { return (101 + 13 * iteration) % (line + 1); }
ZELLIGE_ANYWHERE constexpr int valid_of(int columns, int from, int chunk) {
  return columns < from ? 0 : columns - from < chunk ? columns - from : chunk;
}

// Copies of `bytes` bytes. `partial`: they take how many exist. `batched`: all loads of a thread come before its first store.
template <int N, bool Partial>
struct CpAsync {
  static constexpr int bytes = N, read = 16, element = 1;
  static constexpr bool partial = Partial, batched = false, unaligned = false;
  ZELLIGE_CALL static void copy(unsigned char* to, const unsigned char* from, int valid, const unsigned char*) {
    if constexpr (Partial)
      cp_async<N>(to, from, valid);
    else
      cp_async<N>(to, from);
  }
};
template <CacheHint Hint, bool Partial>
struct CpAsyncHint : CpAsync<16, Partial> {
  ZELLIGE_CALL static void copy(unsigned char* to, const unsigned char* from, int valid, const unsigned char*) {
    if constexpr (Partial)
      cp_async_hint<16>(to, from, valid, Hint);
    else
      cp_async_hint<16>(to, from, Hint);
  }
};
template <int N, bool Partial, bool Batched>
struct LoadStore {
  static constexpr int bytes = N, read = N, element = N;
  static constexpr bool partial = Partial, batched = Batched, unaligned = false;
  struct Registers {
    Vec<unsigned char, N> x{};
    ZELLIGE_CALL void start(const unsigned char* from, int valid, const unsigned char*) {
      if (!Partial || valid > 0) x = load<N>(from);
    }
    ZELLIGE_CALL void finish(unsigned char* to) const { store(to, x); }
  };
};
/// Lines begin at any element of the tensor.
template <class T, bool Batched>
struct Anywhere {
  static constexpr int bytes = 16, read = 16, element = sizeof(T);
  static constexpr bool partial = true, batched = Batched, unaligned = true;
  struct Registers {
    LoadAnywhere<T, 16 / element> x;
    ZELLIGE_CALL void start(const unsigned char* from, int valid, const unsigned char* end) {
      x.start(recast<const T>(from), valid / element, recast<const T>(end));
    }
    ZELLIGE_CALL void finish(unsigned char* to) const { store(recast<T>(to), x.value()); }
  };
};

/// The threads that address a chunk of shared memory: each thread its own; a lane of each warp; one thread;
/// all threads the same.
enum class Who { thread, warp, one, all };
template <Who W>
inline constexpr int lines_of = W == Who::thread ? 32
                                : W == Who::warp ? 4
                                                 : 1;

template <int Lines, bool Swizzles>
struct TileOf {
  using Lay = Layout<Shape<Int<Lines>, Int<line>>, Stride<Int<line>, Int<1>>>;
  using type = Lay;
};
template <int Lines>
struct TileOf<Lines, true> {
  using type = Swizzled<3, 4, 3, typename TileOf<Lines, false>::Lay>;
};

/// A tile of the iteration, `pitch` bytes from line to line in global memory.
template <class Copy, Who W, class Tile>
ZELLIGE_CALL void fill(const Tile& tile, const unsigned char* from, const unsigned char* end, long long pitch,
                       int iteration) {
  constexpr int chunk = Copy::bytes, in_line = line / chunk;
  constexpr int each = W == Who::thread ? lines_of<W> * in_line / threads : in_line;
  const int tid = threadIdx.x;
  if (W == Who::warp && tid % 32 != 0) return;
  if (W == Who::one && tid != 0) return;
  const auto place = [&](int i) { return W == Who::thread ? tid + i * threads : tid / 32 * in_line + i; };
  const auto row = [&](int i) { return W == Who::one || W == Who::all ? 0 : place(i) / in_line; };
  const auto column = [&](int i) { return (W == Who::one || W == Who::all ? i : place(i) % in_line) * chunk; };
  const auto source = [&](int i) { return from + row(i) * pitch + iteration * line + column(i); };
  const auto valid = [&](int i) {
    const int columns = Copy::partial ? columns_in(iteration) : line;
    return valid_of(columns, column(i), chunk) / Copy::element * Copy::element;
  };
  if constexpr (requires { typename Copy::Registers; }) {
    if constexpr (Copy::batched) {
      typename Copy::Registers x[each];
#pragma unroll
      for (int i = 0; i < each; ++i) x[i].start(source(i), valid(i), end);
#pragma unroll
      for (int i = 0; i < each; ++i) x[i].finish(tile(row(i), column(i)));
    } else {
#pragma unroll
      for (int i = 0; i < each; ++i) {
        typename Copy::Registers x;
        x.start(source(i), valid(i), end);
        x.finish(tile(row(i), column(i)));
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < each; ++i) Copy::copy(tile(row(i), column(i)), source(i), valid(i), end);
  }
}

/// The loop as emitted: stages are prefetched, and `stage` and `next` wrap by a comparison; with Modulo, they
/// are the iteration modulo a kernel argument.
template <int Stages, bool Modulo, class Fill, class Use>
ZELLIGE_CALL void pipeline(int trip_count, int stages, Fill fill, Use use) {
  for (int it = 0; it < Stages - 1; ++it) {
    if (it < trip_count) fill(it, it);
    cp_async_commit();
  }
  int stage = 0, next = Stages - 1;
#pragma unroll 1
  for (int it = 0; it < trip_count; ++it) {
    cp_async_wait<Stages - 2>();
    __syncthreads();
    if (Modulo) stage = it % stages, next = (it + Stages - 1) % stages;
    if (it + Stages - 1 < trip_count) fill(next, it + Stages - 1);
    cp_async_commit();
    use(stage, it);
    if (!Modulo) {
      stage = stage + 1 == Stages ? 0 : stage + 1;
      next = next + 1 == Stages ? 0 : next + 1;
    }
  }
}

template <class Copy, Who W, bool Swizzles, bool Modulo>
__global__ void __launch_bounds__(threads)
    copy_kernel(const unsigned char* in, const unsigned char* end, long long pitch, unsigned char* out, int trip_count,
                int stages) {
  constexpr int lines = lines_of<W>, bytes = lines * line, Stages = stages_of_copies;
  const auto ring =
      shared_ring<unsigned char, Stages, typename TileOf<lines, Swizzles>::type>("ring", 0, Stages * bytes);
  pipeline<Stages, Modulo>(
      trip_count, stages, [&](int stage, int it) { fill<Copy, W>(ring.shift(stage * bytes), in, end, pitch, it); },
      [&](int stage, int it) {
        constexpr int V = Copy::read;
        const auto tile = ring.shift(stage * bytes);
#pragma unroll
        for (int i = 0; i < (bytes / V + threads - 1) / threads; ++i) {
          const int c = (threadIdx.x + i * threads) * V;
          if (c < bytes) store(out + it * bytes + c, load<V>(tile(c / line, c % line)));
        }
      });
}

template <class Copy, Who W, bool Swizzles, bool Modulo>
std::string run_copy() {
  constexpr int lines = lines_of<W>, bytes = lines * line;
  const int shift = Copy::unaligned ? 3 * Copy::element : 0;
  const int pitch = trip_count * line + (Copy::unaligned ? 5 * Copy::element : 0);
  const Bytes in = random_bytes(shift + std::size_t(lines - 1) * pitch + trip_count * line);
  Bytes want(trip_count * bytes);
  for (int it = 0; it < trip_count; ++it)
    for (int row = 0; row < lines; ++row)
      for (int c = 0; c < line; ++c) {
        const int columns = (Copy::partial ? columns_in(it) : line) / Copy::element * Copy::element;
        want[(it * lines + row) * line + c] = c < columns ? in[shift + row * pitch + it * line + c] : 0;
      }
  const Memory source(in), result(Bytes(want.size(), untouched));
  run_kernel(copy_kernel<Copy, W, Swizzles, Modulo>,
             {.grid = dim3(1), .block = dim3(threads), .shared_bytes = stages_of_copies * bytes}, source.data + shift,
             source.data + in.size(), pitch, result.data, trip_count, stages_of_copies);
  return difference(result.get(), want, bytes);
}

template <class Copy>
void add_copy(const std::string& name) {
  const std::string of = name + (Copy::partial ? "/valid" : "/whole");
  forms.push_back({of + "/each_thread/swizzled", run_copy<Copy, Who::thread, true, false>});
  forms.push_back({of + "/each_thread/modulo", run_copy<Copy, Who::thread, false, true>});
  forms.push_back({of + "/each_warp", run_copy<Copy, Who::warp, false, false>});
  forms.push_back({of + "/each_warp/modulo", run_copy<Copy, Who::warp, false, true>});
  forms.push_back({of + "/one_thread", run_copy<Copy, Who::one, false, false>});
  forms.push_back({of + "/one_thread/modulo", run_copy<Copy, Who::one, false, true>});
  forms.push_back({of + "/all_threads", run_copy<Copy, Who::all, false, false>});
  forms.push_back({of + "/all_threads/modulo", run_copy<Copy, Who::all, false, true>});
}
template <int N>
void add_cp_async() {
  add_copy<CpAsync<N, false>>("cp_async/" + std::to_string(N));
  add_copy<CpAsync<N, true>>("cp_async/" + std::to_string(N));
}
template <CacheHint Hint>
void add_cp_async_hint(const std::string& hint) {
  add_copy<CpAsyncHint<Hint, false>>("cp_async_hint/16/" + hint);
  add_copy<CpAsyncHint<Hint, true>>("cp_async_hint/16/" + hint);
}
template <int N>
void add_load_store() {
  const std::string name = "load_store/" + std::to_string(N);
  forms.push_back({name + "/whole", run_copy<LoadStore<N, false, false>, Who::thread, true, false>});
  forms.push_back({name + "/whole/batched", run_copy<LoadStore<N, false, true>, Who::thread, true, false>});
  forms.push_back({name + "/valid", run_copy<LoadStore<N, true, false>, Who::thread, true, false>});
  forms.push_back({name + "/valid/batched", run_copy<LoadStore<N, true, true>, Who::thread, true, true>});
}
template <class T>
void add_anywhere(const std::string& type) {
  forms.push_back({"load_anywhere/" + type, run_copy<Anywhere<T, false>, Who::thread, true, false>});
  forms.push_back({"load_anywhere/" + type + "/batched", run_copy<Anywhere<T, true>, Who::thread, true, true>});
}

// ldmatrix and stmatrix: each of four warps has four matrices of 8 x 8 in a stage of 16 lines.
template <int N, bool Transposed>
ZELLIGE_CALL void load_matrices(uint32_t (&r)[N], const unsigned char* row) {
  if constexpr (N == 1) Transposed ? ldmatrix_x1_trans(r, row) : ldmatrix_x1(r, row);
  if constexpr (N == 2) Transposed ? ldmatrix_x2_trans(r, row) : ldmatrix_x2(r, row);
  if constexpr (N == 4) Transposed ? ldmatrix_x4_trans(r, row) : ldmatrix_x4(r, row);
}
template <int N, bool Transposed>
ZELLIGE_CALL void store_matrices(unsigned char* row, const uint32_t (&r)[N]) {
  if constexpr (N == 1) Transposed ? stmatrix_x1_trans(row, r) : stmatrix_x1(row, r);
  if constexpr (N == 2) Transposed ? stmatrix_x2_trans(row, r) : stmatrix_x2(row, r);
  if constexpr (N == 4) Transposed ? stmatrix_x4_trans(row, r) : stmatrix_x4(row, r);
}
inline constexpr int matrix_lines = 16, matrix_bytes = matrix_lines * line;

/// A tile is 16 bytes of each thread; registers are `N` of each thread.
template <int N, bool Transposed, bool Stores>
__global__ void __launch_bounds__(threads)
    matrix_kernel(const unsigned char* in, unsigned char* out, int trip_count, int stages) {
  constexpr int Stages = stages_of_copies;
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row = tid / 8, column = tid % 8 * 16;  // of the thread's chunk
  const int matrix_row = warp / 2 * 8 + lane % 8, matrix_column = (warp % 2 * 4 + lane / 8) * 16;
  const auto ring =
      shared_ring<unsigned char, Stages, typename TileOf<matrix_lines, true>::type>("ring", 0, Stages * matrix_bytes);
  pipeline<Stages, false>(
      trip_count, stages,
      [&](int stage, int it) {
        const auto tile = ring.shift(stage * matrix_bytes);
        if constexpr (Stores) {
          uint32_t r[N];
          for (int i = 0; i < N; ++i) r[i] = load<1>(recast<const uint32_t>(in) + (it * threads + tid) * N + i)[0];
          store_matrices<N, Transposed>(tile(matrix_row, matrix_column), r);
        } else {
          cp_async<16>(tile(row, column), in + it * matrix_bytes + tid * 16);
        }
      },
      [&](int stage, int it) {
        const auto tile = ring.shift(stage * matrix_bytes);
        if constexpr (Stores) {
          if (tid % 8 % 4 < N) store(out + it * matrix_bytes + tid * 16, load<16>(tile(row, column)));
        } else {
          uint32_t r[N];
          load_matrices<N, Transposed>(r, tile(matrix_row, matrix_column));
          for (int i = 0; i < N; ++i)
            store(recast<uint32_t>(out) + (it * threads + tid) * N + i, Vec<uint32_t, 1>{{r[i]}});
        }
      });
}

template <int N, bool Transposed, bool Stores>
std::string run_matrix() {
  const std::size_t tiles = std::size_t(trip_count) * matrix_bytes,
                    registers = std::size_t(trip_count) * threads * N * 4;
  const Bytes in = random_bytes(Stores ? registers : tiles);
  Bytes want(Stores ? tiles : registers, untouched);
  for (int it = 0; it < trip_count; ++it)
    for (int tid = 0; tid < threads; ++tid)
      for (int half = 0; half < 2 * N; ++half) {
        const int along = tid % 4 * 2 + half % 2, across = tid % 32 / 4, matrix = half / 2;
        const int row = tid / 64 * 8 + (Transposed ? along : across);
        const int column = (tid / 32 % 2 * 4 + matrix) * 8 + (Transposed ? across : along);
        const std::size_t in_tile = it * matrix_bytes + row * line + column * 2,
                          in_registers = (std::size_t(it * threads + tid) * N * 2 + half) * 2;
        std::memcpy(&want[Stores ? in_tile : in_registers], &in[Stores ? in_registers : in_tile], 2);
      }
  const Memory source(in), result(Bytes(want.size(), untouched));
  run_kernel(matrix_kernel<N, Transposed, Stores>,
             {.grid = dim3(1), .block = dim3(threads), .shared_bytes = stages_of_copies * matrix_bytes}, source.data,
             result.data, trip_count, stages_of_copies);
  return difference(result.get(), want, want.size() / trip_count);
}
template <int N>
void add_matrices() {
  const std::string x = "_x" + std::to_string(N);
  forms.push_back({"ldmatrix" + x, run_matrix<N, false, false>});
  forms.push_back({"ldmatrix" + x + "_trans", run_matrix<N, true, false>});
  forms.push_back({"stmatrix" + x, run_matrix<N, false, true>});
  forms.push_back({"stmatrix" + x + "_trans", run_matrix<N, true, true>});
}

inline void add_copies() {
  add_cp_async<4>();
  add_cp_async<8>();
  add_cp_async<16>();
  add_cp_async_hint<CacheHint::normal>("normal");
  add_cp_async_hint<CacheHint::evict_first>("evict_first");
  add_cp_async_hint<CacheHint::evict_last>("evict_last");
  add_load_store<1>();
  add_load_store<2>();
  add_load_store<4>();
  add_load_store<8>();
  add_load_store<16>();
  add_anywhere<half_t>("2");
  add_anywhere<uint8_t>("1");
  add_matrices<1>();
  add_matrices<2>();
  add_matrices<4>();
}

}  // namespace zellige::ring_forms
