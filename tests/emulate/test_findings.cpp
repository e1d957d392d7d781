// Each kind of memory finding, with its whole message; and correct kernels, which must have none.
#include "kernel.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

std::string at(const char* tag) { return line_of(__FILE__, tag); }

__global__ void beyond_the_end(In x, Out y) {
  unsigned i = threadIdx.x;
  y[i] = x[4090 + i];  // <beyond the end>
}

TEST(Findings, OutOfBoundsRead) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<beyond_the_end>()), (Messages{"out of bounds on global tensor X: thread 6 (warp 0) "
                                                         "of block (0,0,0) reads bytes 16384..16388 at " +
                                                         at("beyond the end") + "; the tensor has 16384"}));
  EXPECT_EQ(r.out(5), 4095.0f);
  EXPECT_NE(r.out(6), r.out(6));  // what was refused reads as NaN
  EXPECT_EQ(r.run<beyond_the_end>().findings.at(0).missing, Finding::Missing::bounds_check);
}

__global__ void before_the_start(In, Out y) {
  auto p = shared_pointer<float>("P", 64, 16);
  p[int(threadIdx.x) - 1] = 0;  // <before the start>
  (void)y;
}

TEST(Findings, OutOfBoundsOfASharedTensorWithinSharedMemory) {
  Trial r(__FILE__, {1}, {8}, 128);
  EXPECT_EQ(messages(r.run<before_the_start>()),
            (Messages{"out of bounds on shared tensor P: thread 0 (warp 0) of block (0,0,0) writes bytes -4..0 at " +
                      at("before the start") + "; the tensor has 64"}));
  EXPECT_EQ(r.run<before_the_start>().findings.at(0).missing, Finding::Missing::nothing);
}

__global__ void too_much_shared(In, Out) {
  shared_pointer<float>("P", 64, 17);  // <too much shared>
}

TEST(Findings, SharedTensorBeyondTheLaunch) {
  Trial r(__FILE__, {1}, {1}, 128);
  EmulationReport report = r.run<too_much_shared>();
  EXPECT_EQ(messages(report),
            (Messages{"out of bounds of shared tensor P: it lies at bytes 64..132 of shared memory at " +
                      at("too much shared") + ", the launch gives a block 128"}));
  EXPECT_FALSE(report.complete);
}

struct alignas(16) Four {
  float v[4];
};

__global__ void misaligned(In x, Out y) {
  Four f = (x + 2).recast<const Four>()[threadIdx.x];  // <misaligned>
  y[threadIdx.x] = f.v[0];
}

TEST(Findings, Misaligned) {
  Trial r(__FILE__, {1}, {2});
  EXPECT_EQ(
      messages(r.run<misaligned>()),
      (Messages{"misaligned address in global tensor X: thread 0 (warp 0) of block (0,0,0) reads bytes 8..24 at " +
                at("misaligned") + "; an access of 16 bytes needs an address that is a multiple of it"}));
}

__global__ void writes_input(pointer<float> x, Out) {
  x[threadIdx.x] = 1;  // <writes input>
}

TEST(Findings, WriteToWhatTheLaunchReads) {
  Trial r(__FILE__, {1}, {1});
  EXPECT_EQ(messages(r.run<writes_input>()),
            (Messages{"write to a read-only tensor X: thread 0 (warp 0) of block (0,0,0) writes bytes 0..4 at " +
                      at("writes input") + "; the launch only reads it"}));
}

__global__ void reads_output(In, Out y) {
  float v = y[threadIdx.x];  // <reads output>
  y[threadIdx.x + 32] = v;
}

TEST(Findings, UninitialisedGlobalRead) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<reads_output>()),
            (Messages{"uninitialised read of global tensor Y: thread 0 (warp 0) of block (0,0,0) reads bytes 0..4 at " +
                      at("reads output") + ", which nothing has written"}));
  EmulationReport second =
      emulate::run(entry<beyond_the_end>, r.config);  // writes 0..32, which a later launch may read
  EXPECT_EQ(messages(r.run<reads_output>()), Messages{});
}

__global__ void unwritten_shared(In, Out y) {
  auto p = shared_pointer<float>("P", 0, 64);
  if (threadIdx.x < 20) p[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = p[threadIdx.x];  // <unwritten shared>
}

TEST(Findings, UninitialisedSharedReadAndFreshMemoryInEachBlock) {
  Trial r(__FILE__, {2}, {32}, 256);
  r.config.arguments[1] = &r.y;
  EmulationReport report = r.run<unwritten_shared>();
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].message,
            "uninitialised read of shared tensor P: thread 31 (warp 0) of block (0,0,0) reads bytes 124..128 at " +
                at("unwritten shared") + ", which nothing has written");
}

