// Copy instructions access shared memory at the address of a tensor's first element, for any layout or
// pointer; run-time values that the compiler does not know are checked when the kernel runs.
#include <zellige/atom/copy_call.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

using Rows = Layout<Shape<_8, _64>, Stride<_64, _1>>;
/// Row-major as it is; swizzled by its layout; swizzled by its pointer.
enum class Place { simple, layout, pointer };
template <Place place>
ZELLIGE_DEVICE auto tile() {
  auto const at = shared<uint16_t>("tile", 0, 512);
  if constexpr (place == Place::simple)
    return make_tensor(make_smem_ptr(at), Rows{});
  else if constexpr (place == Place::layout)
    return make_tensor(make_smem_ptr(at), composition(Swizzle<3, 3, 3>{}, Rows{}));
  else
    return make_tensor(make_smem_ptr(at, Swizzle<3, 4, 3>{}), Rows{});
}

/// cp.async in, ldmatrix out: every matrix of the tile, by rows.
template <Place place>
__global__ void in_and_out(gmem<uint16_t const> in, gmem<uint32_t> out) {
  auto const from = make_tensor(make_gmem_ptr(in), Rows{});
  auto const kept = tile<place>();
  auto const copy_in = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, uint16_t>{},
                                       Layout<Shape<_8, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _8>>{});
  auto const mine = copy_in.get_slice(int(threadIdx.x));
  copy(copy_in, mine.partition_S(from), mine.partition_D(kept));
  cp_async_fence();
  cp_async_wait<0>();
  __syncthreads();
  int const t = int(threadIdx.x);
  for (int k = 0; k < 2; ++k) {
    // Matrix i is columns 8 i on; lane 8 i + j addresses its row j.
    auto const half = local_tile(kept, Shape<_8, _32>{}, make_coord(0, k));
    auto const row = logical_divide(half, make_tile(_, _8{}))(t % 8, make_coord(_, t / 8));
    auto r = make_tensor<uint16_t>(Shape<_8>{});
    copy(Copy_Atom<SM75_U32x4_LDSM_N, uint16_t>{}, row, r);
    for (int i = 0; i < 4; ++i) out[(k * 32 + t) * 4 + i] = uint32_t(r(2 * i)) | uint32_t(r(2 * i + 1)) << 16;
  }
}
/// stmatrix in, element by element out.
template <Place place>
__global__ void stored(gmem<uint16_t> out) {
  auto const kept = tile<place>();
  int const t = int(threadIdx.x);
  for (int k = 0; k < 2; ++k) {
    auto r = make_tensor<uint16_t>(Shape<_8>{});
    for (int i = 0; i < 8; ++i) r(i) = static_cast<uint16_t>(t / 4 * 64 + k * 32 + i / 2 * 8 + 2 * (t % 4) + i % 2);
    auto const half = local_tile(kept, Shape<_8, _32>{}, make_coord(0, k));
    copy(Copy_Atom<SM90_U32x4_STSM_N, uint16_t>{}, r,
         logical_divide(half, make_tile(_, _8{}))(t % 8, make_coord(_, t / 8)));
  }
  __syncthreads();
  for (int i = t; i < 512; i += 32) out[i] = kept(i / 64, i % 64);
}
template <Place place>
void run_in_and_out(emulate::Launch& l) {
  emulate::call(l, in_and_out<place>);
}
template <Place place>
void run_stored(emulate::Launch& l) {
  emulate::call(l, stored<place>);
}
template <Place place>
void holds() {
  auto in = filled<uint16_t>("in", 512, [](int i) { return static_cast<uint16_t>(i); });
  emulate::Buffer out("out", 1024), back("back", 1024);
  ASSERT_EQ(launch(run_in_and_out<place>, {&in, &out}, {false, true}, 32, 1024), "");
  for (int k = 0; k < 2; ++k) {
    for (int t = 0; t < 32; ++t) {
      for (int i = 0; i < 4; ++i) {
        unsigned const first = unsigned(t / 4 * 64 + k * 32 + i * 8 + 2 * (t % 4));
        ASSERT_EQ(elements<uint32_t>(out)[(k * 32 + t) * 4 + i], first | (first + 1) << 16)
            << k << " " << t << " " << i;
      }
    }
  }
  ASSERT_EQ(launch(run_stored<place>, {&back}, {true}, 32, 1024), "");
  for (int i = 0; i < 512; ++i) ASSERT_EQ(elements<uint16_t>(back)[i], i);
}
TEST(AccessInKernels, OfAPlainTile) { holds<Place::simple>(); }
TEST(AccessInKernels, OfATileSwizzledByItsLayout) { holds<Place::layout>(); }
TEST(AccessInKernels, OfATileSwizzledByItsPointer) { holds<Place::pointer>(); }

/// ldmatrix along a mode whose stride the launch decides.
__global__ void along(gmem<uint16_t> out, int step) {
  auto const at = shared<uint16_t>("tile", 0, 512);
  int const t = int(threadIdx.x);
  for (int i = t; i < 512; i += 32) at[i] = static_cast<uint16_t>(i);
  __syncthreads();
  auto const row = make_tensor(make_smem_ptr(at) + 16 * t, make_layout(Shape<_8>{}, make_stride(step)));
  auto r = make_tensor<uint16_t>(Shape<_8>{});
  copy(Copy_Atom<SM75_U32x4_LDSM_N, uint16_t>{}, row, r);
  out[t] = r(0);
}
void run_along_1(emulate::Launch& l) {
  emulate::call(
      l, +[](gmem<uint16_t> out) { along(out, 1); });
}
void run_along_2(emulate::Launch& l) {
  emulate::call(
      l, +[](gmem<uint16_t> out) {
        try {
          along(out, 2);
        } catch (LayoutError const& e) {
          out[threadIdx.x] = static_cast<uint16_t>(std::string(e.what()).find("one lies 2 from") != std::string::npos);
        }
      });
}
TEST(AccessInKernels, RunTimeStridesAreLookedAt) {
  emulate::Buffer out("out", 64);
  ASSERT_EQ(launch(run_along_1, {&out}, {true}, 32, 1024), "");
  ASSERT_EQ(launch(run_along_2, {&out}, {true}, 32, 1024), "");
  for (int i = 0; i < 32; ++i) ASSERT_EQ(elements<uint16_t>(out)[i], 1);
}

}  // namespace
}  // namespace zellige
