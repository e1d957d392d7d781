// Matmuls composed of several instructions, or without tensor cores: both complex forms, and dot
// products.
#include <zellige/atom/mma_call.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

int part(int row, int k, int salt) {
  return int((unsigned(row) * 31u + unsigned(k) * 17u + unsigned(salt) * 7u) % 9) - 4;
}
complex<double> as_complex(complex<double> const& z) { return z; }
complex<double> as_complex(GaussComplex const& z) { return {z.r - z.i, z.a - z.r - z.i}; }

template <class Op>
__global__ void complex_product(gmem<double> out) {
  auto const mma = make_tiled_mma(Op{});
  using Atom = typename remove_cvref_t<decltype(mma)>::Atom;
  using M = remove_cvref_t<decltype(get<0>(typename Atom::Shape_MNK{}))>;
  using N = remove_cvref_t<decltype(get<1>(typename Atom::Shape_MNK{}))>;
  using K = remove_cvref_t<decltype(get<2>(typename Atom::Shape_MNK{}))>;
  auto const mine = mma.get_slice(int(threadIdx.x));
  auto const at_a = mine.partition_A(make_identity_tensor(Shape<M, K>{}));
  auto const at_b = mine.partition_B(make_identity_tensor(Shape<N, K>{}));
  auto const at_c = mine.partition_C(make_identity_tensor(Shape<M, N>{}));
  auto a = mine.make_fragment_A(at_a);
  auto b = mine.make_fragment_B(at_b);
  auto c = mine.make_fragment_C(at_c);
  auto number = [](auto const& at, int salt) {
    return complex<double>(part(get<0>(at), get<1>(at), salt), part(get<0>(at), get<1>(at), salt + 1));
  };
  for (int i = 0; i < int(size(a)); ++i) a(i) = number(at_a(i), 1);
  for (int i = 0; i < int(size(b)); ++i) b(i) = number(at_b(i), 3);
  clear(c);
  gemm(mma, a, b, c);
  gemm(mma, a, b, c);
  for (int i = 0; i < int(size(c)); ++i) {
    complex<double> const z = as_complex(c(i));
    int const at = get<0>(at_c(i)) + M::value * get<1>(at_c(i));
    out[2 * at] = z.real();
    out[2 * at + 1] = z.imag();
  }
}
template <class Op>
void run(emulate::Launch& l) {
  emulate::call(l, complex_product<Op>);
}
template <class Op>
void is_exact() {
  using Traits = MMA_Traits<Op>;
  constexpr int m = get<0>(typename Traits::Shape_MNK{}), n = get<1>(typename Traits::Shape_MNK{}),
                k = get<2>(typename Traits::Shape_MNK{});
  emulate::Buffer out("out", m * n * 16);
  ASSERT_EQ(launch(run<Op>, {&out}, {true}, 32, 0), "") << Op::name;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      int re = 0, im = 0;
      for (int l = 0; l < k; ++l) {
        int const ar = part(i, l, 1), ai = part(i, l, 2), br = part(j, l, 3), bi = part(j, l, 4);
        re += 2 * (ar * br - ai * bi);
        im += 2 * (ar * bi + ai * br);
      }
      ASSERT_EQ(elements<double>(out)[2 * (i + m * j)], re) << Op::name << " " << i << " " << j;
      ASSERT_EQ(elements<double>(out)[2 * (i + m * j) + 1], im) << Op::name << " " << i << " " << j;
    }
  }
}
TEST(ComposedProducts, Complex) {
  is_exact<SM80_8x8x4_C64C64C64C64_TN>();
  is_exact<SM90_16x8x4_C64C64C64C64_TN>();
  is_exact<SM90_16x8x8_C64C64C64C64_TN>();
  is_exact<SM90_16x8x16_C64C64C64C64_TN>();
}
TEST(ComposedProducts, GaussTakesThree) { is_exact<SM80_8x8x4_GC64C64C64GC64_TN>(); }

template <class Op, class T>
void dots() {
  auto const mma = make_tiled_mma(Op{}, Layout<Shape<_4, _8, _1>>{});
  T a[4 * 8], b[8 * 8];
  int c[4 * 8];
  for (int i = 0; i < 32; ++i) a[i] = T(part(i, 1, 1)), c[i] = i;
  for (int i = 0; i < 64; ++i) b[i] = T(part(i, 2, 3));
  auto const A = make_tensor(&a[0], Layout<Shape<_4, _8>, Stride<_8, _1>>{});
  auto const B = make_tensor(&b[0], Layout<Shape<_8, _8>, Stride<_8, _1>>{});
  auto const C = make_tensor(&c[0], Layout<Shape<_4, _8>>{});
  for (int t = 0; t < 32; ++t) {
    auto const mine = mma.get_slice(t);
    auto rA = mine.partition_fragment_A(A);
    auto rB = mine.partition_fragment_B(B);
    auto part_c = mine.partition_C(C);
    copy(mine.partition_A(A), rA);
    copy(mine.partition_B(B), rB);
    gemm(mma, rA, rB, part_c);
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) {
      int sum = i + 4 * j;
      for (int k = 0; k < 8; ++k) sum += a[8 * i + k] * b[8 * j + k];
      ASSERT_EQ(c[i + 4 * j], sum) << Op::name << " " << i << " " << j;
    }
  }
}
TEST(ComposedProducts, DotsOfBytesAndHalfwords) {
  dots<SM61_DP4A, signed char>();
  dots<SM61_DP2A, short>();
}

}  // namespace
}  // namespace zellige
