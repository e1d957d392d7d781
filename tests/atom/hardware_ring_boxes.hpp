// Forms in which one thread issues the copies: bulk copies and TMA boxes, from a producer to the stages of a
// Ring, and from stages to global memory.
#pragma once
#include <zellige/atom/bulk_copy.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/block/tile.hpp>
#include <zellige/block/warpgroups.hpp>

#include "hardware_ring_copies.hpp"

namespace zellige::ring_forms {

/// Coordinates of a box: `along` in the innermost dimension, `last` in the outermost, 0 between them.
struct BoxAt {
  int along, last;
};
/// A copy's hint, if it has one: nvcc 13.0 cannot name a kernel by a value of CacheHint that has no name.
enum class Hint { none, normal, evict_first, evict_last };
template <Hint H>
inline constexpr CacheHint policy = H == Hint::normal        ? CacheHint::normal
                                    : H == Hint::evict_first ? CacheHint::evict_first
                                                             : CacheHint::evict_last;

template <int D, Hint H>
ZELLIGE_CALL void load_box(smem<unsigned char> tile, const TmaDescriptor& map, smem<uint64_t> full, BoxAt c) {
  if constexpr (H == Hint::none) {
    if constexpr (D == 1) tma_load_1d(tile, map, full, c.along);
    if constexpr (D == 2) tma_load_2d(tile, map, full, c.along, c.last);
    if constexpr (D == 3) tma_load_3d(tile, map, full, c.along, 0, c.last);
    if constexpr (D == 4) tma_load_4d(tile, map, full, c.along, 0, 0, c.last);
    if constexpr (D == 5) tma_load_5d(tile, map, full, c.along, 0, 0, 0, c.last);
  } else {
    if constexpr (D == 1) tma_load_hint_1d(tile, map, full, policy<H>, c.along);
    if constexpr (D == 2) tma_load_hint_2d(tile, map, full, policy<H>, c.along, c.last);
    if constexpr (D == 3) tma_load_hint_3d(tile, map, full, policy<H>, c.along, 0, c.last);
    if constexpr (D == 4) tma_load_hint_4d(tile, map, full, policy<H>, c.along, 0, 0, c.last);
    if constexpr (D == 5) tma_load_hint_5d(tile, map, full, policy<H>, c.along, 0, 0, 0, c.last);
  }
}
template <int D, Hint H>
ZELLIGE_CALL void multicast_box(smem<unsigned char> tile, const TmaDescriptor& map, smem<uint64_t> full, BoxAt c) {
  if constexpr (H == Hint::none) {
    if constexpr (D == 2) tma_load_multicast_2d(tile, map, full, 3, c.along, c.last);
    if constexpr (D == 3) tma_load_multicast_3d(tile, map, full, 3, c.along, 0, c.last);
  } else {
    if constexpr (D == 2) tma_load_multicast_hint_2d(tile, map, full, 3, policy<H>, c.along, c.last);
    if constexpr (D == 3) tma_load_multicast_hint_3d(tile, map, full, 3, policy<H>, c.along, 0, c.last);
  }
}
template <int D, Hint H>
ZELLIGE_CALL void store_box(const TmaDescriptor& map, smem<unsigned char> tile, BoxAt c) {
  if constexpr (H == Hint::none) {
    if constexpr (D == 1) tma_store_1d(map, tile, c.along);
    if constexpr (D == 2) tma_store_2d(map, tile, c.along, c.last);
    if constexpr (D == 3) tma_store_3d(map, tile, c.along, 0, c.last);
    if constexpr (D == 4) tma_store_4d(map, tile, c.along, 0, 0, c.last);
    if constexpr (D == 5) tma_store_5d(map, tile, c.along, 0, 0, 0, c.last);
  } else {
    if constexpr (D == 1) tma_store_hint_1d(map, tile, policy<H>, c.along);
    if constexpr (D == 2) tma_store_hint_2d(map, tile, policy<H>, c.along, c.last);
    if constexpr (D == 3) tma_store_hint_3d(map, tile, policy<H>, c.along, 0, c.last);
    if constexpr (D == 4) tma_store_hint_4d(map, tile, policy<H>, c.along, 0, 0, c.last);
    if constexpr (D == 5) tma_store_hint_5d(map, tile, policy<H>, c.along, 0, 0, 0, c.last);
  }
}

/// The tensors of D dimensions and the boxes that iterations move: 16 rows of one span (in one dimension: a
/// row of 256 bytes). Iterations move along the rows; in the outermost dimension boxes begin at 1 and end one
/// element beyond the tensor.
struct Boxes {
  int dimensions, span, lines;
  TmaTensor tensor;

