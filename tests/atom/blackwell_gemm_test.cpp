// The SM100 GEMM on the emulator: without a fault there is no finding; each injected fault is named by its message, in every
// order of threads.
#include "blackwell_gemm.hpp"

#include "launch.hpp"

namespace zellige {
namespace {

using Bug = BlackwellBug;

struct Product {
  int m, n, k;
  Buffer a, b, c;
  EmulationReport report;

  Product(int rows, int columns, int depth, Bug bug, unsigned schedule = 0)
      : m(rows),
        n(columns),
        k(depth),
        a(filled<half_t>("a", std::size_t(m * k), draw)),
        b(filled<half_t>("b", std::size_t(n * k), draw)),
        c("c", std::size_t(m * n * 4)) {
    const TmaTensor ta{
        .name = "a", .extent = {k, m}, .stride = {0, 2 * k}, .box = {64, 128}, .swizzle = SwizzleMode::b128};
    const TmaTensor tb{
        .name = "b", .extent = {k, n}, .stride = {0, 2 * k}, .box = {64, 64}, .swizzle = SwizzleMode::b128};
    LaunchConfig config{
        .grid = {1}, .block = {BlackwellShape::threads}, .shared_bytes = BlackwellShape::shared_bytes, .workers = 1};
    config.schedule = schedule;
    config.seconds = 20;
    config.parameters.emplace_back(make_tma_descriptor_emulated(ta, a.bytes()), a, false);
    config.parameters.emplace_back(make_tma_descriptor_emulated(tb, b.bytes()), b, false);
    config.parameters.emplace_back(c, true);
    config.parameters.emplace_back(unsigned(m) / 128);
    config.parameters.emplace_back(unsigned(n) / 64);
    config.parameters.emplace_back(unsigned(k));
    config.parameters.emplace_back(bug);
    report = emulate::run(entry<blackwell_gemm>, config);
  }
  static half_t draw(std::size_t) {
    static std::mt19937 random(3);
    return half_t(static_cast<float>(static_cast<int>(random() % 9) - 4));
  }
  int wrong() const {
    int count = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int x = 0; x < k; ++x) sum += elements<half_t>(a)[i * k + x] * elements<half_t>(b)[j * k + x];
        count += elements<float>(c)[i * n + j] != sum;
      }
    return count;
  }
};

TEST(BlackwellGemm, MultipliesWithoutAFinding) {
  for (const unsigned schedule : {0u, 5u, 9u}) {
    Product p(256, 192, 320, Bug::none, schedule);
    EXPECT_EQ(text(p.report), "");
    EXPECT_TRUE(p.report.complete);
    EXPECT_EQ(p.wrong(), 0);
  }
}

using Kind = emulate::Finding::Kind;

