// A GEMM tutorial's kernel, unchanged, on the emulator: emulated_test.cpp compiles this into a library.
//
//   KERNELS    the file with the kernel, cut from the tutorial
//   TILED      its copies and its GEMM are tiled (sgemm_2, sgemm_sm70); else they are thread layouts (sgemm_1)
#include <zellige/emulate/device.hpp>
#include KERNELS

#include "emulated.hpp"

using namespace cute;

namespace {

constexpr int m = 256, n = 128, k = 24;

}  // namespace

extern "C" void check(Run run, std::string& why) {
  std::vector<float> a(m * k), b(n * k), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = float(i * 7 % 13 - 6);
  for (int i = 0; i < n * k; ++i) b[i] = float(i * 5 % 11 - 5);
  for (int i = 0; i < m * n; ++i) c[i] = float(i % 5);
  std::vector<float> want = c;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;  // of small integers: exact
      for (int x = 0; x < k; ++x) sum += a[i + x * m] * b[j + x * n];
      want[i + j * m] = 2 * sum - want[i + j * m];
    }
  }
  auto const shape = make_shape(m, n, k);
  auto const tile = Shape<_128, _128, _8>{};
  auto const dA = make_stride(_1{}, m), dB = make_stride(_1{}, n), dC = make_stride(_1{}, m);
  auto const sA = Layout<Shape<_128, _8>>{};
  auto const sC = Layout<Shape<_128, _128>>{};
#if defined(TILED)
  auto const loads =
      make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, float>{}, Layout<Shape<_32, _8>>{}, Layout<Shape<_4, _1>>{});
  auto const threads = make_tiled_mma(UniversalFMA<float, float, float>{}, Layout<Shape<_16, _16, _1>>{});
#else
  auto const loads = Layout<Shape<_32, _8>>{};
  auto const threads = Layout<Shape<_16, _16>>{};
#endif
  why = launch(run,
               gemm_device<Bare<decltype(shape)>, Bare<decltype(tile)>, float, Bare<decltype(dA)>, Bare<decltype(sA)>,
                           Bare<decltype(loads)>, float, Bare<decltype(dB)>, Bare<decltype(sA)>, Bare<decltype(loads)>,
                           float, Bare<decltype(dC)>, Bare<decltype(sC)>, Bare<decltype(threads)>, float, float>,
               {m / 128, n / 128}, {256}, shape, tile, a.data(), dA, sA, loads, b.data(), dB, sA, loads, c.data(), dC,
               sC, threads, 2.0f, -1.0f);
  if (why.empty()) why = first_difference(c, want);
}
