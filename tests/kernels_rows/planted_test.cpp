// Faults injected into copies of the kernels (planted.cmake): each must be found, and named. The unmodified
// kernels have no finding in the other tests of this folder.
#include "injected/decode_counts_wrong.hpp"
#include "injected/decode_key_too_many.hpp"
#include "injected/decode_last_counts_early.hpp"
#include "injected/decode_leaves_early.hpp"
#include "injected/decode_no_barrier_before_count.hpp"
#include "injected/decode_no_cluster_sync.hpp"
#include "injected/decode_no_syncwarp.hpp"
#include "injected/decode_stage_too_early.hpp"
#include "injected/norm_one_slot.hpp"
#include "injected/ragged_pitch.hpp"
#include "injected/ragged_row_too_many.hpp"
#include "injected/ragged_stage_reused.hpp"
#include "injected/ragged_sums_too_early.hpp"
#include "injected/sm80_k_too_far.hpp"
#include "injected/sm80_no_barrier.hpp"
#include "injected/sm80_wait_too_few.hpp"
#include "injected/softmax_one_slot.hpp"
#include "injected/softmax_row_too_far.hpp"
#include "injected/transpose_column_too_many.hpp"
#include "injected/transpose_no_barrier.hpp"
#include "injected/transpose_no_wait.hpp"
#include "injected/transpose_row_too_many.hpp"
#include "kernel_trial.hpp"

namespace zellige {
namespace {

/// The first finding, its lines replaced by LINE.
std::string first(const emulate::EmulationReport& report) {
  if (report.findings.empty()) return "nothing found";
  std::string text = report.findings[0].message, result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text.find(".hpp:", i);
    const std::size_t start = end == std::string::npos ? end : text.rfind(' ', end) + 1;
    if (i != start) {
      result += text[i];
      continue;
    }
    result += "LINE";
    i = end + 4;
    while (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]))) ++i;
  }
  return result;
}

template <auto Kernel>
std::string transpose(int rows, int columns) {
  Device<half_t> x("x", rows * columns), y("y", rows * columns);
  x.random(1);
  return first(launch<Kernel>({{ceil_div(columns, 64), ceil_div(rows, 64)}, {128}, 8192},
                              {x.in(), y.out(), rows, columns, int64_t(columns), int64_t(rows)}));
}
TEST(InjectedFaults, Transpose) {
  EXPECT_EQ((transpose<injected::transpose_no_barrier::transpose<half_t, 64, 1, 128, true>>(64, 64)),
            "race on shared tensor tile: thread 1 (warp 0) of block (0,0,0) reads bytes 144..160 at LINE; "
            "thread 8 (warp 0) wrote them at LINE and no __syncwarp or barrier lies between");
  EXPECT_EQ((transpose<injected::transpose_no_wait::transpose<half_t, 64, 1, 128, true>>(64, 64)),
            "race on shared tensor tile: thread 96 (warp 3) of block (0,0,0) reads bytes 48..64 at LINE; the "
            "cp.async that thread 3 (warp 0) issued at LINE is still in flight");
  EXPECT_EQ((transpose<injected::transpose_row_too_many::transpose<half_t, 64, 1, 128, true>>(40, 64)),
            "out of bounds on global tensor x: thread 64 (warp 2) of block (0,0,0) reads bytes 5120..5136 at "
            "LINE; the tensor has 5120");
  EXPECT_EQ((transpose<injected::transpose_column_too_many::transpose<half_t, 64, 1, 128, true>>(40, 64)),
            "race on global tensor y: thread 97 (warp 3) of block (0,0,0) writes bytes 2000..2016 at LINE; "
            "thread 100 (warp 3) wrote them at LINE and no __syncwarp or barrier lies between");
}

