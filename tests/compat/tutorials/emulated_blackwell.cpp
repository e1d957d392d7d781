// A Blackwell tutorial's kernel, unchanged, on the emulator: emulated_test.cpp compiles this into a library.
//
//   KERNELS      the file with the kernel, cut from the tutorial
//   BY_TMA       TMA loads the tiles (02_mma_tma_sm100)
//   MULTICAST    into several CTAs (03_mma_tma_multicast_sm100): a cluster of 4 x 4 CTAs
//   PAIRS        of which two multiply together (04_mma_tma_2sm_sm100)
//   EPILOGUE     and TMA loads C and stores D (05_mma_tma_epi_sm100)
#include <zellige/atom/pointer.hpp>
#include <zellige/emulate/device.hpp>

namespace {
unsigned zellige_shared_bytes = 0;
/// The block's dynamic shared memory, in place of the kernels' `extern __shared__`.
char* dynamic_shared() { return zellige::emulate::shared_pointer<char>("shared memory", 0, zellige_shared_bytes).p; }
}  // namespace
#include KERNELS

#include "emulated.hpp"

using namespace cute;

namespace {

using zellige::emulate::Buffer;
using zellige::emulate::LaunchConfig;
using zellige::emulate::LaunchParameter;
using T = half_t;

#if defined(MULTICAST)
using Cluster = Shape<_4, _4, _1>;
constexpr int k = 128;
#else
using Cluster = Shape<_1, _1, _1>;
constexpr int k = 256;
#endif
constexpr int across = size<0>(Cluster{}), m = 128 * across, n = 256 * across;

template <class X>
Buffer numbers(char const* name, int count, int modulus) {
  Buffer b(name, std::size_t(count) * sizeof(X));
  for (int i = 0; i < count; ++i) reinterpret_cast<X*>(b.data())[i] = X(float(i * 7 % modulus - modulus / 2));
  b.mark_initialised();
  return b;
}
#if defined(BY_TMA)
/// The atom with the emulator's descriptor, which is all that it has. `ctas`: of a multicast.
template <class X, class Atom, class Tensor>
LaunchParameter map_of(Atom, Tensor const& x, Buffer& b, int ctas, bool written = false) {
  static_assert(sizeof(Atom) == sizeof(TmaDescriptor));
  using Aux = typename Atom::Traits::AuxParams;
  auto const tile = zellige::detail::tma_tile<X, X>(x, Layout<_1>{}, _1{});
  auto const numbers = zellige::detail::numbers_of(tile, typename Aux::TmaGmemBasis{}, sizeof_bits<X>::value,
                                                   sizeof_bits<X>::value, ctas);
  auto const map = zellige::make_tma_descriptor_emulated(
      zellige::detail::tma_tensor<X, typename Aux::TmaSwizzle>(numbers), b.bytes());
  return {map, b, written};
}
#endif

}  // namespace

extern "C" void check(Run run, std::string& why) {
  Buffer a = numbers<T>("A", m * k, 5), b = numbers<T>("B", n * k, 7), c = numbers<float>("C", m * n, 11);
  Buffer d = numbers<float>("D", m * n, 3);
  auto* const A = reinterpret_cast<T*>(a.data());
  auto* const B = reinterpret_cast<T*>(b.data());
  auto* const C = reinterpret_cast<float*>(c.data());
  std::vector<float> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;  // of small integers: exact
      for (int x = 0; x < k; ++x) sum += float(A[i * k + x]) * float(B[j * k + x]);
      want[std::size_t(i * n + j)] = 2 * sum - C[i * n + j];
    }
  auto const tA = make_tensor(make_gmem_ptr(A), make_shape(m, k), make_stride(k, _1{}));
  auto const tB = make_tensor(make_gmem_ptr(B), make_shape(n, k), make_stride(k, _1{}));
  auto const tC = make_tensor(make_gmem_ptr(C), make_shape(m, n), make_stride(n, _1{}));
  auto const tD =
      make_tensor(make_gmem_ptr(reinterpret_cast<float*>(d.data())), make_shape(m, n), make_stride(n, _1{}));
#if defined(PAIRS)
  auto const mma = make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<T, T, float, 256, 256, UMMA::Major::K, UMMA::Major::K>{});
#else
  auto const mma = make_tiled_mma(SM100_MMA_F16BF16_SS<T, T, float, 128, 256, UMMA::Major::K, UMMA::Major::K>{});
#endif
  auto const tiler = make_shape(tile_size<0>(mma), tile_size<1>(mma), tile_size<2>(mma) * _4{});
  auto const sA = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<T>{},
                                          partition_shape_A(mma, make_shape(size<0>(tiler), size<2>(tiler))));
  auto const sB = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<T>{},
                                          partition_shape_B(mma, make_shape(size<1>(tiler), size<2>(tiler))));
