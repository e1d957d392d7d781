// CUDA's mma.h: products of matrices that a warp holds as fragments. Lane l has pairs of adjacent elements as mma.sync lays
// them out: in each tile of 8 x 8 those in row l / 4 that begin at column 2 (l % 4). The program must not rely on it.
#pragma once
#include "zellige/cuda/half.hpp"

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t : int { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

}  // namespace nvcuda::wmma

namespace zellige::cuda {

/// How a fragment's elements are stored.
template <class T>
struct FragmentElement {
  using type = T;
};
template <>
struct FragmentElement<::nvcuda::wmma::precision::tf32> {
  using type = float;
};

/// A matrix of Rows x Columns elements in a warp. Its pairs of elements are adjacent in a column if Upright, else in a row.
template <int Rows, int Columns, bool Upright>
struct FragmentShape {
  static constexpr int rows = Rows, columns = Columns, elements = Rows * Columns / 32;
  static constexpr bool upright = Upright;
  // the extents across and along pairs
  static constexpr int across = Upright ? Columns : Rows, along = Upright ? Rows : Columns;
  static constexpr bool tiled = across % 8 == 0 && along % 8 == 0;

  /// Returns where element i of a lane lies: its index across pairs, and along them.
  static constexpr int place_across(int lane, int i) {
    return tiled ? lane / 4 + 8 * (i / 2 % (across / 8)) : (i * 32 + lane) / along;
  }
  static constexpr int place_along(int lane, int i) {
    return tiled ? lane % 4 * 2 + i % 2 + 8 * (i / 2 / (across / 8)) : (i * 32 + lane) % along;
  }
  static constexpr int row(int lane, int i) { return Upright ? place_along(lane, i) : place_across(lane, i); }
  static constexpr int column(int lane, int i) { return Upright ? place_across(lane, i) : place_along(lane, i); }
};
template <class Use, int M, int N, int K>
struct FragmentShapeOf;
template <int M, int N, int K>
struct FragmentShapeOf<::nvcuda::wmma::matrix_a, M, N, K> : FragmentShape<M, K, false> {};
template <int M, int N, int K>
struct FragmentShapeOf<::nvcuda::wmma::matrix_b, M, N, K> : FragmentShape<K, N, true> {};
template <int M, int N, int K>
struct FragmentShapeOf<::nvcuda::wmma::accumulator, M, N, K> : FragmentShape<M, N, false> {};

/// Two adjacent elements, which are one access.
template <class T>
struct alignas(2 * sizeof(T)) FragmentPair {
  T x, y;
};

/// Moves the elements between a lane's fragment and memory. By_rows: the elements of a row are adjacent in memory.
template <class Shape, class T>
ZELLIGE_DEVICE void load_fragment(T* x, const T* p, unsigned pitch, bool by_rows) {
  const int lane = lane_id();
  const bool pairs = Shape::tiled && by_rows != Shape::upright;
  for (int i = 0; i < Shape::elements; i += pairs ? 2 : 1) {
    const unsigned r = static_cast<unsigned>(Shape::row(lane, i)), c = static_cast<unsigned>(Shape::column(lane, i));
    const T* const from = p + (by_rows ? r * pitch + c : c * pitch + r);
    if (pairs) {
      const FragmentPair<T> both = *reinterpret_cast<const FragmentPair<T>*>(from);
      x[i] = both.x, x[i + 1] = both.y;
    } else {
      x[i] = *from;
    }
  }
}
template <class Shape, class T>
ZELLIGE_DEVICE void store_fragment(T* p, const T* x, unsigned pitch, bool by_rows) {
  const int lane = lane_id();
  const bool pairs = Shape::tiled && by_rows;
  for (int i = 0; i < Shape::elements; i += pairs ? 2 : 1) {
    const unsigned r = static_cast<unsigned>(Shape::row(lane, i)), c = static_cast<unsigned>(Shape::column(lane, i));
    T* const to = p + (by_rows ? r * pitch + c : c * pitch + r);
    if (pairs)
      *reinterpret_cast<FragmentPair<T>*>(to) = {x[i], x[i + 1]};
    else
      *to = x[i];
  }
}

}  // namespace zellige::cuda

