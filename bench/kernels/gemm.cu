// The GEMM of examples/kernels under C names, for bench/kernels.py. Every function returns a cudaError_t.
#include <cstdlib>

#include "launch.hpp"
#include "../../examples/kernels/gemm_sm90.hpp"

using namespace zellige;
using namespace zellige::bench;
using namespace zellige::kernels;

namespace {

const bool early = getenv("EARLY") ? atoi(getenv("EARLY")) : 1;

template <class T>
constexpr CUtensorMapDataType data_type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
template <>
constexpr CUtensorMapDataType data_type<half_t> = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
template <>
constexpr CUtensorMapDataType data_type<bfloat16_t> = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

template <class T>
TmaDescriptor matrix(const void* data, int rows, int columns, unsigned box_rows, unsigned box_columns, bool swizzle,
                     CUtensorMapL2promotion promotion) {
  return descriptor(data, data_type<T>, {cuuint64_t(columns), cuuint64_t(rows)}, {columns * sizeof(T)},
                    {box_columns, box_rows}, swizzle ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, promotion);
}

template <class Tile>
int gemm(const void* a, const void* b, void* d, GemmShape s, int blocks, void* stream) {
  using E = typename Tile::Element;
  // Rows that do not begin at multiples of 128 bytes, and weights that are read once: what is fetched beyond the box
  // costs more than it gives.
  const auto promotion = Tile::TileM == 64              ? CU_TENSOR_MAP_L2_PROMOTION_NONE
                         : s.k * sizeof(E) % 128 == 0 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                                                      : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  return launch(gemm_sm90<Tile, Plain>, blocks, Tile::threads, Tile::shared_bytes, Tile::ClusterM, early, stream,
                matrix<E>(a, s.m, s.k, Tile::TileM, Tile::TileK, true, promotion),
                matrix<E>(b, s.n, s.k, Tile::slice_rows, Tile::TileK, true, promotion),
                matrix<typename Tile::Output>(d, s.m, s.n, 64, Tile::slab_columns, Tile::slab_columns == 64, promotion), s,
                Plain{});
}

template <class E, class O>
int choose(int config, const void* a, const void* b, void* d, GemmShape s, int blocks, void* stream) {
  switch (config) {
    case 0: return gemm<GemmTile<E, O, 256, 4, 2>>(a, b, d, s, blocks, stream);
    case 1: return gemm<GemmTile<E, O, 256, 4>>(a, b, d, s, blocks, stream);
    case 2: return gemm<GemmTile<E, O, 192, 4, 2>>(a, b, d, s, blocks, stream);
    case 3: return gemm<GemmTile<E, O, 200, 5, 4>>(a, b, d, s, blocks, stream);
    case 4: return gemm<GemmTile<E, O, 128, 8, 2, 64>>(a, b, d, s, blocks, stream);
    case 5: return gemm<GemmTile<E, O, 64, 8>>(a, b, d, s, blocks, stream);
    case 6: return gemm<GemmTile<E, O, 128, 4, 2, 64, 2>>(a, b, d, s, blocks, stream);
    case 7: return gemm<GemmTile<E, O, 128, 2, 2, 64, 4>>(a, b, d, s, blocks, stream);
    case 8: return gemm<GemmTile<E, O, 64, 4, 1, 128, 2>>(a, b, d, s, blocks, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace

extern "C" int zellige_gemm(int config, int type, const void* a, const void* b, void* d, int m, int n, int k, int group,
                            int blocks, void* stream) {
  const GemmShape s{m, n, k, group};
  switch (type) {
    case 0: return choose<half_t, half_t>(config, a, b, d, s, blocks, stream);
    case 1: return choose<bfloat16_t, bfloat16_t>(config, a, b, d, s, blocks, stream);
    case 2: return choose<float_e4m3_t, bfloat16_t>(config, a, b, d, s, blocks, stream);
    default: return cudaErrorInvalidValue;
  }
}