__global__ void another_tensors_bytes(In x, Out y) {
  auto q = shared_pointer<float>("Q", 0, 64);
  auto p = shared_pointer<float>("P", 128, 32);
  q[threadIdx.x] = x[threadIdx.x];  // <writes as Q>
  __syncthreads();
  if (threadIdx.x < 32) y[threadIdx.x] = p[threadIdx.x];  // <reads as P>
}

TEST(Findings, BytesOfAnotherTensorAreUninitialised) {
  Trial r(__FILE__, {1}, {64}, 256);
  EXPECT_EQ(messages(r.run<another_tensors_bytes>()),
            (Messages{"uninitialised read of shared tensor P: thread 0 (warp 0) of block (0,0,0) reads bytes 0..4 at " +
                      at("reads as P") + ", which thread 32 (warp 1) last wrote as tensor Q at " + at("writes as Q")}));
}

__global__ void missing_barrier(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 64);
  if (threadIdx.x < 32) p[threadIdx.x] = x[threadIdx.x];        // <one warp writes>
  if (threadIdx.x >= 32) y[threadIdx.x] = p[threadIdx.x - 32];  // <the other reads>
}

TEST(Findings, RaceOfAReadWithAWrite) {
  Trial r(__FILE__, {1}, {64}, 256);
  EXPECT_EQ(messages(r.run<missing_barrier>()),
            (Messages{"race on shared tensor P: thread 32 (warp 1) of block (0,0,0) reads bytes 0..4 at " +
                      at("the other reads") + "; thread 0 (warp 0) wrote them at " + at("one warp writes") +
                      " and no barrier lies between"}));
  EXPECT_EQ(r.run<missing_barrier>().findings.at(0).missing, Finding::Missing::block_barrier);
}

__global__ void missing_back_edge(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 64);
  for (int k = 0; k < 2; ++k) {
    p[threadIdx.x] = x[threadIdx.x];  // <next iteration writes>
    __syncthreads();
    y[threadIdx.x + 64 * k] = p[threadIdx.x ^ 32];  // <this iteration reads>
  }
}

TEST(Findings, RaceOfAWriteWithAnEarlierRead) {
  Trial r(__FILE__, {1}, {64}, 256);
  EXPECT_EQ(messages(r.run<missing_back_edge>()),
            (Messages{"race on shared tensor P: thread 0 (warp 0) of block (0,0,0) reads bytes 128..132 at " +
                          at("this iteration reads") + "; thread 32 (warp 1) wrote them at " +
                          at("next iteration writes") + " and no barrier lies between",
                      "race on shared tensor P: thread 0 (warp 0) of block (0,0,0) writes bytes 0..4 at " +
                          at("next iteration writes") + "; thread 32 (warp 1) read them at " +
                          at("this iteration reads") + " and no barrier lies between"}));
}

__global__ void same_warp(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 32);
  p[threadIdx.x] = x[threadIdx.x];                       // <own lane>
  if (threadIdx.x) y[threadIdx.x] = p[threadIdx.x - 1];  // <next lane>
}

TEST(Findings, RaceWithinAWarp) {
  Trial r(__FILE__, {1}, {32}, 256);
  EXPECT_EQ(
      messages(r.run<same_warp>()),
      (Messages{"race on shared tensor P: thread 1 (warp 0) of block (0,0,0) reads bytes 0..4 at " + at("next lane") +
                "; thread 0 (warp 0) wrote them at " + at("own lane") + " and no __syncwarp or barrier lies between"}));
  EXPECT_EQ(r.run<same_warp>().findings.at(0).missing, Finding::Missing::warp_barrier);
}

__global__ void same_warp_met(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 32);
  p[threadIdx.x] = x[threadIdx.x];  // <before the exchange>
  meet<int, int>(
      0,
      [](const int*, int* out) {
        for (int l = 0; l < 32; ++l) out[l] = 0;
      },
      "shfl");
  y[threadIdx.x] = p[threadIdx.x ^ 1];  // <after the exchange>
}

TEST(Findings, ACollectiveOrdersNoMemory) {
  Trial r(__FILE__, {1}, {32}, 256);
  EmulationReport report = r.run<same_warp_met>();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].message,
            "race on shared tensor P: thread 31 (warp 0) of block (0,0,0) reads bytes 120..124 at " +
                at("after the exchange") + "; thread 30 (warp 0) wrote them at " + at("before the exchange") +
                " and no __syncwarp or barrier lies between");
}

