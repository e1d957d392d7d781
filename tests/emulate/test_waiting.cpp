// Synchronisation of threads: warp collectives, barriers, __syncwarp; their results, and the messages when
// threads do not arrive.
#include "kernel.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

std::string at(const char* tag) { return line_of(__FILE__, tag); }

__global__ void sums(In x, Out y) {
  const unsigned i = blockIdx.x * 128 + threadIdx.x + 16 * (threadIdx.y + 2 * threadIdx.z);
  float v = x[i];
  for (int m = 16; m; m /= 2) v += shuffle_xor(v, m);
  y[i] = v;
}

TEST(Waiting, ACollectiveComputesForTheWholeWarp) {
  for (int workers : {1, 2}) {
    Trial r(__FILE__, {8}, {16, 2, 4});
    r.config.workers = workers;
    EXPECT_EQ(messages(r.run<sums>()), Messages{});
    for (int i = 0; i < 8 * 128; ++i) ASSERT_EQ(r.out(i), 32.0f * (i / 32 * 32) + 31 * 16);
  }
}

__global__ void half_warp_converges(In, Out) {
  if (threadIdx.x % 32 < 12) shuffle_xor(1, 1);  // <half converges>
}

TEST(Waiting, ACollectiveThatOthersHaveLeft) {
  Trial r(__FILE__, {1}, {64});
  EmulationReport report = r.run<half_warp_converges>();
  EXPECT_EQ(messages(report),
            (Messages{"divergence in warp 0 of block (0,0,0): 12 of 32 threads, thread 0 first, wait in "
                      "shfl at " +
                      at("half converges") + " for thread 12, which has returned"}));
  EXPECT_FALSE(report.complete);
}

__global__ void half_at_barrier(In, Out) {
  if (threadIdx.x < 12)
    shuffle_xor(1, 1);  // <some converge>
  else
    __syncthreads();  // <others synchronise>
}

TEST(Waiting, ACollectiveWhileOthersAreAtABarrier) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<half_at_barrier>()),
            (Messages{"divergence in warp 0 of block (0,0,0): 12 of 32 threads, thread 0 first, wait in shfl at " +
                      at("some converge") + " for thread 12, which waits at the block's barrier at " +
                      at("others synchronise")}));
}

__global__ void two_convergence_points(In, Out) {
  auto nothing = [](const int*, int* out) {
    for (int l = 0; l < 32; ++l) out[l] = 0;
  };
  if (threadIdx.x < 7)
    meet<int, int>(0, nothing, "mma");  // <the one>
  else
    meet<int, int>(0, nothing, "ldmatrix");  // <the other>
}

TEST(Waiting, TwoDifferentConvergencePoints) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<two_convergence_points>()),
            (Messages{"divergence in warp 0 of block (0,0,0): thread 7 reaches ldmatrix at " + at("the other") +
                      " while thread 0 waits in mma at " + at("the one")}));
}

__global__ void one_kind_two_places(In, Out y) {
  float v;
  if (threadIdx.x < 7)
    v = shuffle_xor(1, 1);  // <here>
  else
    v = shuffle_xor(2, 1);  // <there>
  y[threadIdx.x] = v;
}

TEST(Waiting, OneInstructionMetAtTwoLines) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<one_kind_two_places>()),
            (Messages{"divergence in warp 0 of block (0,0,0): thread 7 reaches shfl at " + at("there") +
                      ", thread 0 the one at " + at("here")}));
}

TEST(Waiting, AWarpTooSmallToConverge) {
  Trial r(__FILE__, {1}, {48});
  EmulationReport report = r.run<sums>();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].message.substr(0, 104),
            "divergence at shfl: thread 32 (warp 1) of block (0,0,0) needs a warp of 32 threads, its warp "
            "has 16 (tes");
}

__global__ void early_return(In, Out y) {
  if (threadIdx.x >= 40) return;
  __syncthreads();  // <some are gone>
  y[threadIdx.x] = 1;
}

TEST(Waiting, ABarrierThatOthersHaveLeft) {
  Trial r(__FILE__, {1}, {64});
  EmulationReport report = r.run<early_return>();
  EXPECT_EQ(messages(report), (Messages{"barrier divergence in block (0,0,0): 40 of 64 threads, thread 0 "
                                        "(warp 0) first, reach the block's "
                                        "barrier at " +
                                        at("some are gone") + ", thread 40 (warp 1) has returned"}));
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(r.out(39), 1.0f);
}

__global__ void two_barriers(In, Out) {
  if (threadIdx.x < 32)
    __syncthreads();  // <first barrier>
  else
    __syncthreads();  // <second barrier>
}

TEST(Waiting, TwoBarriersForOneBlock) {
  Trial r(__FILE__, {1}, {64});
  EXPECT_EQ(messages(r.run<two_barriers>()),
            (Messages{"barrier divergence in block (0,0,0): thread 32 (warp 1) reaches the block's barrier at " +
                      at("second barrier") + ", thread 0 (warp 0) the one at " + at("first barrier")}));
}