  Boxes(int d, SwizzleMode swizzle)
      : dimensions(d),
        span(d == 1                         ? 256
             : swizzle == SwizzleMode::none ? line
                                            : 16 << int(swizzle)),
        lines(d == 1 ? 1 : 16) {
    tensor = {.element = TmaElement::f16,
              .rank = d,
              .extent = {trip_count * span / 2},
              .box = {span / 2},
              .swizzle = swizzle};
    for (int i = 1, rest = lines, pitch = trip_count * span; i < d; ++i) {
      tensor.box[i] = tensor.extent[i] = i == d - 1 ? rest : 2;
      tensor.stride[i] = pitch;
      rest /= 2, pitch *= tensor.extent[i];
    }
  }
  int bytes() const { return lines * span; }
  int tensor_bytes() const { return lines * trip_count * span; }
  int skipped() const { return dimensions == 1 ? 0 : lines / int(tensor.box[dimensions - 1]); }  // lines
  /// The offset in the tensor of a byte of the iteration's box; -1: outside.
  int in_tensor(int it, int row, int c) const {
    const int at = row + skipped();
    return at < lines ? (at * trip_count + it) * span + c : -1;
  }
  int in_tile(int row, int c) const {
    const int byte = row * span + c;
    return byte ^ (byte >> 3 & ((1 << int(tensor.swizzle)) - 1) << 4);
  }
};

inline constexpr int ring_stages = 4;

// The way in which a producer fills a stage.
template <Hint H>
struct ByBulk {
  static constexpr int ranks = 1;
  ZELLIGE_CALL static void fill(smem<unsigned char> tile, const TmaDescriptor&, smem<uint64_t> full, int it, int bytes,
                                int, const unsigned char* in) {
    if constexpr (H == Hint::none)
      bulk_load(tile, in + it * bytes, bytes, full);
    else
      bulk_load_hint(tile, in + it * bytes, bytes, full, policy<H>);
  }
};
template <int D, Hint H>
struct ByBox {
  static constexpr int ranks = 1;
  ZELLIGE_CALL static void fill(smem<unsigned char> tile, const TmaDescriptor& map, smem<uint64_t> full, int it, int,
                                int elements, const unsigned char*) {
    load_box<D, H>(tile, map, full, {it * elements, 1});
  }
};
/// Each of two blocks loads a half of the lines for both.
template <int D, Hint H>
struct ByMulticast {
  static constexpr int ranks = 2;
  ZELLIGE_CALL static void fill(smem<unsigned char> tile, const TmaDescriptor& map, smem<uint64_t> full, int it,
                                int bytes, int elements, const unsigned char*) {
    const int rank = cluster_ctarank();
    multicast_box<D, H>(tile + rank * (bytes / 2), map, full, {it * elements, rank * (D == 2 ? 8 : 4)});
  }
};

/// Consumers, 4 warps, write each stage unchanged to `out`, one block after another.
template <class By, int TileBytes>
__global__ void __launch_bounds__(threads + 128, 1)
    load_kernel(const __grid_constant__ TmaDescriptor map, const unsigned char* in, unsigned char* out, int trip_count,
                int elements) {
  const auto ring = Ring<ring_stages, Tiles<TileBytes>, By::ranks>::at(0, ring_stages * TileBytes, {"tile"});
  if (threadIdx.x == 0) {
    if (elements > 0) prefetch_tma_descriptor(map);
    ring.init(threads / 32);
    fence_mbarrier_init();
  }
  By::ranks > 1 ? cluster_sync() : __syncthreads();
  roles(consumer<threads / 32, 232>([&] {
          auto used = ring.first();
#pragma unroll 1
          for (int it = 0; it < trip_count; ++it) {
            ring.wait(used);
            const int at = threadIdx.x * 16;
            if (at < TileBytes)
              store(out + (blockIdx.x * trip_count + it) * TileBytes + at, load<16>(ring.tile(used, 0) + at));
            named_barrier_sync(1, threads);
            ring.release(used++);
          }
          griddep_launch_dependents();
        }),
        producer<4, 40>([&] {
          auto next = ring.first_empty();
          griddep_wait();
#pragma unroll 1
          for (int it = 0; it < trip_count; ++it) {
            const auto at = next++;
            const auto full = ring.acquire(at);
            By::fill(ring.tile(at, 0), map, full, it, TileBytes, elements, in);
          }
          if constexpr (By::ranks > 1) ring.drain(next);
        }));
  if constexpr (By::ranks > 1) {
    __syncwarp();
    cluster_sync();
  }
}
template <int TileBytes>
LaunchShape load_shape(unsigned blocks, bool programmatic = false) {
  return {.grid = dim3(blocks),
          .block = dim3(threads + 128),
          .shared_bytes = ring_stages * (TileBytes + 16),
          .cluster = blocks,
          .programmatic = programmatic};
}

template <Hint H>
std::string run_bulk_load() {
  constexpr int bytes = 2048;
  const Bytes in = random_bytes(trip_count * bytes);
  const Memory source(in), result(Bytes(in.size(), untouched));
  run_kernel(load_kernel<ByBulk<H>, bytes>, load_shape<bytes>(1), TmaDescriptor{}, source.data, result.data, trip_count,
             0);
  return difference(result.get(), in, bytes);
}
/// Two kernels, of which the second starts early, waits, and reads what the first leaves.
inline std::string run_griddep() {
  constexpr int bytes = 2048;
  const Bytes in = random_bytes(trip_count * bytes);
  const Memory source(in), between(Bytes(in.size(), untouched)), result(Bytes(in.size(), untouched));
  const auto kernel = load_kernel<ByBulk<Hint::none>, bytes>;
  must(launch(kernel, load_shape<bytes>(1), nullptr, TmaDescriptor{}, source.data, between.data, trip_count, 0));
  run_kernel(kernel, load_shape<bytes>(1, true), TmaDescriptor{}, between.data, result.data, trip_count, 0);
  return difference(result.get(), in, bytes);
}

template <class By, int D, SwizzleMode Swizzle>
std::string run_load() {
  constexpr int bytes = D == 1 ? 256 : 16 * (Swizzle == SwizzleMode::none ? line : 16 << int(Swizzle));
  Boxes boxes(D, Swizzle);
  const Bytes in = random_bytes(boxes.tensor_bytes());
  Bytes want(By::ranks * trip_count * bytes);
  for (int it = 0; it < By::ranks * trip_count; ++it)
    for (int row = 0; row < boxes.lines; ++row)
      for (int c = 0; c < boxes.span; ++c) {
        const int from =
            By::ranks > 1 ? (row * trip_count + it % trip_count) * boxes.span + c : boxes.in_tensor(it, row, c);
        want[it * bytes + boxes.in_tile(row, c)] = from >= 0 ? in[from] : 0;
      }
  if (By::ranks > 1) boxes.tensor.box[D - 1] /= 2;
  const Memory source(in), result(Bytes(want.size(), untouched));
  run_kernel(load_kernel<By, bytes>, load_shape<bytes>(By::ranks), make_tma_descriptor(boxes.tensor, source.data),
             source.data, result.data, trip_count, boxes.span / 2);
  return difference(result.get(), want, bytes);
}

/// All threads write a stage, one of them names it.
template <int D, Hint H, int TileBytes>
__global__ void __launch_bounds__(threads)
    store_kernel(const __grid_constant__ TmaDescriptor map, const unsigned char* in, unsigned char* out, int trip_count,
                 int elements) {
  const auto tiles = shared<unsigned char>("tile", 0, ring_stages * TileBytes);
  const int tid = threadIdx.x;
  auto stage = RingStage<ring_stages>::first();
#pragma unroll 1
  for (int it = 0; it < trip_count; ++it, ++stage) {
    const auto tile = tiles + stage.index * TileBytes;
    if (tid == 0) tma_store_wait_read<ring_stages - 1>();
    __syncthreads();
    if (tid * 16 < TileBytes) store(tile + tid * 16, load<16>(in + it * TileBytes + tid * 16));
    fence_proxy_async_shared();
    __syncthreads();
    if (tid == 0) {
      if constexpr (D == 0)
        bulk_store(out + it * TileBytes, tile, TileBytes);
      else
        store_box<D, H>(map, tile, {it * elements, 1});
    }
    tma_store_commit();
  }
  tma_store_wait_complete<0>();
}

template <int D, Hint H, SwizzleMode Swizzle>
std::string run_store() {
  constexpr int bytes = D == 1 ? 256 : 16 * (Swizzle == SwizzleMode::none ? line : 16 << int(Swizzle));
  const Boxes boxes(D == 0 ? 1 : D, Swizzle);
  const Bytes in = random_bytes(trip_count * bytes);
  Bytes want(D == 0 ? in.size() : boxes.tensor_bytes(), untouched);
  if (D == 0) want = in;
  for (int it = 0; D > 0 && it < trip_count; ++it)
    for (int row = 0; row < boxes.lines; ++row)
      for (int c = 0; c < boxes.span; ++c)
        if (const int to = boxes.in_tensor(it, row, c); to >= 0) want[to] = in[it * bytes + boxes.in_tile(row, c)];
  const Memory source(in), result(Bytes(want.size(), untouched));
  const auto map = D == 0 ? TmaDescriptor{} : make_tma_descriptor(boxes.tensor, result.data);
  run_kernel(store_kernel<D, H, bytes>, {.grid = dim3(1), .block = dim3(threads), .shared_bytes = ring_stages * bytes},
             map, source.data, result.data, trip_count, boxes.span / 2);
  return difference(result.get(), want, bytes);
}

template <int D, SwizzleMode Swizzle>
void add_box(const std::string& swizzle) {
  constexpr Hint none = Hint::none, first = Hint::evict_first;
  const std::string name = "_" + std::to_string(D) + "d/" + swizzle;
  forms.push_back({"tma_load" + name, run_load<ByBox<D, none>, D, Swizzle>});
  forms.push_back({"tma_load_hint" + name + "/evict_first", run_load<ByBox<D, first>, D, Swizzle>});
  forms.push_back({"tma_store" + name, run_store<D, none, Swizzle>});
  forms.push_back({"tma_store_hint" + name + "/evict_first", run_store<D, first, Swizzle>});
}
template <int D>
void add_box_of() {
  add_box<D, SwizzleMode::none>("none");
  if constexpr (D == 2 || D == 3) add_box<D, SwizzleMode::b32>("b32");
  if constexpr (D == 2 || D == 3) add_box<D, SwizzleMode::b64>("b64");
  if constexpr (D > 1) add_box<D, SwizzleMode::b128>("b128");
}
template <Hint H>
void add_hint(const std::string& hint) {
  constexpr SwizzleMode b128 = SwizzleMode::b128;
  forms.push_back({"bulk_load_hint/" + hint, run_bulk_load<H>});
  if (H == Hint::evict_first) return;  // with boxes: add_box
  forms.push_back({"tma_load_hint_2d/b128/" + hint, run_load<ByBox<2, H>, 2, b128>});
  forms.push_back({"tma_store_hint_2d/b128/" + hint, run_store<2, H, b128>});
}
template <int D>
void add_multicast() {
  constexpr Hint none = Hint::none, first = Hint::evict_first;
  const std::string name = "_" + std::to_string(D) + "d/b128";
  constexpr SwizzleMode b128 = SwizzleMode::b128;
  forms.push_back({"tma_load_multicast" + name, run_load<ByMulticast<D, none>, D, b128>});
  forms.push_back({"tma_load_multicast_hint" + name + "/evict_first", run_load<ByMulticast<D, first>, D, b128>});
}

inline void add_boxes() {
  forms.push_back({"bulk_load", run_bulk_load<Hint::none>});
  forms.push_back({"bulk_store", run_store<0, Hint::none, SwizzleMode::none>});
  forms.push_back({"griddep", run_griddep});
  add_hint<Hint::normal>("normal");
  add_hint<Hint::evict_first>("evict_first");
  add_hint<Hint::evict_last>("evict_last");
  add_box_of<1>();
  add_box_of<2>();
  add_box_of<3>();
  add_box_of<4>();
  add_box_of<5>();
  add_multicast<2>();
  add_multicast<3>();
}

}  // namespace zellige::ring_forms
