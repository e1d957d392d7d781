// The multistage and the ragged GEMM against double precision, at sizes and pitches of every kind.
#include <zellige/kernels/gemm_ragged.hpp>
#include <zellige/kernels/gemm_sm80.hpp>

#include "kernel_trial.hpp"

namespace zellige {
namespace {

using kernels::gemm_ragged;
using kernels::gemm_sm80;
using kernels::GemmRagged;
using kernels::GemmSm80;

struct Size {
  int m, n, k, lda, ldb, ldc;
};

template <class T>
struct Operands {
  Size s;
  bool along_k;
  Device<T> a, b, c;

  Operands(const Size& size, bool b_along_k)
      : s(size),
        along_k(b_along_k),
        a("A", (s.m - 1) * s.lda + s.k),
        b("B", b_along_k ? (s.n - 1) * s.ldb + s.k : (s.k - 1) * s.ldb + s.n),
        c("C", (s.m - 1) * s.ldc + s.n) {
    a.random(1), b.random(2);
  }
  double product(int m, int n) {
    double sum = 0;
    for (int k = 0; k < s.k; ++k) sum += a[m * s.lda + k] * b[along_k ? n * s.ldb + k : k * s.ldb + n];
    return sum;
  }
  template <class F>
  void check(const emulate::EmulationReport& report, F f) {
    EXPECT_EQ(all_messages(report), "");
    const double unit = sizeof(T) == 2 && T(1.00390625f) == T(1.0f) ? 4e-3 : 5e-4;  // half an ulp of bf16, f16
    for (int m = 0; m < s.m; ++m) {
      for (int n = 0; n < s.n; ++n)
        ASSERT_TRUE(near(c[m * s.ldc + n], f(product(m, n), m, n), unit, 2e-5 * s.k)) << m << "," << n;
      for (int n = s.n; n < s.ldc && m + 1 < s.m; ++n) ASSERT_FALSE(c.buffer.initialised(2 * (m * s.ldc + n), 2));
    }
  }
  std::vector<emulate::LaunchParameter> parameters() {
    return {a.in(), int64_t(s.lda), b.in(), int64_t(s.ldb), c.out(), int64_t(s.ldc), s.m, s.n, s.k, Identity{}};
  }
};
constexpr auto as_is = [](double x, int, int) { return x; };

template <class T, int BM, int BN, int Stages, bool AlongK>
void check_ragged(const Size& s) {
  Operands<T> o(s, AlongK);
  o.check(
      launch<gemm_ragged<T, BM, BN, Stages, AlongK, Identity>>(
          {{ceil_div(s.n, BN), ceil_div(s.m, BM)}, {256}, GemmRagged<BM, BN, Stages, AlongK>::bytes}, o.parameters()),
      as_is);
}

TEST(GemmRagged, Tiny) { check_ragged<half_t, 32, 32, 4, false>({6, 4, 9, 9, 4, 4}); }
TEST(GemmRagged, OneByOne) { check_ragged<half_t, 32, 32, 4, false>({1, 1, 1, 1, 1, 1}); }
TEST(GemmRagged, OddPitches) { check_ragged<half_t, 32, 32, 4, false>({33, 47, 301, 303, 49, 51}); }
TEST(GemmRagged, StagesAreReused) { check_ragged<half_t, 32, 32, 2, false>({32, 31, 1023, 1023, 31, 31}); }
TEST(GemmRagged, AlignedPitches) { check_ragged<bfloat16_t, 32, 32, 4, false>({40, 64, 264, 264, 64, 64}); }
TEST(GemmRagged, ColumnMajorB) { check_ragged<half_t, 32, 32, 4, true>({35, 33, 301, 303, 305, 33}); }
TEST(GemmRagged, ColumnMajorTiny) { check_ragged<bfloat16_t, 32, 32, 4, true>({6, 4, 9, 9, 9, 4}); }
TEST(GemmRagged, LargeTiles) { check_ragged<half_t, 64, 64, 2, false>({65, 71, 270, 271, 73, 75}); }

// Operands that start between two multiples of 16 bytes: the first chunk reaches back before the tensor.
void ragged_from(gmem<const half_t> a, gmem<const half_t> b, gmem<half_t> c, int lead_a, int lead_b, int m, int n,
                 int k) {
  gemm_ragged<half_t, 32, 32, 4, false, Identity>(a + lead_a, k, b + lead_b, n, c, n, m, n, k, Identity{});
}
void check_alignments(int m, int n, int k) {
  for (int lead = 0; lead < 8; ++lead) {
    const int lead_b = (3 * lead + 1) % 8;
    Device<half_t> a("A", lead + m * k), b("B", lead_b + k * n), c("C", m * n);
    a.random(3), b.random(4);
    for (int i = 0; i < lead; ++i) a.data()[i] = half_t(NAN);
    for (int i = 0; i < lead_b; ++i) b.data()[i] = half_t(NAN);
    EXPECT_EQ(all_messages(launch<ragged_from>({{1, ceil_div(m, 32)}, {256}, GemmRagged<32, 32, 4, false>::bytes},
                                               {a.in(), b.in(), c.out(), lead, lead_b, m, n, k})),
              "");
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double want = 0;
        for (int l = 0; l < k; ++l) want += a[lead + i * k + l] * b[lead_b + l * n + j];
        ASSERT_TRUE(near(c[i * n + j], want, 5e-4, 1e-3)) << lead << ": " << i << "," << j;
      }
  }
}
TEST(GemmRagged, EveryAlignmentOfTheOperands) { check_alignments(9, 11, 29); }
TEST(GemmRagged, RowsShorterThanAChunk) {
  check_alignments(5, 2, 3), check_alignments(1, 1, 1), check_alignments(40, 1, 1);
}

template <class Tile>
void check_sm80(const Size& s) {
  Operands<typename Tile::Element> o(s, Tile::along_k);
  o.check(launch<gemm_sm80<Tile, Identity>>(
              {{ceil_div(s.n, Tile::n), ceil_div(s.m, Tile::m)}, {Tile::threads}, Tile::bytes}, o.parameters()),
          as_is);
}

TEST(GemmSm80, WholeTiles) { check_sm80<GemmSm80<half_t, 64, 64, 64, 3, 2, 2, false>>({64, 128, 256, 256, 128, 128}); }
TEST(GemmSm80, Edges) { check_sm80<GemmSm80<half_t, 64, 64, 64, 3, 2, 2, false>>({70, 75, 100, 104, 80, 75}); }
TEST(GemmSm80, LessThanAStage) { check_sm80<GemmSm80<half_t, 64, 64, 64, 4, 1, 4, false>>({6, 4, 9, 16, 8, 4}); }
TEST(GemmSm80, ColumnMajorB) { check_sm80<GemmSm80<half_t, 64, 64, 64, 3, 2, 2, true>>({70, 75, 300, 304, 304, 76}); }
TEST(GemmSm80, Bf16) { check_sm80<GemmSm80<bfloat16_t, 32, 64, 64, 2, 1, 2, true>>({33, 65, 129, 136, 136, 66}); }
TEST(GemmSm80, WideTiles) { check_sm80<GemmSm80<half_t, 128, 128, 64, 3, 2, 4, false>>({128, 136, 72, 72, 136, 136}); }

using SmallTile = GemmSm80<half_t, 64, 64, 64, 3, 2, 2, false>;

template <class Activation>
void with_epilogue(gmem<const half_t> a, gmem<const half_t> b, gmem<half_t> c, gmem<const half_t> bias,
                   gmem<const half_t> residual, int m, int n, int k) {
  const BiasActivateAdd<half_t, Activation> epilogue{bias, residual, n};
  gemm_sm80<SmallTile>(a, int64_t(k), b, int64_t(n), c, int64_t(n), m, n, k, epilogue);
}
template <class Activation, class F>
void check_epilogue(F f) {
  Operands<half_t> o({48, 72, 64, 64, 72, 72}, false);
  Device<half_t> bias("bias", 72), residual("residual", 48 * 72);
  bias.random(5), residual.random(6);
  o.check(launch<with_epilogue<Activation>>({{2, 1}, {SmallTile::threads}, SmallTile::bytes},
                                            {o.a.in(), o.b.in(), o.c.out(), bias.in(), residual.in(), 48, 72, 64}),
          [&](double x, int m, int n) { return f(x + bias[n]) + residual[m * 72 + n]; });
}
TEST(Epilogue, Linear) {
  check_epilogue<Linear>([](double x) { return x; });
}
TEST(Epilogue, Relu) {
  check_epilogue<Relu>([](double x) { return x > 0 ? x : 0; });
}
TEST(Epilogue, Silu) {
  check_epilogue<Silu>([](double x) { return x / (1 + std::exp(-x)); });
}
TEST(Epilogue, GeluTanh) {
  check_epilogue<GeluTanh>(
      [](double x) { return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))); });
}

void ragged_with_bias(gmem<const half_t> a, gmem<const half_t> b, gmem<half_t> c, gmem<const half_t> bias, int m, int n,
                      int k) {
  const BiasActivate<half_t, Relu> epilogue{bias};
  gemm_ragged<half_t, 32, 32, 4, false>(a, int64_t(k), b, int64_t(n), c, int64_t(n), m, n, k, epilogue);
}
TEST(Epilogue, OfTheRaggedGemm) {
  Operands<half_t> o({15, 37, 65, 65, 37, 37}, false);
  Device<half_t> bias("bias", 37);
  bias.random(5);
  o.check(launch<ragged_with_bias>({{2, 1}, {256}, GemmRagged<32, 32, 4, false>::bytes},
                                   {o.a.in(), o.b.in(), o.c.out(), bias.in(), 15, 37, 65}),
          [&](double x, int, int n) { return std::max(0.0, x + bias[n]); });
}

}  // namespace
}  // namespace zellige