template <auto Kernel>
std::string softmax(int rows, int columns, unsigned blocks) {
  Device<half_t> x("x", rows * columns), y("y", rows * columns);
  x.random(1);
  return first(
      launch<Kernel>({{blocks}, {64}, 32}, {x.in(), y.out(), rows, columns, int64_t(columns), int64_t(columns)}));
}
template <auto Kernel>
std::string norm(int rows, int columns, unsigned blocks) {
  Device<half_t> x("x", rows * columns), w("w", columns), y("y", rows * columns);
  x.random(1), w.random(2);
  return first(launch<Kernel>({{blocks}, {64}, 64}, {x.in(), w.in(), w.in(), y.out(), rows, columns, int64_t(columns),
                                                     int64_t(columns), 1e-5f}));
}
TEST(InjectedFaults, Rows) {
  EXPECT_EQ((softmax<injected::softmax_one_slot::softmax<half_t, 8, 64, 1, false>>(4, 512, 1)),
            "race on shared tensor slots: thread 32 (warp 1) of block (0,0,0) writes bytes 8..16 at LINE; "
            "thread 63 (warp 1) read them at LINE and no __syncwarp or barrier lies between");
  EXPECT_EQ((softmax<injected::softmax_row_too_far::softmax<half_t, 8, 64, 1, false>>(2, 64, 1)),
            "out of bounds on global tensor x: thread 0 (warp 0) of block (0,0,0) reads bytes 256..272 at "
            "LINE; the tensor has 256");
  EXPECT_EQ(
      (norm<injected::norm_one_slot::norm<injected::norm_one_slot::Norm::layer, half_t, 8, 64, 1, false>>(4, 512, 1)),
      "race on shared tensor slots: thread 32 (warp 1) of block (0,0,0) writes bytes 16..32 at LINE; "
      "thread 63 (warp 1) read them at LINE and no __syncwarp or barrier lies between");
}

template <auto Kernel>
std::string gemm(int m, int n, int k, int lda, unsigned tile, unsigned threads, unsigned bytes) {
  Device<half_t> a("A", (m - 1) * lda + k), b("B", k * n), c("C", m * n);
  a.random(1), b.random(2);
  return first(launch<Kernel>({{ceil_div(n, tile), ceil_div(m, tile)}, {threads}, bytes},
                              {a.in(), int64_t(lda), b.in(), int64_t(n), c.out(), int64_t(n), m, n, k, Identity{}}));
}
template <class Tile, auto Kernel>
std::string sm80(int m, int n, int k, int lda) {
  return gemm<Kernel>(m, n, k, lda, 64, Tile::threads, Tile::bytes);
}
TEST(InjectedFaults, GemmSm80) {
  using Few = injected::sm80_wait_too_few::GemmSm80<half_t, 64, 64, 64, 3, 2, 2, false>;
  EXPECT_EQ((sm80<Few, injected::sm80_wait_too_few::gemm_sm80<Few, Identity>>(64, 64, 256, 256)),
            "race on shared tensor B: thread 96 (warp 3) of block (0,0,0) reads bytes 32..48 at LINE; the "
            "cp.async that thread 2 (warp 0) issued at LINE is still in flight");
  using None = injected::sm80_no_barrier::GemmSm80<half_t, 64, 64, 64, 3, 2, 2, false>;
  EXPECT_EQ((sm80<None, injected::sm80_no_barrier::gemm_sm80<None, Identity>>(64, 64, 256, 256)),
            "race on shared tensor B: thread 1 (warp 0) of block (0,0,0) reads bytes 144..160 at LINE; "
            "thread 8 (warp 0) wrote them at LINE and no __syncwarp or barrier lies between");
  using Far = injected::sm80_k_too_far::GemmSm80<half_t, 64, 64, 64, 3, 2, 2, false>;
  EXPECT_EQ((sm80<Far, injected::sm80_k_too_far::gemm_sm80<Far, Identity>>(64, 64, 100, 104)),
            "out of bounds on global tensor A: thread 124 (warp 3) of block (0,0,0) reads bytes 13296..13312 "
            "at LINE; the tensor has 13304");
}
template <class Plan, auto Kernel>
std::string ragged(int m, int n, int k) {
  return gemm<Kernel>(m, n, k, k, 32, 256, Plan::bytes);
}
TEST(InjectedFaults, GemmRagged) {
  using Reused = injected::ragged_stage_reused::GemmRagged<32, 32, 2, false>;
  EXPECT_EQ(
      (ragged<Reused, injected::ragged_stage_reused::gemm_ragged<half_t, 32, 32, 2, false, Identity>>(32, 32, 800)),
      "race on shared tensor A: thread 224 (warp 7) of block (0,0,0) copies by cp.async into bytes "
      "3696..3712 at LINE; thread 252 (warp 7) read them at LINE and no __syncwarp or barrier lies between");
  using Early = injected::ragged_sums_too_early::GemmRagged<32, 32, 2, false>;
  EXPECT_EQ(
      (ragged<Early, injected::ragged_sums_too_early::gemm_ragged<half_t, 32, 32, 2, false, Identity>>(32, 32, 257)),
      "race on shared tensor sums: thread 223 (warp 6) of block (0,0,0) writes bytes 33144..33152 at "
      "LINE; thread 216 (warp 6) read them at LINE and no __syncwarp or barrier lies between");
  using Row = injected::ragged_row_too_many::GemmRagged<32, 32, 2, false>;
  EXPECT_EQ((ragged<Row, injected::ragged_row_too_many::gemm_ragged<half_t, 32, 32, 2, false, Identity>>(31, 31, 31)),
            "out of bounds on global tensor B: thread 5 (warp 0) of block (0,0,0) reads bytes 1920..1936 at "
            "LINE; the tensor has 1922");
  using Pitch = injected::ragged_pitch::GemmRagged<32, 32, 2, false>;
  EXPECT_EQ((ragged<Pitch, injected::ragged_pitch::gemm_ragged<half_t, 32, 32, 2, false, Identity>>(32, 32, 300)),
            "misaligned address in shared tensor A: thread 32 (warp 1) of block (0,0,0) writes bytes 520..536 at "
            "LINE; an access of 16 bytes needs an address that is a multiple of it");
}

