// TMA on a real GPU compared with the emulator's TMA, on random tensors, boxes, strides, swizzles and
// coordinates, inside, across and outside the edges. Also checks that the driver accepts every descriptor
// that make_tma_descriptor.hpp accepts.
//
//   nvcc -std=c++20 -O1 -I include -I src -diag-suppress 177 -gencode arch=compute_90a,code=sm_90a
//        tests/atom/hardware_tma.cu -o hardware_tma && ./hardware_tma
#include <algorithm>
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/atom/tma.hpp>

#include "emulate/box.cpp"
#include "hardware_movement.hpp"

namespace zellige {
namespace {

struct At {
  int c[5];
  uint16_t o[3];
};

enum class Load { plain, hinted, multicast, multicast_hinted, im2col, im2col_multicast };

template <int D>
__device__ void load(Load how, uint4* tile, const TmaDescriptor& map, uint64_t* full, At p) {
  const uint16_t both = 3;
  const int* c = p.c;
  const CacheHint hint = CacheHint::evict_first;
#define ZELLIGE_LOADS(D, ...)                                                                                  \
  if (how == Load::plain) tma_load_##D##d(tile, map, full, __VA_ARGS__);                                       \
  if (how == Load::hinted) tma_load_hint_##D##d(tile, map, full, hint, __VA_ARGS__);                           \
  if (how == Load::multicast) tma_load_multicast_##D##d(tile, map, full, both, __VA_ARGS__);                   \
  if (how == Load::multicast_hinted) tma_load_multicast_hint_##D##d(tile, map, full, both, hint, __VA_ARGS__); \
  tma_prefetch_##D##d(map, __VA_ARGS__);
  if constexpr (D == 1) {
    ZELLIGE_LOADS(1, c[0])
  }
  if constexpr (D == 2) {
    ZELLIGE_LOADS(2, c[0], c[1])
  }
  if constexpr (D == 3) {
    ZELLIGE_LOADS(3, c[0], c[1], c[2])
  }
  if constexpr (D == 4) {
    ZELLIGE_LOADS(4, c[0], c[1], c[2], c[3])
  }
  if constexpr (D == 5) {
    ZELLIGE_LOADS(5, c[0], c[1], c[2], c[3], c[4])
  }
#undef ZELLIGE_LOADS
}
template <int D>
__device__ void load_im2col(Load how, uint4* tile, const TmaDescriptor& map, uint64_t* full, At p) {
  const int* c = p.c;
  const uint16_t* o = p.o;
#define ZELLIGE_LOADS(D, ...)                                                    \
  if (how == Load::im2col) tma_load_im2col_##D##d(tile, map, full, __VA_ARGS__); \
  if (how == Load::im2col_multicast) tma_load_im2col_multicast_##D##d(tile, map, full, 3, __VA_ARGS__);
  if constexpr (D == 3) {
    ZELLIGE_LOADS(3, c[0], c[1], c[2], o[0])
  }
  if constexpr (D == 4) {
    ZELLIGE_LOADS(4, c[0], c[1], c[2], c[3], o[0], o[1])
  }
  if constexpr (D == 5) {
    ZELLIGE_LOADS(5, c[0], c[1], c[2], c[3], c[4], o[0], o[1], o[2])
  }
#undef ZELLIGE_LOADS
}

// One cluster of two: with multicast block 1 issues, and both get it; else each issues its own.
constexpr unsigned room = 64 * 1024;
template <int D>
__global__ void __cluster_dims__(2)
    load_kernel(const __grid_constant__ TmaDescriptor map, Load how, At p, unsigned bytes, uint4* out) {
  const auto tile = shared<uint4>("tile", 0, room / 16);
  const auto full = shared<uint64_t>("full", room, 1);
  const unsigned rank = cluster_ctarank();
  const unsigned untouched = 0xEEEEEEEE;
  for (unsigned i = threadIdx.x; i < room / 16; i += blockDim.x)
    tile[i] = make_uint4(untouched, untouched, untouched, untouched);
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
  }
  fence_proxy_async();
  cluster_sync();
  const bool shares = how == Load::multicast || how == Load::multicast_hinted || how == Load::im2col_multicast;
  if (threadIdx.x == 0) {
    prefetch_tma_descriptor(map);
    mbarrier_arrive_expect_tx(full, bytes);
    if (!shares || rank == 1) {
      if (how == Load::im2col || how == Load::im2col_multicast)
        load_im2col<D>(how, tile, map, full, p);
      else
        load<D>(how, tile, map, full, p);
    }
  }
  __syncthreads();
  mbarrier_wait_cluster(full, 0);
  for (unsigned i = threadIdx.x; i < room / 16; i += blockDim.x) out[rank * (room / 16) + i] = tile[i];
  cluster_sync();
}

enum class Store { plain, hinted, add, min, max, im2col };
template <int D>
__global__ void store_kernel(const __grid_constant__ TmaDescriptor map, Store how, At p, unsigned bytes,
                             const uint4* in) {
  const auto tile = shared<uint4>("tile", 0, room / 16);
  for (unsigned i = threadIdx.x; i < bytes / 16; i += blockDim.x) tile[i] = in[i];
  fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x != 0) return;
  const int* c = p.c;
#define ZELLIGE_STORES(D, ...)                                                                    \
  if (how == Store::plain) tma_store_##D##d(map, tile, __VA_ARGS__);                              \
  if (how == Store::hinted) tma_store_hint_##D##d(map, tile, CacheHint::evict_last, __VA_ARGS__); \
  if (how == Store::add) tma_reduce_add_##D##d(map, tile, __VA_ARGS__);                           \
  if (how == Store::min) tma_reduce_min_##D##d(map, tile, __VA_ARGS__);                           \
  if (how == Store::max) tma_reduce_max_##D##d(map, tile, __VA_ARGS__);
  if constexpr (D == 1) {
    ZELLIGE_STORES(1, c[0])
  }
  if constexpr (D == 2) {
    ZELLIGE_STORES(2, c[0], c[1])
  }
  if constexpr (D == 3) {
    ZELLIGE_STORES(3, c[0], c[1], c[2])
  }
  if constexpr (D == 4) {
    ZELLIGE_STORES(4, c[0], c[1], c[2], c[3])
  }
  if constexpr (D == 5) {
    ZELLIGE_STORES(5, c[0], c[1], c[2], c[3], c[4])
  }
#undef ZELLIGE_STORES
  if constexpr (D == 3)
    if (how == Store::im2col) tma_store_im2col_3d(map, tile, c[0], c[1], c[2]);
  if constexpr (D == 4)
    if (how == Store::im2col) tma_store_im2col_4d(map, tile, c[0], c[1], c[2], c[3]);
  if constexpr (D == 5)
    if (how == Store::im2col) tma_store_im2col_5d(map, tile, c[0], c[1], c[2], c[3], c[4]);
  tma_store_commit();
  tma_store_wait_read<0>();
  tma_store_wait_complete<0>();
}