#if defined(EPILOGUE)
  auto const part = partition_shape_C(mma, make_shape(size<0>(tiler), size<1>(tiler)));
  auto const epilogue = make_tile(size<0, 0>(part), size<0, 1>(part) / Int<4>{});
  auto const sC =
      group<0, 2>(tile_to_shape(UMMA::Layout_K_SW128_Atom<float>{}, make_shape(size<0>(epilogue), size<1>(epilogue))));
  using Storage =
      SharedStorage<T, T, float, float, Bare<decltype(sA)>, Bare<decltype(sB)>, Bare<decltype(sC)>, Bare<decltype(sC)>>;
#else
  using Storage = SharedStorage<T, T, Bare<decltype(sA)>, Bare<decltype(sB)>>;
#endif
  Cluster const cluster;
  LaunchConfig config;
  config.grid = {unsigned(across), unsigned(across)};
  config.cluster = {unsigned(across), unsigned(across)};
  config.block = {128};
  config.shared_bytes = sizeof(Storage);
  zellige_shared_bytes = config.shared_bytes;
  config.source_file = KERNELS;
#if defined(BY_TMA)
  alignas(128) static T nowhere[64];
  alignas(128) static float nowhere_either[64];
  auto const gA = make_tensor(&nowhere[0], make_shape(m, k), make_stride(k, _1{}));
  auto const gB = make_tensor(&nowhere[0], make_shape(n, k), make_stride(k, _1{}));
  auto const gC = make_tensor(&nowhere_either[0], make_shape(m, n), make_stride(n, _1{}));
  [[maybe_unused]] auto const vmnk = tiled_divide(make_layout(cluster), make_tile(typename decltype(mma)::AtomThrID{}));
  int const a_shared_by = int(size<2>(vmnk)), b_shared_by = int(size<1>(vmnk));
#if defined(PAIRS)
  auto const atomA = make_tma_atom_A_sm100(SM100_TMA_2SM_LOAD_MULTICAST{}, gA, sA, tiler, mma, vmnk);
  auto const atomB = make_tma_atom_B_sm100(SM100_TMA_2SM_LOAD_MULTICAST{}, gB, sB, tiler, mma, vmnk);
#elif defined(MULTICAST)
  auto const atomA = make_tma_atom(SM90_TMA_LOAD_MULTICAST{}, gA, sA, select<0, 2>(tiler), size<2>(vmnk));
  auto const atomB = make_tma_atom(SM90_TMA_LOAD_MULTICAST{}, gB, sB, select<1, 2>(tiler), size<1>(vmnk));
#else
  auto const atomA = make_tma_atom(SM90_TMA_LOAD{}, gA, sA, select<0, 2>(tiler));
  auto const atomB = make_tma_atom(SM90_TMA_LOAD{}, gB, sB, select<1, 2>(tiler));
#endif
  auto const mA = atomA.get_tma_tensor(shape(tA));
  auto const mB = atomB.get_tma_tensor(shape(tB));
  auto const pA = map_of<T>(atomA, gA, a, a_shared_by), pB = map_of<T>(atomB, gB, b, b_shared_by);
#if defined(EPILOGUE)
  auto const atomC = make_tma_atom(SM90_TMA_LOAD{}, gC, sC, epilogue);
  auto const atomD = make_tma_atom(SM90_TMA_STORE{}, gC, sC, epilogue);
  auto const mC = atomC.get_tma_tensor(shape(tC));
  auto const mD = atomD.get_tma_tensor(shape(tD));
  auto const pC = map_of<float>(atomC, gC, c, 1), pD = map_of<float>(atomD, gC, d, 1, true);
  config.parameters = {mA, mB, mC, mD, tiler, epilogue, mma, cluster, pA, pB, pC, pD, 2.0f, -1.0f};
  auto const kernel =
      gemm_device<Storage, Bare<decltype(mA)>, Bare<decltype(mB)>, Bare<decltype(mC)>, Bare<decltype(mD)>,
                  Bare<decltype(tiler)>, Bare<decltype(epilogue)>, Bare<decltype(mma)>, Cluster, Bare<decltype(atomA)>,
                  Bare<decltype(atomB)>, Bare<decltype(atomC)>, Bare<decltype(atomD)>, float, float>;
#else
  config.parameters = {mA, mB, tC, tD, tiler, mma, cluster, pA, pB, 2.0f, -1.0f};
  auto const kernel = gemm_device<Storage, Bare<decltype(mA)>, Bare<decltype(mB)>, Bare<decltype(tC)>,
                                  Bare<decltype(tD)>, Bare<decltype(tiler)>, Bare<decltype(mma)>, Cluster,
                                  Bare<decltype(atomA)>, Bare<decltype(atomB)>, float, float>;
#endif
#else
  config.parameters = {tA, tB, tC, tD, tiler, mma, cluster, 2.0f, -1.0f};
  auto const kernel =
      gemm_device<Storage, Bare<decltype(tA)>, Bare<decltype(tB)>, Bare<decltype(tC)>, Bare<decltype(tD)>,
                  Bare<decltype(tiler)>, Bare<decltype(mma)>, Cluster, float, float>;
#endif
  why = launch(run, kernel, config);
  auto const* const got = reinterpret_cast<float const*>(d.data());
  why += first_difference(std::vector<float>(got, got + m * n), want);
}
