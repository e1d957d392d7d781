// The GEMM of include/zellige/kernels under C names, for bench/kernels.py. Every function returns a cudaError_t.
#include <zellige/kernels/descriptors.hpp>

#include "launch.hpp"

using namespace zellige;
using namespace zellige::bench;
using namespace zellige::kernels;

namespace {

template <class Tile>
int gemm(const void* a, const void* b, void* d, GemmShape s, int blocks, void* stream) {
  const GemmTensors<Tile> t(s);
  return launch(gemm_sm90<Tile, Identity>, blocks, Tile::threads, Tile::shared_bytes, Tile::ClusterM, true, stream,
                make_tma_descriptor(t.a, a), make_tma_descriptor(t.b, b), make_tma_descriptor(t.d, d), s, Identity{});
}

template <class E, class O>
int choose(int config, const void* a, const void* b, void* d, GemmShape s, int blocks, void* stream) {
  switch (config) {
    case 0:
      return gemm<GemmTile<E, O, 256, 4, 2>>(a, b, d, s, blocks, stream);
    case 1:
      return gemm<GemmTile<E, O, 256, 4>>(a, b, d, s, blocks, stream);
    case 2:
      return gemm<GemmTile<E, O, 192, 4, 2>>(a, b, d, s, blocks, stream);
    case 3:
      return gemm<GemmTile<E, O, 200, 5, 4>>(a, b, d, s, blocks, stream);
    case 4:
      return gemm<GemmTile<E, O, 128, 8, 2, 64>>(a, b, d, s, blocks, stream);
    case 5:
      return gemm<GemmTile<E, O, 64, 8>>(a, b, d, s, blocks, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

extern "C" int zellige_gemm(int config, int type, const void* a, const void* b, void* d, int m, int n, int k, int group,
                            int blocks, void* stream) {
  const GemmShape s{m, n, k, group};
  return guarded([&]() -> int {
    switch (type) {
      case 0:
        return choose<half_t, half_t>(config, a, b, d, s, blocks, stream);
      case 1:
        return choose<bfloat16_t, bfloat16_t>(config, a, b, d, s, blocks, stream);
      case 2:
        return choose<float_e4m3_t, bfloat16_t>(config, a, b, d, s, blocks, stream);
      default:
        return cudaErrorInvalidValue;
    }
  });
}