__global__ void matrix_rows(In x, Out) {
  auto p = shared_pointer<float>("P", 0, 256);
  const unsigned t = threadIdx.x;
  if (t < 32)
    for (int i = 0; i < 4; ++i) p[4 * t + i] = x[t];               // <fills rows>
  if (t >= 32) load_matrices(p + 4 * (t - 32) + 128 * (t == 63));  // <loads rows>
}

TEST(Findings, RowsReadForAWarpAreReadByTheLanesThatNameThem) {
  Trial r(__FILE__, {1}, {64}, 1024);
  EXPECT_EQ(
      messages(r.run<matrix_rows>()),
      (Messages{"race on shared tensor P: thread 32 (warp 1) of block (0,0,0) reads bytes 0..16 at " +
                    at("loads rows") + "; thread 0 (warp 0) wrote them at " + at("fills rows") +
                    " and no barrier lies between",
                "uninitialised read of shared tensor P: thread 63 (warp 1) of block (0,0,0) reads bytes 1008..1024 "
                "at " +
                    at("loads rows") + ", which nothing has written"}));
}

__global__ void matrix_rows_unwaited(In x, Out) {
  auto p = shared_pointer<float>("P", 0, 256);
  const unsigned t = threadIdx.x;
  for (int i = 0; i < 4; ++i) p[4 * t + i] = x[t];
  __syncthreads();
  load_matrices(p + 4 * (t % 32));  // <loads>
  p[4 * t] = 0;                     // <overwrites>
}

TEST(Findings, AWriteAfterRowsWereRead) {
  Trial r(__FILE__, {1}, {64}, 1024);
  EXPECT_EQ(messages(r.run<matrix_rows_unwaited>()),
            (Messages{"race on shared tensor P: thread 31 (warp 0) of block (0,0,0) writes bytes 496..500 at " +
                      at("overwrites") + "; thread 63 (warp 1) read them at " + at("loads") +
                      " and no barrier lies between"}));
}

__global__ void two_blocks(In x, Out y) {
  y[threadIdx.x + 16 * blockIdx.x] = x[threadIdx.x];  // <both blocks>
}

TEST(Findings, RaceBetweenBlocks) {
  for (int workers : {1, 2}) {
    Trial r(__FILE__, {2}, {32});
    r.config.workers = workers;
    EmulationReport report = r.run<two_blocks>();
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, Finding::Kind::race);
    const std::string& m = report.findings[0].message;
    EXPECT_EQ(m.substr(0, 67), "race between blocks on global tensor Y: thread 16 (warp 0) of block");
    if (workers == 1) {
      EXPECT_EQ(m,
                "race between blocks on global tensor Y: thread 16 (warp 0) of block (0,0,0) writes bytes "
                "64..68 at " +
                    at("both blocks") + ", thread 0 (warp 0) of block (1,0,0) writes them at " + at("both blocks") +
                    ", and nothing orders two blocks of a launch");
    }
  }
}

__global__ void reads_the_neighbour(In x, Out y) {
  y[threadIdx.x + 32 * blockIdx.x] = x[threadIdx.x];  // <own part>
  if (blockIdx.x == 1) (void)float(y[threadIdx.x]);   // <the neighbour's part>
}

TEST(Findings, RaceBetweenAReaderAndAWriterInOtherBlocks) {
  Trial r(__FILE__, {2}, {32});
  EXPECT_EQ(
      messages(r.run<reads_the_neighbour>()),
      (Messages{"race between blocks on global tensor Y: thread 0 (warp 0) of block (0,0,0) writes bytes 0..4 at " +
                at("own part") + ", thread 0 (warp 0) of block (1,0,0) reads them at " + at("the neighbour's part") +
                ", and nothing orders two blocks of a launch"}));
  EXPECT_EQ(r.run<reads_the_neighbour>().findings.at(0).missing, Finding::Missing::block_order);
}

__global__ void race_in_global(In x, Out y) {
  y[threadIdx.x] = x[threadIdx.x];            // <writes global>
  y[100 + threadIdx.x] = y[threadIdx.x ^ 1];  // <reads global>
}