namespace nvcuda::wmma {

/// A lane's part of a matrix.
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using Shape = ::zellige::cuda::FragmentShapeOf<Use, M, N, K>;
  using element_type = typename ::zellige::cuda::FragmentElement<T>::type;
  using storage_element_type = element_type;
  static constexpr int num_elements = Shape::elements, num_storage_elements = num_elements;
  element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout>
ZELLIGE_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f,
                                  const typename ::zellige::cuda::FragmentElement<T>::type& value) {
  for (auto& x : f.x) x = value;
}
template <class Use, int M, int N, int K, class T, class Layout>
ZELLIGE_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f,
                                     const typename ::zellige::cuda::FragmentElement<T>::type* p, unsigned pitch) {
  ::zellige::cuda::load_fragment<typename fragment<Use, M, N, K, T, Layout>::Shape>(f.x, p, pitch,
                                                                                    std::is_same_v<Layout, row_major>);
}
template <int M, int N, int K, class T>
ZELLIGE_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned pitch,
                                     layout_t layout) {
  ::zellige::cuda::load_fragment<typename fragment<accumulator, M, N, K, T>::Shape>(f.x, p, pitch,
                                                                                    layout == mem_row_major);
}
template <int M, int N, int K, class T>
ZELLIGE_DEVICE void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned pitch,
                                      layout_t layout) {
  ::zellige::cuda::store_fragment<typename fragment<accumulator, M, N, K, T>::Shape>(p, f.x, pitch,
                                                                                     layout == mem_row_major);
}
ZELLIGE_DEVICE float __float_to_tf32(float x) {
  const unsigned b = ::zellige::cuda::bits<unsigned>(x);
  return (b & 0x7f800000u) == 0x7f800000u ? x : ::zellige::cuda::bits<float>((b + 0x1000u) & 0xffffe000u);
}

}  // namespace nvcuda::wmma

namespace zellige::cuda {

/// A number in which products are summed.
template <class T>
struct FragmentSum {
  using type = float;
};
template <>
struct FragmentSum<double> {
  using type = double;
};
template <>
struct FragmentSum<int> {
  using type = int;
};

/// A lane's operands of a product.
template <class A, class B, class C>
struct FragmentOperands {
  A a;
  B b;
  C c;
};

/// Computes d = a b + c for all lanes of a warp: `in` are their FragmentOperands, `out` their results.
template <class A, class B, class C, class D>
__attribute__((no_sanitize("thread"), noinline)) void multiply_fragments(void*, std::uint32_t lanes,
                                                                         const void* const* in, void* const* out) {
  using Sum = typename FragmentSum<typename C::element_type>::type;
  using Result = typename D::element_type;
  constexpr int m = A::Shape::rows, n = B::Shape::columns, k = A::Shape::columns;
  Sum a[m][k] = {}, b[k][n] = {}, c[m][n] = {};
  for (int lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    const auto& o = *static_cast<const FragmentOperands<A, B, C>*>(in[lane]);
    for (int i = 0; i < A::num_elements; ++i) a[A::Shape::row(lane, i)][A::Shape::column(lane, i)] = Sum(o.a.x[i]);
    for (int i = 0; i < B::num_elements; ++i) b[B::Shape::row(lane, i)][B::Shape::column(lane, i)] = Sum(o.b.x[i]);
    for (int i = 0; i < C::num_elements; ++i) c[C::Shape::row(lane, i)][C::Shape::column(lane, i)] = Sum(o.c.x[i]);
  }
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) c[i][j] += a[i][l] * b[l][j];
  for (int lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    auto& d = *static_cast<D*>(out[lane]);
    for (int i = 0; i < D::num_elements; ++i) d.x[i] = Result(c[D::Shape::row(lane, i)][D::Shape::column(lane, i)]);
  }
}

}  // namespace zellige::cuda

namespace nvcuda::wmma {

template <int M, int N, int K, class T, class La, class Lb, class Tc, class Td>
ZELLIGE_DEVICE void mma_sync(fragment<accumulator, M, N, K, Td>& d, const fragment<matrix_a, M, N, K, T, La>& a,
                             const fragment<matrix_b, M, N, K, T, Lb>& b, const fragment<accumulator, M, N, K, Tc>& c,
                             bool = false) {
  using A = fragment<matrix_a, M, N, K, T, La>;
  using B = fragment<matrix_b, M, N, K, T, Lb>;
  using C = fragment<accumulator, M, N, K, Tc>;
  using D = fragment<accumulator, M, N, K, Td>;
  const ::zellige::cuda::FragmentOperands<A, B, C> mine{a, b, c};
  D result;
  ::zellige::cuda::host->converge(~0u, &mine, &result, ::zellige::cuda::multiply_fragments<A, B, C, D>, nullptr,
                                  "wmma::mma_sync");
  d = result;
}

}  // namespace nvcuda::wmma