/// What is found of an injected fault: a finding of this kind, whose message has these words.
struct Expected {
  Bug bug;
  Kind kind;
  const char* words;
};
const Expected expected[] = {
    {Bug::no_barrier_after_init, Kind::race, "initialised it at"},
    {Bug::no_fence_after_init, Kind::fence, "no fence_mbarrier_init followed"},
    {Bug::full_counted_too_high, Kind::deadlock, "mbarrier full[0] for parity 0 (it is in phase 0: 1 of 2 arrivals"},
    {Bug::empty_counted_too_high, Kind::deadlock, "mbarrier empty[0] for parity 0 (it is in phase 0: 1 of 2 arrivals"},
    {Bug::sums_counted_too_high, Kind::deadlock, "mbarrier sums[0] for parity 0 (it is in phase 0: 1 of 2 arrivals"},
    {Bug::drained_counted_too_high, Kind::deadlock, "mbarrier drained[0] for parity 0 (it is in phase 0: 1 of 5"},
    {Bug::drained_counted_too_low, Kind::instruction, "mbarrier drained[0] gets more arrivals than the 3"},
    {Bug::no_alloc, Kind::out_of_bounds, "of columns 0..64 at blackwell_gemm.hpp:"},
    {Bug::alloc_of_96_columns, Kind::instruction,
     "tcgen05.alloc of 96 columns; a power of two, 32 to 512, is possible"},
    {Bug::alloc_of_16_columns, Kind::instruction,
     "tcgen05.alloc of 16 columns; a power of two, 32 to 512, is possible"},
    {Bug::alloc_of_one_set, Kind::out_of_bounds, "of columns 64..128 at"},
    {Bug::alloc_by_31_lanes, Kind::divergence, "31 of 32 threads, thread 32 first, wait in tcgen05.alloc"},
    {Bug::address_read_without_a_barrier, Kind::race, "on shared tensor address"},
    {Bug::address_guessed_without_a_barrier, Kind::race, "allocates them at"},
    {Bug::alloc_twice, Kind::departed, "columns 0..128 of tensor memory are allocated, by thread 32 (warp 1)"},
    {Bug::alloc_without_the_permit, Kind::instruction, "after the block has given up its permit"},
    {Bug::alloc_without_end, Kind::deadlock,
     "waits in tcgen05.alloc for 128 columns of tensor memory, which are not free"},
    {Bug::no_dealloc, Kind::departed, "columns 0..128 of tensor memory are allocated"},
    {Bug::dealloc_of_half, Kind::instruction, "columns 0..64 of tensor memory are freed, which are no allocation"},
    {Bug::dealloc_twice, Kind::instruction, "columns 0..128 of tensor memory are freed, which have been freed at"},
    {Bug::dealloc_of_other_columns, Kind::instruction, "columns 64..192 of tensor memory are freed"},
    {Bug::dealloc_before_the_epilogue, Kind::race, "no wait at an mbarrier of its tcgen05_commit lies between"},
    {Bug::dealloc_after_the_last_commit, Kind::race, "no wait at an mbarrier of its tcgen05_commit lies between"},
    {Bug::dealloc_of_a_pair, Kind::instruction, "tcgen05.dealloc of cta_group::2"},
    {Bug::producer_does_not_wait, Kind::race, "copies by tma_load into"},
    {Bug::producer_waits_with_the_wrong_parity, Kind::deadlock, "thread 0 waits at mbarrier empty[0] for parity 0"},
    {Bug::expects_too_little, Kind::race, "multiplies by tcgen05.mma bytes"},
    {Bug::expects_too_much, Kind::deadlock, "16 announced bytes have not come"},
    {Bug::a_loaded_to_the_wrong_place, Kind::race, "may still read them, no wait at an mbarrier of its tcgen05_commit"},
    {Bug::mma_does_not_wait, Kind::race, "is still in flight"},
    {Bug::mma_waits_for_the_other_parity, Kind::race, "is still in flight"},
    {Bug::mma_waits_at_the_other_stage, Kind::race, "wrote them and no wait at mbarrier full[0] lies between"},
    {Bug::wrong_swizzle_of_a, Kind::instruction, "tcgen05.mma's descriptor of operand A says swizzle 64 bytes"},
    {Bug::wrong_stride_of_b, Kind::out_of_bounds, "of tcgen05.mma's operand B"},
    {Bug::stage_not_committed, Kind::deadlock, "mbarrier empty[0]"},
    {Bug::stage_committed_before_the_mma, Kind::race,
     "may still read them, no wait at an mbarrier of its tcgen05_commit"},
    {Bug::stage_released_by_an_arrival, Kind::race,
     "may still read them, no wait at an mbarrier of its tcgen05_commit"},
    {Bug::stage_committed_twice, Kind::instruction, "gets more arrivals than the 1"},
    {Bug::sums_not_committed, Kind::deadlock, "mbarrier sums[0]"},
    {Bug::sums_committed_to_the_other_set, Kind::deadlock, nullptr},
    {Bug::sums_committed_before_the_mma, Kind::race, "may still write them"},
    {Bug::sums_announced_by_an_arrival, Kind::race, "may still write them"},
    {Bug::committed_to_another_block, Kind::instruction,
     "tcgen05_commit_multicast to the blocks 0x3 of a cluster of 1"},
    {Bug::committed_by_another_thread, Kind::race, "may still read them"},
    {Bug::mma_does_not_wait_for_the_epilogue, Kind::race, "tcgen05.ld that"},
    {Bug::mma_waits_for_the_epilogue_with_the_wrong_parity, Kind::deadlock, "mbarrier drained[0] for parity 0"},
    {Bug::mma_without_the_fence_after, Kind::fence, "no tcgen05_after_thread_sync follows what says so"},
    {Bug::mma_fences_before_its_wait, Kind::fence, "no tcgen05_after_thread_sync follows what says so"},
    {Bug::first_mma_accumulates, Kind::uninitialised_read,
     "accumulates by tcgen05.mma on lanes 0..128 of columns 0..64"},
    {Bug::sums_one_set_too_far, Kind::out_of_bounds, "of columns 128..192"},
    {Bug::sums_at_lane_16, Kind::instruction, "tcgen05.mma of 128 rows has operand D at lane 16; it begins at lane 0"},
    {Bug::descriptor_of_192_rows, Kind::instruction, "says M = 192 and N = 64"},
    {Bug::descriptor_of_integers, Kind::instruction, "names types of operands that its kind does not have"},
    {Bug::swizzle_in_units_of_32, Kind::instruction, "a swizzle of 128 bytes in units of 32"},
    {Bug::epilogue_does_not_wait, Kind::race, "tcgen05.ld that"},
    {Bug::epilogue_waits_at_the_other_set, Kind::deadlock, nullptr},
    {Bug::epilogue_waits_for_the_other_parity, Kind::race, "tcgen05.ld that"},
    {Bug::epilogue_without_the_fence_after, Kind::fence, "no tcgen05_after_thread_sync follows what says so"},
    {Bug::epilogue_fences_before_its_wait, Kind::fence, "no tcgen05_after_thread_sync follows what says so"},
    {Bug::epilogue_without_the_fence_before, Kind::fence, "is followed by no tcgen05_before_thread_sync"},
    {Bug::epilogue_fences_before_its_load_wait, Kind::fence, "is followed by no tcgen05_before_thread_sync"},
    {Bug::epilogue_fences_after_its_arrival, Kind::fence, "is followed by no tcgen05_before_thread_sync"},
    {Bug::no_fences, Kind::fence, "is followed by no tcgen05_before_thread_sync"},
    {Bug::no_load_wait, Kind::race, "may still read them, no tmem_load_wait follows it"},
    {Bug::load_wait_after_the_arrival, Kind::race, "no barrier lies between its tmem_load_wait and the access"},
    {Bug::store_wait_in_its_place, Kind::race, "may still read them, no tmem_load_wait follows it"},
    {Bug::lanes_of_another_warp, Kind::out_of_bounds, "of the block may access lanes"},
    {Bug::lanes_from_8_on, Kind::out_of_bounds, "of the block may access lanes"},
    {Bug::columns_too_far, Kind::out_of_bounds, "of columns 128..160"},
    {Bug::columns_beyond_the_last, Kind::out_of_bounds, "of columns 480..512"},
    {Bug::other_set_read, Kind::race, "tcgen05.ld"},
    {Bug::one_thread_misses_the_load, Kind::divergence, "tcgen05.ld"},
    {Bug::one_thread_reads_elsewhere, Kind::divergence, "different values of the address"},
    {Bug::one_warp_does_not_arrive, Kind::deadlock, "mbarrier drained[0] for parity 0 (it is in phase 0: 1 of 4"},
    {Bug::arrives_before_it_reads, Kind::race, "tcgen05.ld that"},
    {Bug::arrives_twice, Kind::instruction, "mbarrier drained[0] gets more arrivals than the 4"},
};

/// Whether the findings have one of this kind with these words; without words, any finding does.
bool names(const EmulationReport& report, const Expected& e) {
  for (const auto& f : report.findings)
    if (!e.words || (f.kind == e.kind && f.message.find(e.words) != f.message.npos)) return true;
  return false;
}

TEST(BlackwellGemm, EachFaultIsNamed) {
  ASSERT_EQ(std::size(expected) + 1, std::size_t(Bug::count));
  for (const Expected& e : expected)
    for (const unsigned schedule : {0u, 5u}) {
      const Product p(128, 320, 128, e.bug, schedule);
      EXPECT_TRUE(names(p.report, e)) << "fault " << int(e.bug) << ", schedule " << schedule << ": "
                                      << (e.words ? e.words : "a finding") << "\nfound:\n"
                                      << text(p.report);
    }
}

}  // namespace
}  // namespace zellige
