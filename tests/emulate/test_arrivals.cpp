// Barriers that expect too many arrivals, or too few: both numbers are reported.
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/named_barrier.hpp>

#include "kernel.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

std::string at(const char* tag) { return line_of(__FILE__, tag); }

/// A ring of one stage: warp 4 waits for it to be empty and fills it, the four before it wait for it to be full and give it back.
template <unsigned Count, int Rounds>
__global__ void ring(In, Out) {
  const auto full = shared<uint64_t>("full", 0, 1), empty = shared<uint64_t>("empty", 8, 1);
  if (threadIdx.x == 0) {
    zellige::mbarrier_init(full, 1);
    zellige::mbarrier_init(empty, Count);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 128) {
    for (int i = 0; i < Rounds; ++i) {
      if (i > 0) zellige::mbarrier_wait(empty, (i - 1) & 1);  // <waits for empty>
      zellige::mbarrier_arrive(full);
    }
  } else if (threadIdx.x < 128) {
    for (int i = 0; i < Rounds; ++i) {
      zellige::mbarrier_wait(full, i & 1);                         // <waits for full>
      if (threadIdx.x % 32 == 0) zellige::mbarrier_arrive(empty);  // <gives back>
    }
  }
}

template <auto Kernel>
EmulationReport report_of() {
  return Trial(__FILE__, {1}, {160}, 16).run<Kernel>();
}

TEST(Arrivals, AreAsManyAsTheBarrierWaitsFor) {
  EXPECT_EQ(messages(report_of<ring<4, 1>>()), Messages{});
  EXPECT_EQ(messages(report_of<ring<4, 2>>()), Messages{});
  EXPECT_EQ(messages(report_of<ring<4, 9>>()), Messages{});
}

TEST(Arrivals, OneTooManyIsNamed) {
  const Messages expected{
      "instruction at " + at("gives back") +
      ", thread 96 (warp 3) of block (0,0,0): mbarrier empty gets more arrivals than the 3 that it was "
      "initialised for: 4 in phase 0, since this thread has not observed that it has ended"};
  for (const EmulationReport& r :
       {report_of<ring<3, 1>>(), report_of<ring<3, 2>>(), report_of<ring<3, 3>>(), report_of<ring<3, 9>>()}) {
    ASSERT_FALSE(r.findings.empty());
    EXPECT_EQ(r.findings[0].message, expected[0]);
  }
}

TEST(Arrivals, OneTooFewStopsTheProducer) {
  EXPECT_EQ(messages(report_of<ring<5, 2>>()),
            (Messages{"deadlock of block (0,0,0): each of threads 0..127 waits at mbarrier full for parity 1 "
                      "(it is in phase 1: 1 of 1 "
                      "arrivals are missing) at " +
                      at("waits for full") +
                      ", thread 128 waits at mbarrier empty for parity 0 (it is in phase 0: 1 of 5 arrivals "
                      "are missing) at " +
                      at("waits for empty") + ", each of threads 129..159 has returned"}));
}

TEST(Arrivals, OneTooFewIsLeftAtTheEnd) {
  EXPECT_EQ(messages(report_of<ring<5, 1>>()),
            (Messages{"instruction in block (0,0,0): mbarrier empty is left in phase 0 with 4 of 5 arrivals, "
                      "the last at " +
                      at("gives back")}));
}

__global__ void announces(In, Out) {
  const auto full = shared<uint64_t>("full", 0, 1);
  if (threadIdx.x != 0) return;
  zellige::mbarrier_init(full, 1);
  fence_mbarrier_init();
  zellige::mbarrier_arrive_expect_tx(full, 64);  // <announces>
}

TEST(Arrivals, BytesThatNothingLoadsAreNamed) {
  EXPECT_EQ(messages(report_of<announces>()),
            (Messages{"instruction in block (0,0,0): mbarrier full is left in phase 0: 64 announced bytes have not "
                      "come; the last arrival is at " +
                      at("announces")}));
}

template <unsigned Threads>
__global__ void syncs(In, Out) {
  for (int i = 0; i < 3; ++i)
    if (threadIdx.x < 128) named_barrier_sync(1, Threads);  // <syncs>
}

TEST(Arrivals, ANamedBarrierForItsThreads) { EXPECT_EQ(messages(report_of<syncs<128>>()), Messages{}); }

TEST(Arrivals, ANamedBarrierForTooFewThreads) {
  const EmulationReport r = report_of<syncs<96>>();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].message,
            "barrier divergence in block (0,0,0): thread 96 (warp 3) reaches barrier 1 at " + at("syncs") +
                ", to which more threads come than the 96 that it is for: 128 in round 0, since this "
                "warp has not observed that it has ended");
}

TEST(Arrivals, ANamedBarrierForTooManyThreads) {
  EXPECT_EQ(messages(report_of<syncs<160>>()),
            (Messages{"deadlock of block (0,0,0): each of threads 0..127 waits at barrier 1 (128 of 160 "
                      "threads have come) at " +
                      at("syncs") + ", each of threads 128..159 has returned"}));
}

__global__ void arrives(In, Out) {
  if (threadIdx.x < 64) named_barrier_arrive(2, 96);  // <arrives>
}

TEST(Arrivals, AtANamedBarrierThatNobodyWaitsAt) {
  EXPECT_EQ(messages(report_of<arrives>()), (Messages{"barrier divergence in block (0,0,0): barrier 2 is left "
                                                      "in round 0 with 64 of 96 threads, the first at " +
                                                      at("arrives")}));
}

/// Two groups of two warps that alternate, like ping-pong consumers.
template <unsigned Threads>
__global__ void alternates(In, Out) {
  const int group = threadIdx.x / 64;
  if (group > 1) return;
  if (group == 1) named_barrier_arrive(1, Threads);  // <the first round>
  for (int i = 0; i < 4; ++i) {
    named_barrier_sync(1 + group, Threads);    // <own turn>
    named_barrier_arrive(2 - group, Threads);  // <the other's>
  }
  if (group == 0) named_barrier_sync(1, Threads);
}

TEST(Arrivals, RoundsAreKnownToHaveEnded) { EXPECT_EQ(messages(report_of<alternates<128>>()), Messages{}); }

TEST(Arrivals, RoundsOfTooFewThreads) {
  const EmulationReport r = report_of<alternates<96>>();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].message,
            "barrier divergence in block (0,0,0): thread 96 (warp 3) reaches barrier 1 at " + at("the first round") +
                ", to which more threads come than the 96 that it is for: 128 in round 0, since this "
                "warp has not observed that it has ended");
}

__global__ void leaves(In, Out) {
  zellige::cluster_arrive();
  if (threadIdx.x == 0) return;
  zellige::cluster_wait();
}

/// A thread that has arrived and returned is counted once: the others still wait for each other.
TEST(Arrivals, AtTheClusterOfAThreadThatReturns) {
  const EmulationReport r = report_of<leaves>();
  EXPECT_EQ(messages(r), Messages{});
  EXPECT_EQ(r.counters[Counter::cluster_barrier], 1u);
}

}  // namespace
}  // namespace zellige::emulate