// A random tensor map and coordinates that the hardware takes, around it. It ends in an illegal instruction
// where the innermost coordinate is not a multiple of 16 bytes, where a store's is negative, and where the
// pixels' box of an im2col store reaches outside the tensor.
struct Trial {
  TmaTensor t;
  At p{};
  emulate::TmaMap map;
  int64_t bytes;
};
Trial draw(int rank, bool im2col, bool stores, emulate::Reduction op = emulate::Reduction::none) {
  const bool reduces = op != emulate::Reduction::none;
  for (;;) {
    Trial r;
    TmaTensor& t = r.t;
    t.rank = rank;
    t.im2col = im2col;
    constexpr TmaElement any[] = {TmaElement::u8,      TmaElement::u16,  TmaElement::f16,     TmaElement::bf16,
                                  TmaElement::f32,     TmaElement::s32,  TmaElement::u64,     TmaElement::f64,
                                  TmaElement::f32_ftz, TmaElement::tf32, TmaElement::tf32_ftz};
    constexpr TmaElement sums[] = {TmaElement::f16, TmaElement::bf16, TmaElement::f32,
                                   TmaElement::s32, TmaElement::u32,  TmaElement::u64};
    constexpr TmaElement ordered[] = {TmaElement::f16, TmaElement::bf16, TmaElement::s32,
                                      TmaElement::u32, TmaElement::s64,  TmaElement::u64};
    t.element = !reduces                        ? any[generator() % 11]
                : op == emulate::Reduction::add ? sums[generator() % 6]
                                                : ordered[generator() % 6];
    const int64_t size = tma_element_bytes(t.element);
    t.swizzle = static_cast<SwizzleMode>(generator() % 4);
    t.nan_fill = t.element >= TmaElement::f16 && generator() % 4 == 0;
    const int lines = 1 + static_cast<int>(generator() % ((16 << static_cast<int>(t.swizzle)) / 16));
    t.box[0] = (t.swizzle == SwizzleMode::none ? within(1, 12) : lines) * 16 / size;
    int64_t stride = 0;
    for (int d = 0; d < rank; ++d) {
      t.extent[d] = d == 0 ? within(1, static_cast<int>(t.box[0]) * 3) : within(1, 9);
      if (d) {
        t.box[d] = within(1, rank > 3 ? 4 : 12);
        t.stride[d] = (d == 1 ? t.extent[0] * size : stride * t.extent[d - 1]) + 15;
        t.stride[d] = t.stride[d] / 16 * 16 + 16 * within(0, 2);
        stride = t.stride[d];
        if (generator() % 4 == 0 && !reduces) t.element_stride[d] = within(1, 3);
      }
      r.p.c[d] = within(stores ? 0 : -3, static_cast<int>(t.extent[d]) + 1);
    }
    const int chunk = static_cast<int>(16 / size);
    if (generator() % 2) r.p.c[0] = 0;
    r.p.c[0] = r.p.c[0] / chunk * chunk;
    if (im2col) {
      t.channels = static_cast<int>(t.box[0]);
      t.pixels = within(1, 40);
      for (int d = 0; d < rank - 2; ++d) {
        t.lower[d] = within(stores ? 0 : -2, 1);
        t.upper[d] = within(-2, stores ? 0 : 1);
        r.p.o[d] = static_cast<uint16_t>(within(0, 2));
        r.p.c[d + 1] = within(t.lower[d], std::max(t.lower[d], static_cast<int>(t.extent[d + 1]) - 1 + t.upper[d]));
      }
      r.p.c[rank - 1] = within(0, static_cast<int>(t.extent[rank - 1]) - 1);
      r.p.c[0] = within(0, static_cast<int>(t.extent[0]) - 1) / chunk * chunk;
    }
    r.bytes = (tma_tensor_bytes(t) + 15) / 16 * 16;
    if (!tma_descriptor_error(t, 0).empty() || tma_tile_bytes(t) > room) continue;
    const TmaDescriptor emulated = make_tma_descriptor_emulated(t, static_cast<uint64_t>(r.bytes));
    std::memcpy(static_cast<void*>(&r.map), emulated.bytes, sizeof(r.map));
    return r;
  }
}