template <class Plan, class Shape, auto Kernel>
std::string decode(int keys, unsigned splits) {
  Device<half_t> q("q", 4 * 64), k("k", keys * 64), v("v", keys * 64), o("o", 4 * 64);
  Device<float> partial("partial", splits * Plan::partial);
  Device<unsigned> counter("counter", 1);
  q.random(1), k.random(2), v.random(3), counter.fill(0);
  emulate::LaunchConfig config;
  config.grid = {splits}, config.block = {Plan::threads}, config.cluster = {Plan::cluster},
  config.shared_bytes = Plan::bytes;
  config.workers = 1;
  config.parameters = {q.in(),
                       k.in(),
                       v.in(),
                       o.out(),
                       partial.out(),
                       counter.out(),
                       Shape{4, 1, keys, 64, keys * 64, keys * 64, 0.125f}};
  const emulate::EmulationReport report = trial(kernel_entry<Kernel>, config);
  if (report.findings.empty() && counter.data()[0] != 0)
    return "the counter is left at " + std::to_string(counter.data()[0]);
  return first(report);
}
#define DECODE(name, cluster)                                                                   \
  decode<injected::name::DecodePlan<half_t, 64, 8, 2, 3, cluster>, injected::name::DecodeShape, \
         injected::name::decode_attention<injected::name::DecodePlan<half_t, 64, 8, 2, 3, cluster>>>
TEST(InjectedFaults, Decode) {
  EXPECT_EQ((DECODE(decode_no_syncwarp, 1)(300, 2)),
            "race on shared tensor ring: thread 1 (warp 0) of block (0,0,0) reads bytes 144..160 at LINE; "
            "thread 8 (warp 0) wrote them at LINE and no __syncwarp or barrier lies between");
  EXPECT_EQ((DECODE(decode_stage_too_early, 1)(300, 2)),
            "race on shared tensor ring: thread 0 (warp 0) of block (0,0,0) reads bytes 0..16 at LINE; the "
            "cp.async that thread 0 (warp 0) issued at LINE is still in flight");
  EXPECT_EQ((DECODE(decode_key_too_many, 1)(61, 2)),
            "out of bounds on global tensor k: thread 40 (warp 1) of block (1,0,0) reads bytes 7808..7824 at "
            "LINE; the tensor has 7808");
  EXPECT_EQ((DECODE(decode_no_barrier_before_count, 1)(128, 2)),
            "race between blocks on global tensor partial: thread 48 (warp 1) of block (0,0,0) writes bytes "
            "2072..2076 at LINE, thread 63 (warp 1) of block (1,0,0) reads them at LINE, and nothing orders "
            "two blocks of a launch");
  EXPECT_EQ((DECODE(decode_counts_wrong, 1)(128, 2)), "the counter is left at 2");
  EXPECT_EQ((DECODE(decode_last_counts_early, 1)(128, 3)),
            "uninitialised read of global tensor partial: thread 31 (warp 0) of block (1,0,0) reads bytes "
            "6280..6284 at LINE, which nothing has written");
  EXPECT_EQ((DECODE(decode_no_cluster_sync, 2)(128, 2)),
            "race on shared tensor results of block (1,0,0): thread 0 (warp 0) of block (0,0,0) reads it at LINE, and "
            "nothing makes sure that the block has started; cluster_sync comes first");
  EXPECT_EQ((DECODE(decode_leaves_early, 2)(128, 2)),
            "too early an end of block (1,0,0): thread 0 (warp 0) of block (0,0,0) reads its shared tensor "
            "results at LINE, and all its threads have returned");
}

}  // namespace
}  // namespace zellige
