// Describes the tensors of the hand-written Hopper kernels for make_tma_descriptor: the shapes, boxes and swizzles that
// the kernels expect. Host code, for the GPU and the emulator.
//
//   const GemmTensors<Tile> t(shape);
//   launch(gemm_sm90<Tile, Plain>, ..., make_tma_descriptor(t.a, a), make_tma_descriptor(t.b, b), make_tma_descriptor(t.d, d), ...);
//
// make_tma_descriptor throws if TMA cannot address a size; the message has the name of the field and its value.
#pragma once
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/kernels/attention_sm90.hpp>
#include <zellige/kernels/gemm_sm90.hpp>
#include <zellige/kernels/linear_rows_sm90.hpp>
#include <zellige/kernels/linear_sm90.hpp>

namespace zellige::kernels {

/// TMA's element type for T, which is half_t or bfloat16_t.
template <class T>
inline constexpr TmaElement tma_element = TmaElement::u8;
template <>
inline constexpr TmaElement tma_element<half_t> = TmaElement::f16;
template <>
inline constexpr TmaElement tma_element<bfloat16_t> = TmaElement::bf16;

/// Returns the TMA description of a contiguous row-major matrix that is copied in boxes of box_rows x box_columns.
/// Extents are in elements.
template <class T>
TmaTensor tma_matrix(const char* name, int64_t rows, int64_t columns, int64_t box_rows, int64_t box_columns,
                     SwizzleMode swizzle, TmaPromotion promotion) {
  constexpr int64_t size = sizeof(T);
  return {.name = name,
          .element = tma_element<T>,
          .rank = 2,
          .extent = {columns, rows},
          .stride = {0, columns * size},
          .box = {box_columns, box_rows},
          .swizzle = swizzle,
          .promotion = promotion};
}

/// Returns the TMA description of a contiguous row-major rows x k matrix as a rank-3 tensor [k / 64][rows][64]. A box
/// has box_rows rows and 64 * chunks columns of the matrix. A rank-2 box with the 128-byte swizzle could have only 64
/// columns, because T has 2 bytes.
template <class T>
TmaTensor tma_chunks(const char* name, int64_t rows, int64_t k, int64_t box_rows, int64_t chunks,
                     TmaPromotion promotion) {
  constexpr int64_t size = sizeof(T);
  return {.name = name,
          .element = tma_element<T>,
          .rank = 3,
          .extent = {64, rows, k / 64},
          .stride = {0, k * size, 64 * size},
          .box = {64, box_rows, chunks},
          .swizzle = SwizzleMode::b128,
          .promotion = promotion};
}

/// The TMA descriptions of the tensors of gemm_sm90, D = A B^T.
template <class Tile>
struct GemmTensors {
  TmaTensor a, b, d;

  explicit GemmTensors(const GemmShape& s) {
    using E = typename Tile::Element;
    // L2 promotion makes TMA fetch more than the box into the L2. It does not pay if rows are not multiples of 128
    // bytes, or if B is read only once.
    const auto promotion = s.m <= Tile::TileM * Tile::ClusterM            ? TmaPromotion::none
                           : s.k * static_cast<int>(sizeof(E)) % 128 == 0 ? TmaPromotion::l2_256
                                                                          : TmaPromotion::l2_128;
    a = tma_matrix<E>("A", s.m, s.k, Tile::TileM, Tile::TileK, SwizzleMode::b128, promotion);
    b = tma_matrix<E>("B", s.n, s.k, Tile::slice_rows, Tile::TileK, SwizzleMode::b128, promotion);
    d = tma_matrix<typename Tile::Output>("D", s.m, s.n, 64, Tile::slab_columns,
                                          Tile::slab_columns == 64 ? SwizzleMode::b128 : SwizzleMode::none, promotion);
  }
};

/// The TMA descriptions of the tensors of linear_sm90: the weights w, the weights v of the gate, and the input x.
template <class L>
struct LinearTensors {
  TmaTensor w, v, x;

  explicit LinearTensors(const LinearShape& s) {
    using E = typename L::Element;
    w = L::weights == Weights::nk ? tma_chunks<E>("W", s.n, s.k, 64, L::Chunks, TmaPromotion::none)
                                  : tma_matrix<E>("W", s.k, s.n, 64 * L::Chunks, L::columns,
                                                  L::gated ? SwizzleMode::b64 : SwizzleMode::b128, TmaPromotion::none);
    v = w;
    v.name = "V";
    x = tma_chunks<E>("X", s.rows, s.k, L::Rows, L::Chunks, TmaPromotion::none);
  }
};

/// The TMA descriptions of the tensors of linear_rows_sm90, y = x w^T.
template <class L>
struct RowsTensors {
  TmaTensor w, x, y;

  explicit RowsTensors(const LinearShape& s) {
    using E = typename L::Element;
    w = tma_matrix<E>("W", s.n, s.k, 64, 64, SwizzleMode::b128, TmaPromotion::none);
    x = tma_matrix<E>("X", s.rows, s.k, L::Rows, 64, SwizzleMode::b128, TmaPromotion::l2_128);
    y = tma_matrix<E>("Y", s.rows, s.n, L::Rows, 64, SwizzleMode::b128, TmaPromotion::none);
  }
};

/// The TMA descriptions of the tensors of attention_sm90.
template <class A>
struct AttentionTensors {
  TmaTensor q, k, v, o;

  explicit AttentionTensors(const AttentionShape& s) {
    q = rows("Q", s.heads, s.queries, 64);
    k = rows("K", s.kv_heads, s.keys, A::Keys);
    v = rows("V", s.kv_heads, s.keys, A::Keys);
    o = rows("O", s.heads, s.queries, 64);
  }
  /// Returns the TMA description of a contiguous [heads][n][HeadDim] tensor. A box has `box` rows of one head.
  static TmaTensor rows(const char* name, int64_t heads, int64_t n, int64_t box) {
    return {.name = name,
            .element = tma_element<typename A::Element>,
            .rank = 4,
            .extent = {64, n, A::slabs, heads},
            .stride = {0, A::HeadDim * 2, 128, n * A::HeadDim * 2},
            .box = {64, box, A::slabs, 1},
            .swizzle = SwizzleMode::b128,
            .promotion = TmaPromotion::l2_256};
  }
};

}  // namespace zellige::kernels