std::vector<unsigned char> random_bytes(int64_t n, TmaElement e) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(n));
  for (auto& b : bytes) b = static_cast<unsigned char>(generator());
  // Reductions are compared on numbers: no NaN.
  const auto numbers = [&](auto zero) {
    for (std::size_t i = 0; i + sizeof(zero) <= bytes.size(); i += sizeof(zero)) {
      zero = decltype(zero)(static_cast<float>(within(-50, 50)));
      std::memcpy(&bytes[i], static_cast<const void*>(&zero), sizeof(zero));
    }
  };
  if (e == TmaElement::f16) numbers(half_t{});
  if (e == TmaElement::bf16) numbers(bfloat16_t{});
  if (e == TmaElement::f32) numbers(0.0f);
  return bytes;
}

uint32_t word(const unsigned char* p) {
  uint32_t w;
  std::memcpy(&w, p, 4);
  return w;
}

// Subnormals, ties, infinities and NaN of both signs, among the random ones.
void add_specials(std::vector<unsigned char>& tensor) {
  constexpr uint32_t specials[] = {0x00000001, 0x00001000, 0x00003000, 0x007fffff, 0x00800000,
                                   0x3f801000, 0x3f803000, 0x3f801001, 0x7f7fffff, 0x7f7ff000,
                                   0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x00000000};
  for (std::size_t i = 0; i + 4 <= tensor.size(); i += 4 * (1 + generator() % 3)) {
    const uint32_t x = specials[generator() % 15] | (generator() % 2 ? 0x80000000 : 0);
    std::memcpy(&tensor[i], &x, 4);
  }
}

