// A copying tutorial's kernels, unchanged, on the emulator: emulated_test.cpp compiles this into a library.
//
//   KERNELS       the file with the kernels, cut from the tutorial
//   PREDICATED    they take tensors that the tiles do not divide (tiled_copy_if)
#include <zellige/emulate/device.hpp>
#include KERNELS

#include "emulated.hpp"

using namespace cute;

extern "C" void check(Run run, std::string& why) {
#if defined(PREDICATED)
  int const m = 264, n = 100;  // a multiple of the vectors, not of the tiles
#else
  int const m = 256, n = 128;
#endif
  std::vector<float> from(std::size_t(m * n)), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = float(i);
  auto const tile = Shape<_128, _64>{};
  auto const source = make_tensor(make_gmem_ptr(static_cast<float const*>(from.data())), make_shape(m, n));
  auto const target = make_tensor(make_gmem_ptr(to.data()), make_shape(m, n));
  auto const threads = Layout<Shape<_32, _8>>{};
  auto const vectors = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, float>{}, threads, Layout<Shape<_4, _1>>{});
  zellige::emulate::dim3 const grid{unsigned((m + 127) / 128), unsigned((n + 63) / 64)};
#if defined(PREDICATED)
  using S = Bare<decltype(source)>;
  using D = Bare<decltype(target)>;
  using T = Bare<decltype(tile)>;
  why = launch(run, copy_if_kernel<S, D, T, Bare<decltype(threads)>>, grid, {256}, source, target, tile, threads);
  if (why.empty()) why = first_difference(to, from);
  std::fill(to.begin(), to.end(), 0.0f);
  if (why.empty())
    why = launch(run, copy_if_kernel_vectorized<S, D, T, Bare<decltype(vectors)>>, grid, {256}, source, target, tile,
                 vectors);
#else
  auto const tiled_source = tiled_divide(source, tile);
  auto const tiled_target = tiled_divide(target, tile);
  using S = Bare<decltype(tiled_source)>;
  using D = Bare<decltype(tiled_target)>;
  why = launch(run, copy_kernel<S, D, Bare<decltype(threads)>>, grid, {256}, tiled_source, tiled_target, threads);
  if (why.empty()) why = first_difference(to, from);
  std::fill(to.begin(), to.end(), 0.0f);
  if (why.empty())
    why = launch(run, copy_kernel_vectorized<S, D, Bare<decltype(vectors)>>, grid, {256}, tiled_source, tiled_target,
                 vectors);
#endif
  if (why.empty()) why = first_difference(to, from);
}
