#include <zellige/kernels/descriptors.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using namespace kernels;

template <class Tile>
Outcome gemm(GemmShape s, unsigned blocks) {
  using E = typename Tile::Element;
  Tensor<E> a("A", std::size_t(s.m) * s.k), b("B", std::size_t(s.n) * s.k);
  Tensor<typename Tile::Output> d("D", std::size_t(s.m) * s.n);
  a.random(1), b.random(2);
  const GemmTensors<Tile> t(s);
  return launch<gemm_sm90<Tile, Identity>>({{blocks}, {Tile::threads}, Tile::shared_bytes, Tile::ClusterM},
                                           {map_of(t.a, a), map_of(t.b, b), map_of(t.d, d, true), s, Identity{}},
                                           {&d.buffer});
}

using BiasTile = GemmTile<half_t, half_t, 80, 3>;
void with_bias(TmaDescriptor a, TmaDescriptor b, TmaDescriptor d, GemmShape s, gmem<const half_t> bias,
               gmem<const half_t> residual) {
  gemm_sm90<BiasTile, BiasActivateAdd<half_t, Relu>>(a, b, d, s, {bias, residual, s.n});
}
Outcome epilogue() {
  const GemmShape s{136, 88, 264, 1};
  Tensor<half_t> a("A", s.m * s.k), b("B", s.n * s.k), d("D", s.m * s.n), bias("bias", s.n),
      residual("residual", s.m * s.n);
  a.random(1), b.random(2), bias.random(3), residual.random(4);
  const GemmTensors<BiasTile> t(s);
  return launch<with_bias>({{2}, {BiasTile::threads}, BiasTile::shared_bytes},
                           {map_of(t.a, a), map_of(t.b, b), map_of(t.d, d, true), s, bias.in(), residual.in()},
                           {&d.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"tiles and stages",
           [] {
             return gemm<GemmTile<half_t, half_t, 128, 2>>({200, 264, 200, 2}, 2);
           }},
          {"cluster",
           [] {
             return gemm<GemmTile<half_t, half_t, 128, 2, 2>>({300, 136, 200, 1}, 4);
           }},
          {"small M",
           [] {
             return gemm<GemmTile<half_t, half_t, 128, 2, 2, 64>>({96, 192, 200, 1}, 4);
           }},
          {"epilogue", epilogue}};
}

}  // namespace mutants
