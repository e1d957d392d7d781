// cp.async: the bytes arrive at the covering wait, for the waiting thread, and for others after a subsequent
// barrier.
#include "kernel.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

std::string at(const char* tag) { return line_of(__FILE__, tag); }

__global__ void right(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 2 * 256);
  const unsigned t = threadIdx.x;
  cp_async(p + 4 * t, x + 4 * t, 16, 16);
  cp_async_commit();
  for (int k = 0; k < 3; ++k) {  // two stages, one group prefetched
    if (k < 2) cp_async(p + 256 * ((k + 1) % 2) + 4 * t, x + 256 * (k + 1) + 4 * t, 16, 16);
    cp_async_commit();
    cp_async_wait(1);
    __syncthreads();
    for (int i = 0; i < 4; ++i) y[256 * k + t + 64 * i] = p[256 * (k % 2) + t + 64 * i];
    __syncthreads();
  }
}

TEST(Async, APipelineOfTwoStages) {
  Trial r(__FILE__, {1}, {64}, 2048);
  EXPECT_EQ(messages(r.run<right>()), Messages{});
  for (int i = 0; i < 768; ++i) EXPECT_EQ(r.out(i), float(i));
}

__global__ void no_wait(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x;
  cp_async(p + 4 * t, x + 4 * t, 16, 16);  // <issued>
  cp_async_commit();
  __syncthreads();
  y[t] = p[4 * t];  // <read at once>
}

TEST(Async, ReadBeforeTheWait) {
  Trial r(__FILE__, {1}, {32}, 512);
  EXPECT_EQ(messages(r.run<no_wait>()),
            (Messages{"race on shared tensor P: thread 31 (warp 0) of block (0,0,0) reads bytes 496..500 at " +
                      at("read at once") + "; the cp.async that thread 31 (warp 0) issued at " + at("issued") +
                      " is still in flight"}));
  EXPECT_NE(r.out(3), r.out(3));  // the bytes are not there
}

template <int Pending>
__global__ void waits(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x;
  cp_async(p + t, x + t, 4, 4);
  cp_async_commit();
  cp_async(p + 32 + t, x + 32 + t, 4, 4);  // <second group>
  cp_async_commit();
  cp_async_wait(Pending);
  y[t] = p[t];
  y[t + 32] = p[t + 32];  // <reads the second>
}

TEST(Async, TheWaitCoversAllButTheNewest) {
  Trial r(__FILE__, {1}, {1}, 512);
  EXPECT_EQ(messages(r.run<waits<0>>()), Messages{});
  Trial s(__FILE__, {1}, {1}, 512);
  EXPECT_EQ(messages(s.run<waits<1>>()),
            (Messages{"race on shared tensor P: thread 0 (warp 0) of block (0,0,0) reads bytes 128..132 at " +
                      at("reads the second") + "; the cp.async that thread 0 (warp 0) issued at " + at("second group") +
                      " is still in flight"}));
  EXPECT_EQ(s.out(0), 0.0f);
}

__global__ void uncommitted(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  cp_async(p, x, 4, 4);
  cp_async_wait(0);
  y[0] = p[0];
}

TEST(Async, AWaitForGroupsDoesNotCoverWhatIsNotCommitted) {
  Trial r(__FILE__, {1}, {1}, 512);
  EmulationReport report = r.run<uncommitted>();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, Finding::Kind::race);
}

__global__ void no_barrier(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x;
  cp_async(p + t, x + t, 4, 4);  // <copied by another>
  cp_async_commit();
  __syncthreads();
  cp_async_wait(0);
  y[t] = p[t];
  if (t == 40) y[100] = p[5];  // <read by another>
}

TEST(Async, TheWaitIsTheIssuersOnly) {
  Trial r(__FILE__, {1}, {64}, 512);
  EmulationReport report = r.run<no_barrier>();
  ASSERT_EQ(report.findings.size(), 1u);
  // The issuer has not even waited when thread 40 reads.
  EXPECT_EQ(report.findings[0].message,
            "race on shared tensor P: thread 40 (warp 1) of block (0,0,0) reads bytes 20..24 at " +
                at("read by another") + "; the cp.async that thread 5 (warp 0) issued at " + at("copied by another") +
                " is still in flight");
}

__global__ void waited_no_barrier(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x;
  cp_async(p + t, x + t, 4, 4);  // <waited for>
  cp_async_commit();
  cp_async_wait(0);
  if (t == 40) y[100] = p[5];  // <without a barrier>
}

TEST(Async, AfterTheWaitOthersNeedABarrier) {
  Trial r(__FILE__, {1}, {64}, 512);
  EXPECT_EQ(messages(r.run<waited_no_barrier>()),
            (Messages{"race on shared tensor P: thread 40 (warp 1) of block (0,0,0) reads bytes 20..24 at " +
                      at("without a barrier") + "; thread 5 (warp 0) wrote them at " + at("waited for") +
                      " and no barrier lies between"}));
}

__global__ void overtakes(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x;
  p[t] = x[t];
  __syncthreads();
  y[t] = p[t ^ 32];                   // <still reads>
  cp_async(p + t, x + 64 + t, 4, 4);  // <copies into>
  cp_async_commit();
  cp_async_wait(0);
}

TEST(Async, ACopyIntoWhatOthersStillRead) {
  Trial r(__FILE__, {1}, {64}, 512);
  EmulationReport report = r.run<overtakes>();
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings.back().message,
            "race on shared tensor P: thread 0 (warp 0) of block (0,0,0) copies by cp.async into bytes 0..4 at " +
                at("copies into") + "; thread 32 (warp 1) read them at " + at("still reads") +
                " and no barrier lies between");
}

__global__ void fills(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x;
  // The source may lie anywhere where nothing is read.
  cp_async(p + 4 * t, x + (t < 3 ? 4084 + 4 * t + 2 * 0 : 99999), 16, t < 2 ? 16 : t == 2 ? 8 : 0);
  cp_async_wait_all();
  for (int i = 0; i < 4; ++i) y[4 * t + i] = p[4 * t + i];
}

TEST(Async, BytesThatAreNotValidBecomeZero) {
  Trial r(__FILE__, {1}, {4}, 512);
  EmulationReport report = r.run<fills>();
  EXPECT_EQ(messages(report), Messages{});
  const float expected[16] = {4084, 4085, 4086, 4087, 4088, 4089, 4090, 4091, 4092, 4093, 0, 0, 0, 0, 0, 0};
  for (int i = 0; i < 16; ++i) EXPECT_EQ(r.out(i), expected[i]) << i;
  EXPECT_EQ(report.counters[Counter::cp_async_16], 4u);
  EXPECT_EQ(report.counters[Counter::cp_async_source_bytes], 40u);
}

__global__ void source_outside(In x, Out) {
  auto p = shared_pointer<float>("P", 0, 128);
  cp_async(p, x + 4094, 16, 16);  // <half outside>
}

TEST(Async, TheSourceIsChecked) {
  Trial r(__FILE__, {1}, {1}, 512);
  EXPECT_EQ(messages(r.run<source_outside>()), (Messages{"out of bounds on global tensor X: thread 0 (warp "
                                                         "0) of block (0,0,0) reads bytes 16376..16392 at " +
                                                         at("half outside") + "; the tensor has 16384"}));
}

}  // namespace
}  // namespace zellige::emulate
