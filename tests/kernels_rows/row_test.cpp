// Softmax, the norms and the transpose at sizes that their blockings divide and at sizes that they do not.
#include <zellige/kernels/norm.hpp>
#include <zellige/kernels/softmax.hpp>
#include <zellige/kernels/transpose.hpp>

#include "kernel_trial.hpp"

namespace zellige {
namespace {

using kernels::Norm;

struct Rows {
  int rows, columns, pitch, blocks;
};

template <auto Kernel, class T, int Threads>
void check_softmax(const Rows& s) {
  Device<T> x("x", s.rows * s.pitch), y("y", s.rows * s.pitch);
  x.random(1, 3.0f);
  const auto report = launch<Kernel>({{unsigned(s.blocks)}, {Threads}, 16 * Threads / 32},
                                     {x.in(), y.out(), s.rows, s.columns, int64_t(s.pitch), int64_t(s.pitch)});
  EXPECT_EQ(all_messages(report), "");
  for (int r = 0; r < s.rows; ++r) {
    double largest = -1e30, sum = 0;
    for (int c = 0; c < s.columns; ++c) largest = std::max(largest, x[r * s.pitch + c]);
    for (int c = 0; c < s.columns; ++c) sum += std::exp(x[r * s.pitch + c] - largest);
    for (int c = 0; c < s.columns; ++c)
      ASSERT_TRUE(
          near(y[r * s.pitch + c], std::exp(x[r * s.pitch + c] - largest) / sum, sizeof(T) == 2 ? 5e-4 : 3e-6, 1e-7))
          << r << "," << c;
    for (int c = s.columns; c < s.pitch; ++c)
      ASSERT_FALSE(y.buffer.initialised((r * s.pitch + c) * sizeof(T), sizeof(T)));
  }
}

TEST(Softmax, OneTileOfVectors) {
  check_softmax<kernels::softmax<half_t, 8, 64, 2, false>, half_t, 64>({5, 1024, 1024, 5});
}
TEST(Softmax, PartOfATile) { check_softmax<kernels::softmax<half_t, 8, 64, 2, false>, half_t, 64>({7, 776, 784, 3}); }
TEST(Softmax, OneElementAtATime) {
  check_softmax<kernels::softmax<half_t, 1, 64, 2, false>, half_t, 64>({3, 101, 103, 2});
}
TEST(Softmax, LongRows) { check_softmax<kernels::softmax<half_t, 8, 32, 1, true>, half_t, 32>({3, 1000, 1000, 1}); }
TEST(Softmax, LongRowsOfElements) {
  check_softmax<kernels::softmax<float, 1, 128, 1, true>, float, 128>({2, 333, 333, 2});
}
TEST(Softmax, OneColumn) { check_softmax<kernels::softmax<half_t, 1, 32, 1, false>, half_t, 32>({4, 1, 1, 4}); }
TEST(Softmax, MinusInfinityIsNoWeight) {
  Device<half_t> x("x", 256), y("y", 256);
  x.fill(half_t(-INFINITY));
  x.data()[7] = half_t(-3.0f);
  const auto report = launch<kernels::softmax<half_t, 8, 32, 1, false>>(
      {{1}, {32}, 16}, {x.in(), y.out(), 1, 256, int64_t(256), int64_t(256)});
  EXPECT_EQ(all_messages(report), "");
  for (int c = 0; c < 256; ++c) ASSERT_EQ(y[c], c == 7 ? 1.0 : 0.0);
}

template <Norm Kind, auto Kernel, int Threads, int Bytes>
void check_norm_of(const Rows& s) {
  Device<half_t> x("x", s.rows * s.pitch), w("w", s.columns), b("b", s.columns), y("y", s.rows * s.pitch);
  x.random(1, 2.0f, 5.0f), w.random(2), b.random(3);
  const auto report =
      launch<Kernel>({{unsigned(s.blocks)}, {Threads}, Bytes},
                     {x.in(), w.in(), b.in(), y.out(), s.rows, s.columns, int64_t(s.pitch), int64_t(s.pitch), 1e-3f});
  EXPECT_EQ(all_messages(report), "");
  const bool layer = Kind == Norm::layer || Kind == Norm::plain_layer,
             weighted = Kind == Norm::rms || Kind == Norm::layer;
  for (int r = 0; r < s.rows; ++r) {
    double mean = 0, square = 0;
    for (int c = 0; c < s.columns && layer; ++c) mean += x[r * s.pitch + c] / s.columns;
    for (int c = 0; c < s.columns; ++c) square += std::pow(x[r * s.pitch + c] - mean, 2) / s.columns;
    for (int c = 0; c < s.columns; ++c) {
      double want = (x[r * s.pitch + c] - mean) / std::sqrt(square + 1e-3f);
      if (weighted) want *= w[c];
      if (Kind == Norm::layer) want += b[c];
      ASSERT_TRUE(near(y[r * s.pitch + c], want, 5e-4, 1e-5)) << r << "," << c;
    }
  }
}

template <Norm Kind, int V, int Threads, int Chunks, bool Long>
void check_norm(const Rows& s) {
  check_norm_of<Kind, kernels::norm<Kind, half_t, V, Threads, Chunks, Long>, Threads, 32 * Threads / 32>(s);
}
TEST(Norm, Rms) { check_norm<Norm::rms, 8, 64, 2, false>({5, 1024, 1024, 2}); }
TEST(Norm, RmsPartOfATile) { check_norm<Norm::rms, 8, 128, 1, false>({9, 776, 776, 2}); }
TEST(Norm, RmsWithoutWeight) { check_norm<Norm::plain_rms, 1, 32, 3, false>({3, 77, 79, 3}); }
TEST(Norm, RmsLong) { check_norm<Norm::rms, 8, 32, 1, true>({2, 1000, 1000, 1}); }
TEST(Norm, Layer) { check_norm<Norm::layer, 8, 64, 2, false>({5, 1024, 1024, 2}); }
TEST(Norm, LayerPartOfATile) { check_norm<Norm::layer, 8, 64, 2, false>({4, 520, 528, 4}); }
TEST(Norm, LayerOneElementAtATime) { check_norm<Norm::layer, 1, 64, 2, false>({3, 101, 103, 1}); }
TEST(Norm, LayerLong) { check_norm<Norm::layer, 1, 32, 2, true>({2, 333, 333, 1}); }
TEST(Norm, LayerWithoutWeight) { check_norm<Norm::plain_layer, 8, 32, 1, true>({2, 520, 520, 2}); }

template <int R, int Slabs, int Threads, bool Aligned>
void check_transpose(int rows, int columns, int pitch_x, int pitch_y) {
  Device<half_t> x("x", rows * pitch_x), y("y", columns * pitch_y);
  x.random(4);
  const auto report = launch<kernels::transpose<half_t, R, Slabs, Threads, Aligned>>(
      {{ceil_div(columns, 64 * Slabs), ceil_div(rows, R)}, {Threads}, R * 128 * Slabs},
      {x.in(), y.out(), rows, columns, int64_t(pitch_x), int64_t(pitch_y)});
  EXPECT_EQ(all_messages(report), "");
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) ASSERT_EQ(y[c * pitch_y + r], x[r * pitch_x + c]) << r << "," << c;
  // Four wavefronts are what 32 times 16 bytes need; four of ldmatrix too.
  EXPECT_EQ(report.counters[emulate::Counter::ldmatrix_wavefronts],
            report.counters[emulate::Counter::ldmatrix_wavefronts_ideal]);
}

TEST(Transpose, WholeTiles) { check_transpose<64, 1, 128, true>(128, 192, 192, 128); }
TEST(Transpose, Edges) { check_transpose<64, 1, 128, true>(72, 136, 144, 80); }
TEST(Transpose, TallTiles) { check_transpose<128, 1, 64, true>(264, 72, 72, 264); }
TEST(Transpose, WideTiles) { check_transpose<64, 2, 256, true>(64, 200, 200, 64); }
TEST(Transpose, OddSizes) { check_transpose<32, 1, 128, false>(37, 71, 73, 39); }
TEST(Transpose, OneRow) { check_transpose<32, 1, 64, false>(1, 70, 70, 1); }

}  // namespace
}  // namespace zellige