template <int D>
void prove_load(const std::string& name, Load how, bool im2col) {
  const int trials = 60;
  long equal = 0;
  for (int i = 0; i < trials; ++i) {
    const Trial r = draw(D, im2col, false);
    auto tensor = random_bytes(r.bytes, TmaElement::u8);
    if (r.t.element >= TmaElement::f32_ftz) add_specials(tensor);
    const Buffer device(tensor);
    const Buffer<unsigned char> out(2 * room);
    const TmaDescriptor map = make_tma_descriptor(r.t, device.data);
    const auto bytes = static_cast<unsigned>(tma_box_bytes(r.t));
    check(cudaFuncSetAttribute(load_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, room + 16), name.c_str());
    load_kernel<D><<<2, 64, room + 16>>>(map, how, r.p, bytes, reinterpret_cast<uint4*>(out.data));
    check(cudaGetLastError(), name.c_str());
    const auto got = out.get();
    const emulate::Box box = emulate::box_of(r.map, r.p.c, im2col ? r.p.o : nullptr);
    const auto line = emulate::loaded(r.map, box, tensor.data());
    // The tile from its first byte to the box's last, with what no line holds between.
    std::vector<unsigned char> want(room, 0xEE);
    for (unsigned b = 0; b < box.bytes; b += 16)
      std::memcpy(&want[emulate::swizzled(box.place(b), r.map.swizzle)], &line[b], 16);
    bool same = box.bytes == bytes;
    for (unsigned b = 0; b < room; b += 4) {
      const bool here = std::memcmp(&got[b], &want[b], 4) == 0 && std::memcmp(&got[room + b], &want[b], 4) == 0;
      if (!here && same)
        std::printf("byte %u: %08x and %08x on the device, %08x by reference\n", b, word(&got[b]), word(&got[room + b]),
                    word(&want[b]));
      same = same && here;
    }
    if (!same)
      std::printf("%s trial %d differs: element %d swizzle %d box %ld %ld at %d %d (%u bytes, %u by reference)\n",
                  name.c_str(), i, int(r.t.element), int(r.t.swizzle), long(r.t.box[0]), long(r.t.box[1]), r.p.c[0],
                  r.p.c[1], bytes, box.bytes);
    equal += same;
  }
  report(name, trials, equal, 0, 0, equal == trials);
}

template <class T>
T combined(emulate::Reduction op, T a, T b) {
  if (op == emulate::Reduction::min) return static_cast<double>(b) < static_cast<double>(a) ? b : a;
  if (op == emulate::Reduction::max) return static_cast<double>(a) < static_cast<double>(b) ? b : a;
  return T(a + b);
}
template <class T>
void combine(emulate::Reduction op, unsigned char* to, const unsigned char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(static_cast<void*>(&a), to + i, sizeof(T));
    std::memcpy(static_cast<void*>(&b), from + i, sizeof(T));
    a = combined(op, a, b);
    std::memcpy(to + i, static_cast<const void*>(&a), sizeof(T));
  }
}
void combine(TmaElement e, emulate::Reduction op, unsigned char* to, const unsigned char* from, std::size_t bytes) {
  if (op == emulate::Reduction::none)
    std::memcpy(to, from, bytes);
  else if (e == TmaElement::f16)
    combine<half_t>(op, to, from, bytes);
  else if (e == TmaElement::bf16)
    combine<bfloat16_t>(op, to, from, bytes);
  else if (e == TmaElement::f32)
    combine<float>(op, to, from, bytes);
  else if (e == TmaElement::s32)
    combine<int32_t>(op, to, from, bytes);
  else if (e == TmaElement::u32)
    combine<uint32_t>(op, to, from, bytes);
  else if (e == TmaElement::u64 && op == emulate::Reduction::add)
    combine<uint64_t>(op, to, from, bytes);
  else  // 64-bit integers beyond a double's 53 bits
    for (std::size_t i = 0; i < bytes; i += 8) {
      uint64_t a, b;
      std::memcpy(&a, to + i, 8);
      std::memcpy(&b, from + i, 8);
      const bool less = e == TmaElement::s64 ? static_cast<int64_t>(b) < static_cast<int64_t>(a) : b < a;
      if (less == (op == emulate::Reduction::min)) std::memcpy(to + i, &b, 8);
    }
}