TEST(Findings, RaceInGlobalMemoryWithinABlock) {
  Trial r(__FILE__, {1}, {32});
  EmulationReport report = r.run<race_in_global>();
  ASSERT_EQ(report.findings.size(), 3u);
  EXPECT_EQ(report.findings[0].kind, Finding::Kind::uninitialised_read);
  EXPECT_EQ(report.findings[1].message,
            "race on global tensor Y: thread 1 (warp 0) of block (0,0,0) writes bytes 4..8 at " + at("writes global") +
                "; thread 0 (warp 0) read them at " + at("reads global") +
                " and no __syncwarp or barrier lies between");
  EXPECT_EQ(report.findings[2].message,
            "race on global tensor Y: thread 1 (warp 0) of block (0,0,0) reads bytes 0..4 at " + at("reads global") +
                "; thread 0 (warp 0) wrote them at " + at("writes global") +
                " and no __syncwarp or barrier lies between");
}

__global__ void own_rule(In, Out) {
  if (threadIdx.x == 3) fail_at("P", "its descriptor names a swizzle that does not exist");  // <own rule>
}

TEST(Findings, AnInstructionsOwnRule) {
  Trial r(__FILE__, {1}, {4});
  EXPECT_EQ(messages(r.run<own_rule>()),
            (Messages{"instruction at " + at("own rule") +
                      ", thread 3 (warp 0) of block (0,0,0): its descriptor names a swizzle that does not exist"}));
}

// A helper that is not inlined, in another file: the finding still names the kernel's line.
}  // namespace
}  // namespace zellige::emulate

#line 1 "elsewhere.cpp"
namespace zellige::emulate::elsewhere {
__attribute__((noinline)) float read_it(pointer<const float> x, unsigned i) {
  float v = x[i];
  return v + 1;
}
}  // namespace zellige::emulate::elsewhere
#line 300 "test_findings.cpp"
namespace zellige::emulate {
namespace {
__global__ void calls_a_helper(In x, Out y) {
  float v = elsewhere::read_it(x, 4096 + threadIdx.x);
  y[threadIdx.x] = v;
}

TEST(Findings, NameTheLineOfTheSourceThatCalledAHelper) {
  Trial r("test_findings.cpp", {1}, {1});
  EXPECT_EQ(
      messages(r.run<calls_a_helper>()),
      (Messages{"out of bounds on global tensor X: thread 0 (warp 0) of block (0,0,0) reads bytes 16384..16388 at "
                "test_findings.cpp:303; the tensor has 16384"}));
}

// Right programs.

__global__ void transposes(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 32 * 33);
  const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), all = 96;
  auto wide = p.recast<Four>();
  for (int k = 0; k < 3; ++k) {
    for (unsigned i = t; i < 32 * 32; i += all) p[i % 32 * 33 + i / 32] = x[i];
    __syncthreads();
    for (unsigned i = t; i < 32 * 32; i += all) y[i] = p[i / 32 * 33 + i % 32];
    __syncthreads();
    for (unsigned i = t; i < 32 * 33 / 4; i += all) wide[i] = Four{{1, 2, 3, 4}};
    __syncthreads();
    for (unsigned i = t; i < 32 * 33 / 4; i += all) y[1024 + i] = Four(wide[32 * 33 / 4 - 1 - i]).v[1];
    __syncthreads();
  }
}

TEST(Findings, NoneInARightProgram) {
  Trial r(__FILE__, {1}, {8, 4, 3}, 32 * 33 * 4);
  EXPECT_EQ(messages(r.run<transposes>()), Messages{});
  EXPECT_EQ(r.out(100), 32.0f * 4 + 3);
  EXPECT_EQ(r.out(1024 + 100), 2.0f);
}

__global__ void warp_private(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  auto a = shared_pointer<float>("A", 512, 32);
  if (threadIdx.x < 32) a[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (unsigned k = 0; k < 4 + threadIdx.x / 32; ++k) {  // warps go round different numbers of times
    p[threadIdx.x] = a[(threadIdx.x + k) % 32];
    __syncwarp();
    sum += p[threadIdx.x ^ 3];
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x < 32) a[threadIdx.x] = sum;
  y[threadIdx.x] = sum;
}

TEST(Findings, NoneWhereWarpsSynchroniseOnTheirOwn) {
  Trial r(__FILE__, {4}, {128}, 1024);
  r.config.grid = {1};
  EXPECT_EQ(messages(r.run<warp_private>()), Messages{});
}

__global__ void in_place(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 64);
  p[threadIdx.x] = x[threadIdx.x];
  p[threadIdx.x] += 1;
  y[threadIdx.x] = p[threadIdx.x];
  y[threadIdx.x] *= 2;
}

TEST(Findings, NoneWhereEachThreadKeepsToItself) {
  Trial r(__FILE__, {1}, {64}, 256);
  EXPECT_EQ(messages(r.run<in_place>()), Messages{});
  EXPECT_EQ(r.out(63), 128.0f);
}

}  // namespace
}  // namespace zellige::emulate
