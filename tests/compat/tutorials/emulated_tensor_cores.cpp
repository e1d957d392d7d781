// A tensor-core tutorial's kernel, unchanged, on the emulator: emulated_test.cpp compiles this into a library.
//
//   KERNELS    the file with the kernel, cut from the tutorial
//   WARP       mma.sync, ldmatrix and cp.async (sgemm_sm80); else the warpgroup's (wgmma_sm90)
//   BY_TMA     whose tiles TMA loads (wgmma_tma_sm90)
#include <zellige/emulate/device.hpp>
#include KERNELS

#include "emulated.hpp"

// The kernels' `extern __shared__`: the block's dynamic shared memory.
alignas(1024) thread_local char shared_memory[200 * 1024];

using namespace cute;

namespace {

using zellige::emulate::Buffer;
using zellige::emulate::LaunchConfig;
using zellige::emulate::LaunchParameter;
using T = half_t;

constexpr int m = 128, n = 256, k = 256;  // four tiles of k: the ring of three comes round

Buffer numbers(char const* name, int count, int modulus) {
  Buffer b(name, std::size_t(count) * sizeof(T));
  for (int i = 0; i < count; ++i) reinterpret_cast<T*>(b.data())[i] = T(float(i * 7 % modulus - modulus / 2));
  b.mark_initialised();
  return b;
}
#if defined(BY_TMA)
/// The atom with the emulator's descriptor, which is all that it has.
template <class Atom, class X>
LaunchParameter map_of(Atom atom, X const& x, Buffer& b) {
  static_assert(sizeof(Atom) == sizeof(TmaDescriptor));
  using Traits = typename Atom::Traits;
  auto const tile = zellige::detail::tma_tile<T, T>(x, Layout<_1>{}, _1{});
  auto const numbers = zellige::detail::numbers_of(tile, typename Traits::AuxParams::TmaGmemBasis{},
                                                   sizeof_bits<T>::value, sizeof_bits<T>::value, 1);
  auto const map = zellige::make_tma_descriptor_emulated(
      zellige::detail::tma_tensor<T, typename Traits::AuxParams::TmaSwizzle>(numbers), b.bytes());
  return {map, b, false};
}
#endif

}  // namespace

extern "C" void check(Run run, std::string& why) {
  Buffer a = numbers("A", m * k, 3), b = numbers("B", n * k, 5), c = numbers("C", m * n, 7);
  auto const at = [](Buffer const& x, int i) { return float(reinterpret_cast<T const*>(x.data())[i]); };
  std::vector<float> want(m * n), got(m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;  // of small integers: exact, also in halves
      for (int x = 0; x < k; ++x) sum += at(a, i * k + x) * at(b, j * k + x);
      want[i + j * m] = 2 * sum - at(c, i + j * m);
    }
  }
  auto const shape = make_shape(m, n, k);
  auto const tile = Shape<_128, _128, _64>{};
  auto const dA = make_stride(k, _1{}), dB = dA;
  auto const dC = make_stride(_1{}, m);
  T const alpha = T(2.0f), beta = T(-1.0f);
#if defined(WARP)
  auto const atom = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, Shape<_8, _8>>, Stride<_8, Stride<_1, _64>>>{});
  auto const s = tile_to_shape(atom, Shape<_128, _64, _3>{});
  auto const threads = make_tiled_mma(SM80_16x8x16_F16F16F16F16_TN{}, Layout<Shape<_2, _2>>{}, Tile<_32, _32, _16>{});
  Copy_Atom<SM75_U32x4_LDSM_N, T> const from_shared;
  auto const sC = Layout<Shape<_128, _128>>{};
#else
  auto const s = tile_to_shape(GMMA::Layout_K_SW128_Atom<T>{}, Shape<_128, _64, _3>{});
  auto const threads = make_tiled_mma(SM90_64x64x16_F16F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});
#endif
  using S = Bare<decltype(s)>;
  using M = Bare<decltype(threads)>;
  LaunchConfig config;
  config.grid = {m / 128, n / 128};
  config.block = {unsigned(size(threads))};
  config.shared_bytes = sizeof(SharedStorage<T, T, S, S>);
  config.shared_memory = [] { return reinterpret_cast<unsigned char*>(shared_memory); };
  config.source_file = KERNELS;
  auto const A = LaunchParameter::address_of(a, false), B = LaunchParameter::address_of(b, false),
             C = LaunchParameter::address_of(c, true);
#if defined(BY_TMA)
  alignas(128) static T nowhere[64];
  auto const gA = make_tensor(&nowhere[0], make_shape(m, k), dA), gB = make_tensor(&nowhere[0], make_shape(n, k), dB);
  auto const one = Shape<_128, _64>{};
  auto const tA = make_tma_atom(SM90_TMA_LOAD{}, gA, s(_, _, 0), one),
             tB = make_tma_atom(SM90_TMA_LOAD{}, gB, s(_, _, 0), one);
  config.parameters = {shape, tile, A, map_of(tA, gA, a), B, map_of(tB, gB, b), C, dC, threads, alpha, beta};
  auto const kernel = gemm_device<Bare<decltype(shape)>, Bare<decltype(tile)>, T, S, Bare<decltype(tA)>, T, S,
                                  Bare<decltype(tB)>, T, Bare<decltype(dC)>, M, T, T>;
#else
  auto const loads = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, T>{},
                                     Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{});
  using L = Bare<decltype(loads)>;
#if defined(WARP)
  using F = Bare<decltype(from_shared)>;
  config.parameters = {shape, tile,  A,           dA, s,  loads, from_shared, B,     dB,
                       s,     loads, from_shared, C,  dC, sC,    threads,     alpha, beta};
  auto const kernel = gemm_device<Bare<decltype(shape)>, Bare<decltype(tile)>, T, Bare<decltype(dA)>, S, L, F, T,
                                  Bare<decltype(dB)>, S, L, F, T, Bare<decltype(dC)>, Bare<decltype(sC)>, M, T, T>;
#else
  config.parameters = {shape, tile, A, dA, s, loads, B, dB, s, loads, C, dC, threads, alpha, beta};
  auto const kernel = gemm_device<Bare<decltype(shape)>, Bare<decltype(tile)>, T, Bare<decltype(dA)>, S, L, T,
                                  Bare<decltype(dB)>, S, L, T, Bare<decltype(dC)>, M, T, T>;
#endif
#endif
  why = launch(run, kernel, config);
  for (int i = 0; i < m * n; ++i) got[std::size_t(i)] = at(c, i);
  why += first_difference(got, want);
}