template <int D>
void prove_store(const std::string& name, Store how) {
  const int trials = 60;
  const auto op = how == Store::add   ? emulate::Reduction::add
                  : how == Store::min ? emulate::Reduction::min
                  : how == Store::max ? emulate::Reduction::max
                                      : emulate::Reduction::none;
  long equal = 0;
  for (int i = 0; i < trials; ++i) {
    const Trial r = draw(D, how == Store::im2col, true, op);
    auto tensor = random_bytes(r.bytes, r.t.element);
    const Buffer device(tensor);
    const auto bytes = static_cast<unsigned>(tma_box_bytes(r.t));
    const auto tile = random_bytes(room, r.t.element);
    const Buffer device_tile(tile);
    const TmaDescriptor map = make_tma_descriptor(r.t, device.data);
    check(cudaFuncSetAttribute(store_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, room), name.c_str());
    store_kernel<D><<<1, 64, room>>>(map, how, r.p, room, reinterpret_cast<const uint4*>(device_tile.data));
    check(cudaGetLastError(), name.c_str());
    const auto got = device.get();
    const emulate::Box box = emulate::box_of(r.map, r.p.c, nullptr);
    std::vector<unsigned char> line(box.bytes);
    for (unsigned b = 0; b < box.bytes; b += 16)
      std::memcpy(&line[b], &tile[emulate::swizzled(box.place(b), r.map.swizzle)], 16);
    for (const auto& run : box.runs)  // in whole chunks
      combine(r.t.element, op, &tensor[run.from], &line[run.to], (run.bytes + 15) / 16 * 16);
    const bool same = box.bytes == bytes && got == tensor;
    if (!same)
      std::printf("%s trial %d differs: element %d swizzle %d box %ld at %d %d\n", name.c_str(), i, int(r.t.element),
                  int(r.t.swizzle), long(r.t.box[0]), r.p.c[0], r.p.c[1]);
    equal += same;
  }
  report(name, trials, equal, 0, 0, equal == trials);
}

template <int D>
void prove_dimension() {
  const std::string d = "_" + std::to_string(D) + "D";
  prove_load<D>("SM90_TMA_LOAD" + d, Load::plain, false);
  prove_load<D>("SM90_TMA_PREFETCH" + d, Load::plain, false);
  prove_load<D>("SM90_TMA_LOAD_HINT" + d, Load::hinted, false);
  prove_load<D>("SM90_TMA_LOAD_MULTICAST" + d, Load::multicast, false);
  prove_load<D>("SM90_TMA_LOAD_MULTICAST_HINT" + d, Load::multicast_hinted, false);
  prove_store<D>("SM90_TMA_STORE" + d, Store::plain);
  prove_store<D>("SM90_TMA_STORE_HINT" + d, Store::hinted);
  prove_store<D>("SM90_TMA_REDUCE_ADD" + d, Store::add);
  prove_store<D>("SM90_TMA_REDUCE_MIN" + d, Store::min);
  prove_store<D>("SM90_TMA_REDUCE_MAX" + d, Store::max);
  if constexpr (D >= 3) {
    prove_load<D>("SM90_TMA_LOAD_IM2COL" + d, Load::im2col, true);
    prove_load<D>("SM90_TMA_LOAD_IM2COL_MULTICAST" + d, Load::im2col_multicast, true);
    prove_store<D>("SM90_TMA_STORE_IM2COL" + d, Store::im2col);
  }
}

}  // namespace
}  // namespace zellige

int main() {
  using namespace zellige;
  print_head("hardware_tma");
  check(cudaFree(nullptr), "context");
  prove_dimension<1>();
  prove_dimension<2>();
  prove_dimension<3>();
  prove_dimension<4>();
  prove_dimension<5>();
  // Every load prefetches its descriptor, every store has a fence: they hold if all of those do.
  report("SM90_PREFETCH_TENSORMAP", 300, all_hold ? 300 : 0, 0, 0, all_hold);
  report("SM90_FENCE_PROXY_ASYNC_SHARED", 300, all_hold ? 300 : 0, 0, 0, all_hold);
  return conclude([](const Instruction& row) {
    return std::string(row.name).find("TMA_") != std::string::npos ||
           std::string(row.name) == "SM90_PREFETCH_TENSORMAP";
  });
}
