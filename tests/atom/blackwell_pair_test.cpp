// tcgen05.mma of a pair of CTAs, and A in tensor memory: small kernels, right and with each of their faults.
#include <zellige/atom.hpp>
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/tcgen05.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/umma.hpp>

#include "launch.hpp"

namespace zellige {
namespace {

using Kind = emulate::Finding::Kind;
using UMMA::Major;

enum class PairBug {
  none,
  barrier_counted_for_two,
  barrier_counted_for_none_of_the_peer,
  committed_to_the_leader_alone,
  committed_to_the_peer_alone,
  committed_twice,
  committed_by_one_cta,
  no_cluster_barrier,
  no_proxy_fence_in_the_peer,
  issued_by_the_peer,
  allocated_by_one_cta,
  peer_allocates_nothing,
  peer_leaves,
  peer_overwrites_b,
  peer_frees_early,
  count
};

/// A product of a pair: M / 2 rows of A and D, and half of B in each of two blocks.
template <int M>
__global__ void pair(gmem<const half_t> a, gmem<const half_t> b, gmem<float> d, PairBug bug) {
  using Op = SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, M, 64, Major::K, Major::K>;
  constexpr int rows = M / 2, n = 64;
  const unsigned rank = cluster_ctarank(), t = threadIdx.x;
  const auto address = shared<uint32_t>("address", 0, 1);
  const auto done = shared<uint64_t>("done", 8, 1);
  const auto mma = make_tiled_mma(Op{});
  const auto as =
      UMMA::tile_to_mma_shape(UMMA::Layout_K_SW32_Atom<half_t>{}, partition_shape_A(mma, Shape<Int<M>, _16>{}));
  const auto bs =
      UMMA::tile_to_mma_shape(UMMA::Layout_K_SW32_Atom<half_t>{}, partition_shape_B(mma, Shape<_64, _16>{}));
  auto sa = make_tensor(make_smem_ptr(shared<half_t>("A", 1024, 4096)), as);
  auto sb = make_tensor(make_smem_ptr(shared<half_t>("B", 9216, 4096)), bs);
  for (int i = int(t); i < rows * 16; i += 128)
    sa(make_coord(i % rows, i / rows), 0, 0) = a[(int(rank) * rows + i % rows) * 16 + i / rows];
  for (int i = int(t); i < n / 2 * 16; i += 128)
    sb(make_coord(i % (n / 2), i / (n / 2)), 0, 0) = b[(int(rank) * n / 2 + i % (n / 2)) * 16 + i / (n / 2)];
  if (bug != PairBug::no_proxy_fence_in_the_peer || rank == 0) fence_proxy_async_shared();
  if (t == 0 && (bug != PairBug::barrier_counted_for_none_of_the_peer || rank == 0)) {
    mbarrier_init(done, bug == PairBug::barrier_counted_for_two ? 2 : 1);
    fence_mbarrier_init();
  }
  const bool holds = bug != PairBug::peer_allocates_nothing || rank == 0;
  if (t < 32 && holds) {
    if (bug == PairBug::allocated_by_one_cta)
      TMEM::Allocator1Sm().allocate(64, address);
    else
      TMEM::Allocator2Sm().allocate(64, address);
  }
  if (bug == PairBug::no_cluster_barrier)
    __syncthreads();
  else
    cluster_sync();
  const uint32_t columns = holds ? uint32_t(*address) : 0u;
  if (rank == (bug == PairBug::issued_by_the_peer ? 1u : 0u) && t < 32) {
    const auto fa = mma.make_fragment_A(sa);
    const auto fb = mma.make_fragment_B(sb);
    Op::fma(fa(0, 0, 0), fb(0, 0, 0), columns, 0, uint64_t(Op::instruction) << 32);
    if (elect_one()) {
      if (bug == PairBug::committed_to_the_leader_alone)
        tcgen05_commit_pair(done);
      else if (bug == PairBug::committed_by_one_cta)
        tcgen05_commit_multicast(done, 3);
      else
        tcgen05_commit_multicast_pair(done, bug == PairBug::committed_to_the_peer_alone ? 2 : 3);
      if (bug == PairBug::committed_twice) tcgen05_commit_multicast_pair(done, 3);
    }
  }
  if (bug == PairBug::peer_overwrites_b && rank == 1) sb(make_coord(t % 32, 0), 0, 0) = half_t(0.0f);
  if (bug == PairBug::peer_leaves && rank == 1) return;
  if (bug != PairBug::peer_frees_early || rank == 0) {
    mbarrier_wait_cluster(done, 0);
    tcgen05_after_thread_sync();
    for (int c = 0; c < n; c += 8) {
      uint32_t r[8];
      // With 64 rows in a block, the halves of N are in lanes from 0 and from 64 on.
      if (rows == 64 && c >= n / 2) break;
      SM100_TMEM_LOAD_32dp32b8x::call(r, columns + (t / 32 * 32 << 16) + unsigned(c));
      tmem_load_wait();
      const int row = rows == 128 ? int(t) : int(t) % 64, first = rows == 128 || t < 64 ? c : c + n / 2;
      for (int i = 0; i < 8; ++i) d[(int(rank) * rows + row) * n + first + i] = __builtin_bit_cast(float, r[i]);
    }
  }
  __syncthreads();
  if (t < 32 && holds) TMEM::Allocator2Sm().free(columns, 64);
  cluster_sync();
}

template <int M>
EmulationReport run_pair(PairBug bug, unsigned schedule, int* wrong = nullptr) {
  std::mt19937 random(5);
  const auto draw = [&](std::size_t) { return half_t(static_cast<float>(static_cast<int>(random() % 9) - 4)); };
  Buffer a = filled<half_t>("a", M * 16, draw), b = filled<half_t>("b", 64 * 16, draw), d("d", M * 64 * 4);
  LaunchConfig config{.grid = {2}, .block = {128}, .shared_bytes = 20480, .workers = 1, .cluster = {2}};
  config.schedule = schedule;
  config.seconds = 20;
  config.parameters.emplace_back(a, false);
  config.parameters.emplace_back(b, false);
  config.parameters.emplace_back(d, true);
  config.parameters.emplace_back(bug);
  const EmulationReport report = emulate::run(entry<pair<M>>, config);
  for (int i = 0; wrong && i < M; ++i)
    for (int j = 0; j < 64; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += elements<half_t>(a)[i * 16 + k] * elements<half_t>(b)[j * 16 + k];
      *wrong += elements<float>(d)[i * 64 + j] != sum;
    }
  return report;
}

TEST(BlackwellPair, MultipliesWithoutAFinding) {
  for (const unsigned schedule : {0u, 5u, 9u}) {
    int wrong = 0;
    EXPECT_EQ(text(run_pair<256>(PairBug::none, schedule, &wrong)), "");
    EXPECT_EQ(text(run_pair<128>(PairBug::none, schedule, &wrong)), "");
    EXPECT_EQ(wrong, 0);
  }
}

/// Whether the findings have one of this kind with these words; without words, any finding does.
bool names(const EmulationReport& report, Kind kind, const char* words) {
  for (const auto& f : report.findings)
    if (!words || (f.kind == kind && f.message.find(words) != f.message.npos)) return true;
  return false;
}

TEST(BlackwellPair, EachFaultIsNamed) {
  const struct {
    PairBug bug;
    Kind kind;
    const char* words;
  } expected[] = {
      {PairBug::barrier_counted_for_two, Kind::deadlock, "it is in phase 0: 1 of 2 arrivals are missing"},
      {PairBug::barrier_counted_for_none_of_the_peer, Kind::uninitialised_read, "nobody has initialised it"},
      {PairBug::committed_to_the_leader_alone, Kind::deadlock, "1 of 1 arrivals are missing"},
      {PairBug::committed_to_the_peer_alone, Kind::deadlock, "1 of 1 arrivals are missing"},
      {PairBug::committed_twice, Kind::instruction, "gets more arrivals than the 1"},
      {PairBug::committed_by_one_cta, Kind::instruction, "tcgen05.commit of cta_group::1"},
      {PairBug::no_cluster_barrier, Kind::race, "nothing makes sure that the block has started"},
      {PairBug::no_proxy_fence_in_the_peer, Kind::fence, "no fence_proxy_async lies between"},
      {PairBug::issued_by_the_peer, Kind::instruction, "the block of even rank of a pair issues it"},
      {PairBug::allocated_by_one_cta, Kind::instruction, "tcgen05.mma of cta_group::2"},
      {PairBug::peer_allocates_nothing, Kind::out_of_bounds, "column 0 is not allocated"},
      {PairBug::peer_leaves, Kind::departed, "all its threads have returned"},
      {PairBug::peer_overwrites_b, Kind::race, "on shared tensor B"},
      {PairBug::peer_frees_early, Kind::race, nullptr},
  };
  ASSERT_EQ(std::size(expected) + 1, std::size_t(PairBug::count));
  for (const auto& e : expected)
    for (const unsigned schedule : {0u, 5u}) {
      const EmulationReport report = run_pair<256>(e.bug, schedule);
      EXPECT_TRUE(names(report, e.kind, e.words))
          << "fault " << int(e.bug) << ", schedule " << schedule << ": " << e.words << "\nfound:\n"
          << text(report);
    }
}

enum class OperandBug {
  none,
  no_store_wait,
  load_wait_in_its_place,
  store_wait_after_the_barrier,
  no_fence_before,
  no_fence_after,
  no_barrier,
  fence_before_the_store_wait,
  stored_to_lanes_of_another_warp,
  stored_beyond_the_columns,
  one_warp_stores_nothing,
  overwritten_before_the_commit,
  read_back_without_a_wait,
  no_proxy_fence,
  b_overwritten_before_the_wait,
  read_before_the_wait,
  not_committed,
  d_over_a,
  count
};

/// A product whose A all warps store in tensor memory.
__global__ void of_tensor(gmem<const half_t> b, gmem<float> d, OperandBug bug) {
  using Op = SM100_MMA_F16BF16_TS<half_t, half_t, float, 128, 16, Major::K, Major::K>;
  using Store = SM100_TMEM_STORE_32dp32b8x;
  const unsigned t = threadIdx.x, warp = t / 32;
  const auto address = shared<uint32_t>("address", 0, 1);
  const auto done = shared<uint64_t>("done", 8, 1);
  const auto mma = make_tiled_mma(Op{});
  const auto bs =
      UMMA::tile_to_mma_shape(UMMA::Layout_K_SW32_Atom<half_t>{}, partition_shape_B(mma, Shape<_16, _16>{}));
  auto sb = make_tensor(make_smem_ptr(shared<half_t>("B", 1024, 256)), bs);
  for (int i = int(t); i < 256; i += 128) sb(make_coord(i % 16, i / 16), 0, 0) = b[i % 16 * 16 + i / 16];
  if (bug != OperandBug::no_proxy_fence) fence_proxy_async_shared();
  if (t == 0) mbarrier_init(done, 1);
  if (t < 32) TMEM::Allocator1Sm().allocate(32, address);
  __syncthreads();
  const uint32_t columns = *address, at_a = columns + 16, lane = warp * 32 << 16;
  uint32_t r[8];
  for (unsigned i = 0; i < 8; ++i) {
    const Vec<half_t, 2> pair{half_t(float((t + 2 * i) % 5)), half_t(float((t + 2 * i + 1) % 5))};
    r[i] = bit_cast<uint32_t>(pair);
  }
  const uint32_t mine = bug == OperandBug::stored_to_lanes_of_another_warp ? (warp ^ 1) * 32 << 16 : lane;
  if (bug != OperandBug::one_warp_stores_nothing || warp != 2)
    Store::call(r, at_a + mine + (bug == OperandBug::stored_beyond_the_columns ? 12 : 0));
  if (bug == OperandBug::fence_before_the_store_wait) tcgen05_before_thread_sync();
  if (bug == OperandBug::read_back_without_a_wait) SM100_TMEM_LOAD_32dp32b8x::call(r, at_a + lane);
  if (bug == OperandBug::load_wait_in_its_place)
    tmem_load_wait();
  else if (bug != OperandBug::no_store_wait && bug != OperandBug::store_wait_after_the_barrier)
    tmem_store_wait();
  if (bug != OperandBug::no_fence_before && bug != OperandBug::fence_before_the_store_wait)
    tcgen05_before_thread_sync();
  if (bug != OperandBug::no_barrier) __syncthreads();
  if (bug == OperandBug::store_wait_after_the_barrier) tmem_store_wait();
  if (warp == 1) {
    if (bug != OperandBug::no_fence_after) tcgen05_after_thread_sync();
    const auto fb = mma.make_fragment_B(sb);
    Op::fma(at_a, fb(0, 0, 0), bug == OperandBug::d_over_a ? at_a + 8 : columns, 0, uint64_t(Op::instruction) << 32);
    if (elect_one() && bug != OperandBug::not_committed) tcgen05_commit(done);
  }
  if (bug == OperandBug::overwritten_before_the_commit && warp == 3) Store::call(r, at_a + lane);
  if (bug == OperandBug::b_overwritten_before_the_wait && t == 40) sb(make_coord(0, 0), 0, 0) = half_t(0.0f);
  if (bug != OperandBug::read_before_the_wait) mbarrier_wait(done, 0);
  tcgen05_after_thread_sync();
  uint32_t sums[8];
  SM100_TMEM_LOAD_32dp32b8x::call(sums, columns + lane);
  tmem_load_wait();
  for (int i = 0; i < 8; ++i) d[int(t) * 8 + i] = __builtin_bit_cast(float, sums[i]);
  mbarrier_wait(done, 0);
  __syncthreads();
  if (t < 32) TMEM::Allocator1Sm().free(columns, 32);
}

EmulationReport run_operand(OperandBug bug, unsigned schedule, int* wrong = nullptr) {
  Buffer b = filled<half_t>("b", 256, [](std::size_t i) { return half_t(float(i % 7)); }), d("d", 128 * 8 * 4);
  LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 2048, .workers = 1};
  config.schedule = schedule;
  config.seconds = 20;
  config.parameters.emplace_back(b, false);
  config.parameters.emplace_back(d, true);
  config.parameters.emplace_back(bug);
  const EmulationReport report = emulate::run(entry<of_tensor>, config);
  for (int i = 0; wrong && i < 128; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += float((i + k) % 5) * elements<half_t>(b)[j * 16 + k];
      *wrong += elements<float>(d)[i * 8 + j] != sum;
    }
  return report;
}

TEST(BlackwellOperand, MultipliesWithoutAFinding) {
  for (const unsigned schedule : {0u, 5u, 9u}) {
    int wrong = 0;
    EXPECT_EQ(text(run_operand(OperandBug::none, schedule, &wrong)), "");
    EXPECT_EQ(wrong, 0);
  }
}
TEST(BlackwellOperand, EachFaultIsNamed) {
  const struct {
    OperandBug bug;
    Kind kind;
    const char* words;
  } expected[] = {
      {OperandBug::no_store_wait, Kind::race, "no tmem_store_wait follows it"},
      {OperandBug::load_wait_in_its_place, Kind::race, "no tmem_store_wait follows it"},
      {OperandBug::store_wait_after_the_barrier, Kind::race, "no barrier lies between its tmem_store_wait"},
      {OperandBug::no_fence_before, Kind::fence, "is followed by no tcgen05_before_thread_sync"},
      {OperandBug::no_fence_after, Kind::fence, "no tcgen05_after_thread_sync follows what says so"},
      {OperandBug::no_barrier, Kind::race, "tcgen05.st that"},
      {OperandBug::fence_before_the_store_wait, Kind::fence, "is followed by no tcgen05_before_thread_sync"},
      {OperandBug::stored_to_lanes_of_another_warp, Kind::out_of_bounds, "of the block may access lanes"},
      {OperandBug::stored_beyond_the_columns, Kind::out_of_bounds, "of columns 28..36"},
      {OperandBug::one_warp_stores_nothing, Kind::uninitialised_read, "of which some have not been written"},
      {OperandBug::overwritten_before_the_commit, Kind::race, "tcgen05.st"},
      {OperandBug::read_back_without_a_wait, Kind::race, "reads by tcgen05.ld"},
      {OperandBug::no_proxy_fence, Kind::fence, "no fence_proxy_async lies between"},
      {OperandBug::b_overwritten_before_the_wait, Kind::race, "on shared tensor B"},
      {OperandBug::read_before_the_wait, Kind::race, "tcgen05.mma"},
      {OperandBug::not_committed, Kind::deadlock, "mbarrier done"},
      {OperandBug::d_over_a, Kind::out_of_bounds, "of columns 24..40"},
  };
  ASSERT_EQ(std::size(expected) + 1, std::size_t(OperandBug::count));
  for (const auto& e : expected)
    for (const unsigned schedule : {0u, 5u, 9u}) {
      const EmulationReport report = run_operand(e.bug, schedule);
      EXPECT_TRUE(names(report, e.kind, e.words))
          << "fault " << int(e.bug) << ", schedule " << schedule << ": " << e.words << "\nfound:\n"
          << text(report);
    }
}

}  // namespace
}  // namespace zellige