__global__ void crossed(In, Out) {
  if (threadIdx.x < 32)
    bar_sync(1, 64);  // <waits for 1>
  else
    bar_sync(2, 64);  // <waits for 2>
}

TEST(Waiting, Deadlock) {
  Trial r(__FILE__, {3}, {64});
  EmulationReport report = r.run<crossed>();
  EXPECT_EQ(
      messages(report),
      (Messages{"deadlock of block (0,0,0): each of threads 0..31 waits at barrier 1 (32 of 64 threads "
                "have come) at " +
                at("waits for 1") + ", each of threads 32..63 waits at barrier 2 (32 of 64 threads have come) at " +
                at("waits for 2")}));
  EXPECT_FALSE(report.complete);
}

__global__ void wrong_count(In, Out) {
  bar_sync(1, threadIdx.x < 32 ? 32 * 2 : 32 * 3);  // <counts differ>
}

TEST(Waiting, ABarrierOfTwoSizes) {
  Trial r(__FILE__, {1}, {96});
  EXPECT_EQ(
      messages(r.run<wrong_count>()),
      (Messages{"barrier divergence in block (0,0,0): thread 32 (warp 1) reaches barrier 1 at " + at("counts differ") +
                " for 96 threads, thread 0 (warp 0) at " + at("counts differ") + " for 64"}));
}

__global__ void syncwarp_and_barrier(In, Out) {
  if (threadIdx.x < 5)
    __syncwarp();  // <syncwarp>
  else
    __syncthreads();  // <syncthreads>
}

TEST(Waiting, SyncwarpAgainstBarrier) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<syncwarp_and_barrier>()),
            (Messages{"deadlock of block (0,0,0): each of threads 0..4 waits in __syncwarp at " + at("syncwarp") +
                      ", each of threads 5..31 waits at the block's barrier at " + at("syncthreads")}));
}

// Named barriers order only the warps that take part.
__global__ void pairs(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x, pair = t / 64;
  p[t] = x[t];
  bar_sync(1 + pair, 64);
  y[t] = p[t ^ 32];
}
__global__ void pairs_crossed(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x, pair = t / 64;
  p[t] = x[t];  // <named: wrote>
  bar_sync(1 + pair, 64);
  if (pair) y[t] = p[t ^ 64];  // <named: read>
}

TEST(Waiting, NamedBarriersOrderTheirWarpsOnly) {
  Trial r(__FILE__, {1}, {128}, 512);
  EXPECT_EQ(messages(r.run<pairs>()), Messages{});
  Trial s(__FILE__, {1}, {128}, 512);
  EXPECT_EQ(messages(s.run<pairs_crossed>()),
            (Messages{"race on shared tensor P: thread 127 (warp 3) of block (0,0,0) reads bytes 252..256 at " +
                      at("named: read") + "; thread 63 (warp 1) wrote them at " + at("named: wrote") +
                      " and no barrier lies between"}));
}

// A producer that arrives does not wait; what it wrote before is seen, what it writes after is not.
template <bool Again>
__global__ void produces(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 32);
  const unsigned t = threadIdx.x;
  if (t < 32) {
    p[t] = x[t];
    bar_arrive(3, 64);
    if (Again) p[t] = 0;  // <after arriving>
  } else {
    bar_sync(3, 64);
    y[t] = p[t - 32];  // <consumer>
  }
}

TEST(Waiting, ArrivalCoversWhatCameBefore) {
  Trial r(__FILE__, {1}, {64}, 512);
  EXPECT_EQ(messages(r.run<produces<false>>()), Messages{});
  Trial s(__FILE__, {1}, {64}, 512);
  EXPECT_EQ(messages(s.run<produces<true>>()),
            (Messages{"race on shared tensor P: thread 63 (warp 1) of block (0,0,0) reads bytes 124..128 at " +
                      at("consumer") + "; thread 31 (warp 0) wrote them at " + at("after arriving") +
                      " and no barrier lies between"}));
}

__global__ void excluded(In, Out) {
  __syncwarp(0xFFFFFFFE);  // <not in the mask>
}

TEST(Waiting, SyncwarpByALaneOutsideItsMask) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<excluded>()),
            (Messages{"divergence thread 0 (warp 0) of block (0,0,0) calls __syncwarp at " + at("not in the mask") +
                      " with the mask 0xfffffffe, which leaves its own lane out"}));
}

__global__ void leaves_early(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 32);
  const unsigned t = threadIdx.x;
  p[t] = x[t];
  if (t >= 16 && t < 24) return;
  __syncwarp();
  if (t < 16) y[t] = p[t ^ 1];
}

TEST(Waiting, SyncwarpDoesNotWaitForThreadsThatReturned) {
  Trial r(__FILE__, {1}, {32}, 512);
  EXPECT_EQ(messages(r.run<leaves_early>()), Messages{});
  EXPECT_EQ(r.out(15), 14.0f);
}

}  // namespace
}  // namespace zellige::emulate
