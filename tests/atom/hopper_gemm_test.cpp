// The SM90 GEMM on the emulator: without a fault there is no finding; each injected fault is named
// by its message.
#include "hopper_gemm.hpp"

#include "launch.hpp"

namespace zellige {
namespace {

struct Gemm {
  int m, n, k;
  Buffer a, b, c;
  EmulationReport report;

  Gemm(int rows, int columns, int depth, Bug bug, unsigned blocks = 2, int workers = 1)
      : m(rows),
        n(columns),
        k(depth),
        a(filled<half_t>("a", std::size_t(m * k), draw)),
        b(filled<half_t>("b", std::size_t(n * k), draw)),
        c("c", std::size_t(m * n * 2)) {
    const TmaTensor ta{
        .name = "a", .extent = {k, m}, .stride = {0, 2 * k}, .box = {64, 128}, .swizzle = SwizzleMode::b128};
    const TmaTensor tb{
        .name = "b", .extent = {k, n}, .stride = {0, 2 * k}, .box = {64, 64}, .swizzle = SwizzleMode::b128};
    const TmaTensor tc{
        .name = "c", .extent = {n, m}, .stride = {0, 2 * n}, .box = {64, 64}, .swizzle = SwizzleMode::b128};
    LaunchConfig config{
        .grid = {blocks}, .block = {GemmShape::threads}, .shared_bytes = GemmShape::shared_bytes, .workers = workers};
    config.parameters.emplace_back(make_tma_descriptor_emulated(ta, a.bytes()), a, false);
    config.parameters.emplace_back(make_tma_descriptor_emulated(tb, b.bytes()), b, false);
    config.parameters.emplace_back(make_tma_descriptor_emulated(tc, c.bytes()), c, true);
    config.parameters.emplace_back(unsigned(m + 127) / 128);
    config.parameters.emplace_back(unsigned(n + 63) / 64);
    config.parameters.emplace_back(unsigned(k + 63) / 64 * 64);
    config.parameters.emplace_back(bug);
    report = emulate::run(entry<hopper_gemm>, config);
  }
  static half_t draw(std::size_t) {
    static std::mt19937 random(3);
    return half_t(static_cast<float>(static_cast<int>(random() % 9) - 4));
  }
  int wrong() const {
    int count = 0;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int x = 0; x < k; ++x) sum += elements<half_t>(a)[i * k + x] * elements<half_t>(b)[j * k + x];
        count += !(elements<half_t>(c)[i * n + j] == half_t(sum));
      }
    }
    return count;
  }
};

TEST(HopperGemm, WholeTiles) {
  Gemm g(256, 128, 256, Bug::none);
  EXPECT_EQ(text(g.report), "");
  EXPECT_TRUE(g.report.complete);
  EXPECT_EQ(g.wrong(), 0);
  EXPECT_EQ(g.report.counters[Counter::wgmma], 4u * 2 * 4 * 4);  // tiles, warpgroups, steps, k16
  EXPECT_EQ(g.report.counters[Counter::tma_load], 4u * 4 * 2);
  EXPECT_EQ(g.report.counters[Counter::tma_load_bytes], 4u * 4 * (128 + 64) * 64 * 2);
  EXPECT_EQ(g.report.counters[Counter::tma_store_bytes], 256u * 128 * 2);
  EXPECT_EQ(g.report.counters[Counter::stmatrix], 4u * 8 * 4);
  EXPECT_EQ(g.report.counters[Counter::stmatrix_wavefronts], g.report.counters[Counter::stmatrix_wavefronts_ideal]);
}
TEST(HopperGemm, EdgesThatNoTileDivides) {
  for (int workers : {1, 2}) {
    Gemm g(200, 120, 200, Bug::none, 3, workers);
    EXPECT_EQ(text(g.report), "");
    EXPECT_EQ(g.wrong(), 0);
  }
}

std::string at(const char* tag) { return line_of("hopper_gemm.hpp", tag); }

// The two parties of an injected fault; one message of the report, whole.
std::string expected(Bug bug) {
  const std::string t0 = "thread 0 (warp 0)", t128 = "thread 128 (warp 4)", t256 = "thread 256 (warp 8)",
                    b = " of block (0,0,0) ";
  const std::string init = "; " + t0 + " initialised it at " + at("init") + " and no ";
  const std::string flying = " is still in flight";
  const auto load = [&](const char* tag) { return "; the tma_load that " + t256 + " issued at " + at(tag); };
  const auto wgmma = [&](const std::string& who) {
    return "; the wgmma that " + who + " issued at " + at("wgmma") +
           " may still read them, no wgmma_wait and barrier lie between";
  };
  const std::string multiplies = " multiplies by wgmma bytes 0..16 at " + at("wgmma");
  const std::string returned = ", each of threads 257..383 has returned";
  const auto waits = [&](const std::string& barrier, int parity, int phase, const std::string& lacks, const char* tag) {
    return "waits at mbarrier " + barrier + " for parity " + std::to_string(parity) + " (it is in phase " +
           std::to_string(phase) + ": " + lacks + ") at " + at(tag);
  };
  switch (bug) {
    case Bug::no_barrier_after_init:
      return "race on mbarrier full[0]: thread 1 (warp 0)" + b + "waits at it at " + at("consumer waits") + init +
             "barrier lies between";
    case Bug::no_fence_after_init:
      return "missing fence on mbarrier full[0]: " + t256 + b + "lets a tma_load complete on it at " + at("load a") +
             init + "fence_mbarrier_init followed";
    case Bug::expects_too_little:
      return "race on shared tensor B: " + t0 + " of block (0,0,0)" + multiplies + load("load b") + flying;
    case Bug::expects_too_much:
      return "deadlock of block (0,0,0): each of threads 0..255 " +
             waits("full[0]", 0, 0, "16 announced bytes have not come", "consumer waits") + ", thread 256 " +
             waits("empty[0]", 0, 0, "2 of 2 arrivals are missing", "producer waits") + returned;
    case Bug::arrivals_counted_too_high:
      return "deadlock of block (0,0,0): each of threads 0..255 " +
             waits("full[0]", 1, 1, "1 of 1 arrivals are missing", "consumer waits") + ", thread 256 " +
             waits("empty[0]", 0, 0, "1 of 3 arrivals are missing", "producer waits") + returned;
    case Bug::arrivals_counted_too_low:
      return "race on shared tensor B: " + t256 + b + "copies by tma_load into bytes 0..16 at " + at("load b") +
             wgmma(t128);
    case Bug::consumer_does_not_wait:
    case Bug::consumer_waits_for_the_other_parity:
    case Bug::a_loaded_to_the_wrong_place:
      return "race on shared tensor A: " + t0 + " of block (0,0,0)" + multiplies + load("load a") + flying;
    case Bug::consumer_waits_at_the_other_stage:
      return "race on shared tensor A: " + t0 + " of block (0,0,0)" + multiplies + load("load a") +
             " wrote them and no wait at mbarrier full[0] lies between";
    case Bug::producer_does_not_wait:
      return "race on shared tensor A: " + t256 + b + "copies by tma_load into bytes 0..16 at " + at("load a") +
             load("load a") + flying;
    case Bug::producer_waits_with_the_wrong_parity:
      return "deadlock of block (0,0,0): each of threads 0..255 " +
             waits("full[0]", 0, 0, "1 of 1 arrivals are missing", "consumer waits") + ", thread 256 " +
             waits("empty[0]", 0, 0, "2 of 2 arrivals are missing", "producer waits") + returned;
    case Bug::released_before_the_wgmma_is_over:
    case Bug::one_group_too_many_left_running:
      return "race on shared tensor A: " + t256 + b + "copies by tma_load into bytes 0..16 at " + at("load a") +
             wgmma(t0);
    case Bug::wrong_swizzle_of_a:
      return "instruction at " + at("wgmma") + ", " + t0 +
             " of block (0,0,0): wgmma's descriptor of operand A says swizzle 64 bytes, the tma_load at " +
             at("load a") + " wrote tensor A with 128 bytes";
    case Bug::wrong_stride_of_b:
      return "out of bounds of wgmma's operand B: " + t0 + b + "reads bytes 114688..114704 of shared memory at " +
             at("wgmma") + ", the launch gives a block 90160";
    case Bug::no_wgmma_fence:
      return "accumulators in flight of " + t0 + " of block (0,0,0): at " + at("wgmma") +
             " a wgmma takes registers that ordinary code has written, and no wgmma_fence lies between";
    case Bug::no_commit:
    case Bug::no_wgmma_wait:
      return "accumulators in flight of thread 127 (warp 3) of block (0,0,0): at " + at("stage") +
             " it stores a value made of registers that the wgmma at " + at("wgmma") +
             " still owned when they were read; wgmma_commit and wgmma_wait come first";
    case Bug::no_fence_before_the_store:
      return "missing fence on shared tensor C staging: " + t0 + b + "stores by tma_store bytes 0..16 at " +
             at("store") + "; " + t0 + " wrote them at " + at("stage") + " and no fence_proxy_async lies between";
    case Bug::no_barrier_before_the_store:
      return "race on shared tensor C staging: " + t0 + b + "stores by tma_store bytes 16..32 at " + at("store") +
             "; thread 16 (warp 0) wrote them at " + at("stage") + " and no __syncwarp or barrier lies between";
    case Bug::staging_reused_too_early:
      return "race on shared tensor C staging: " + t0 + b + "writes bytes 0..16 at " + at("stage") +
             "; the tma_store that " + t0 + " issued at " + at("store") +
             " may still read them, no tma_store_wait_read and barrier lie between";
    case Bug::no_store_wait_at_the_end:
    case Bug::store_not_committed:
      return "too early an end of block (0,0,0): it ends while the tma_store that " + t0 + " issued at " + at("store") +
             " may still read its shared memory; tma_store_wait_read comes first";
    case Bug::registers_asked_for_too_many:
      return "thread 224 waits in register_alloc for 240 registers a thread, 8 are free in the block, at " +
             at("too many registers");
    case Bug::one_warp_misses_the_wgmma:
      return "each of threads 128..159 waits in wgmma (96 of the 128 threads of its warpgroup have come) "
             "at " +
             at("wgmma");
    case Bug::none:
      break;
  }
  return "";
}

class HopperGemmBug : public testing::TestWithParam<int> {};

TEST_P(HopperGemmBug, IsNamed) {
  const Bug bug = static_cast<Bug>(GetParam());
  Gemm g(200, 120, 320, bug);
  const std::string message = expected(bug);
  ASSERT_NE(message, "");
  if (bug == Bug::registers_asked_for_too_many || bug == Bug::one_warp_misses_the_wgmma) {
    EXPECT_NE(text(g.report).find(message), std::string::npos) << text(g.report);
    EXPECT_FALSE(g.report.complete);
  } else {
    EXPECT_TRUE(says(g.report, message));
  }
}
INSTANTIATE_TEST_SUITE_P(All, HopperGemmBug, testing::Range(1, int(Bug::one_warp_misses_the_wgmma) + 1));

}  // namespace
}  // namespace zellige
