// The launch itself: invalid launches are refused, and the same launch gives the same report every time.
#include <filesystem>

#include "graph/error.hpp"
#include "kernel.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

std::string refusal(const LaunchConfig& config, void (*entry)(Launch&)) {
  try {
    run(entry, config);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

__global__ void positions(In, Out y) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  y[block * blockDim.x * blockDim.y * blockDim.z + thread] = float(1000 * block + thread);
}

TEST(Engine, RunsEveryThreadOfEveryBlock) {
  Trial r(__FILE__, {2, 3, 2}, {5, 3, 2});
  EXPECT_EQ(messages(r.run<positions>()), Messages{});
  for (int b = 0; b < 12; ++b)
    for (int t = 0; t < 30; ++t) EXPECT_EQ(r.out(b * 30 + t), 1000.0f * b + t);
  EXPECT_TRUE(r.y.initialised(0, 12 * 30 * 4));
  EXPECT_FALSE(r.y.initialised(0, 12 * 30 * 4 + 1));
}

TEST(Engine, RefusesWhatIsNoLaunch) {
  Trial r(__FILE__, {1}, {32});
  LaunchConfig c = r.config;
  c.block = {33, 32, 1};
  EXPECT_EQ(refusal(c, entry<positions>), "emulator: a block of 33x32x1 threads; there must be 1 to 1024");
  c = r.config;
  c.grid = {1, 0, 1};
  EXPECT_EQ(refusal(c, entry<positions>), "emulator: a grid of 1x0x1 blocks; there must be 1 to 268435455");
  c = r.config;
  c.arguments = {&r.x};
  EXPECT_EQ(refusal(c, entry<positions>), "emulator: 1 arguments, but 2 entries say which are written");
  c.writes = {false};
  EXPECT_EQ(refusal(c, entry<positions>), "emulator: the kernel takes 2 tensors, the launch gives 1");
  c = r.config;
  c.arguments[0] = nullptr;
  EXPECT_EQ(refusal(c, entry<positions>), "emulator: argument 0 of the launch is missing");
  c = r.config;
  c.shared_bytes = (1u << 20) + 1;
  EXPECT_EQ(refusal(c, entry<positions>),
            "emulator: 1048577 bytes of shared memory for a block; no GPU has more than 1048576");
  EXPECT_EQ(refusal(r.config, [](Launch&) {}), "emulator: the entry of the emitted source has started no kernel");
}

__global__ void wrong_everywhere(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 128);
  const unsigned t = threadIdx.x;
  p[t] = x[t];
  y[128 * blockIdx.x + t] = p[t ^ 64];
  if (blockIdx.x >= 3) (void)x[4096 + t];
  if (blockIdx.x == 5) bar_sync(1 + t / 64, 128);
}

TEST(Engine, FindingsDoNotDependOnTheNumberOfWorkers) {
  Messages first;
  Counters counters;
  for (int round = 0; round < 6; ++round) {
    Trial r(__FILE__, {8}, {128}, 512);
    r.config.workers = 1 + round % 3;
    EmulationReport report = r.run<wrong_everywhere>();
    EXPECT_FALSE(report.complete);
    if (round == 0) {
      first = messages(report);
      counters = report.counters;
      ASSERT_EQ(first.size(), 5u) << ::testing::PrintToString(first);
      EXPECT_EQ(first[4].substr(0, 116),
                "deadlock of block (5,0,0): each of threads 0..63 waits at barrier 1 (64 of 128 "
                "threads have come) at test_engine.cpp");
    }
    EXPECT_EQ(messages(report), first);
    for (unsigned c = 0; c < unsigned(Counter::end); ++c) EXPECT_EQ(report.counters.value[c], counters.value[c]);
  }
}

// The example at the head of device.hpp.
__global__ void twice(In x, Out y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}

TEST(Engine, TheExampleOfTheHeader) {
  Trial r(__FILE__, {32}, {128});
  EXPECT_EQ(messages(r.run<twice>()), Messages{});
  for (int i = 0; i < 4096; ++i) ASSERT_EQ(r.out(i), 2.0f * i);
}

// Emitted code is compiled for each graph, so its headers stay cheap: of the standard library only these two;
// and of layouts only what tiles include anyway.
TEST(Engine, TheDeviceSideIncludesNextToNothing) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(ZELLIGE_SOURCE_DIR "/include/zellige/emulate")) {
    ++files;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("#include <", 0) == 0) {
        EXPECT_TRUE(line == "#include <cstdint>" || line == "#include <cstddef>" ||
                    line == "#include <zellige/layout/composed.hpp>")
            << file.path() << ": " << line;
      }
    }
  }
  EXPECT_GE(files, 6);
}

// Each line is a finding of its own; twenty are kept.
template <int N>
__attribute__((always_inline)) inline void lines(In x) {
  if constexpr (N > 0) {
    (void)x[5000 + N];
    lines<N - 1>(x);
  }
}
__global__ void many(In x, Out) {
  for (unsigned i = 0; i < 100; ++i) (void)x[5000 + i + threadIdx.x];
  lines<30>(x);
}

TEST(Engine, SaysEachThingOnce) {
  Trial r(__FILE__, {4}, {64});
  EXPECT_EQ(r.run<many>().findings.size(), 2u);  // one a line of this file
}

TEST(Engine, ABufferRemembersWhatWasWritten) {
  Buffer b("B", 100);
  EXPECT_EQ(b.data()[99], 0xFF);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 256, 0u);
  EXPECT_FALSE(b.initialised(0, 1));
  b.mark_initialised(10, 20);
  EXPECT_TRUE(b.initialised(10, 20));
  EXPECT_FALSE(b.initialised(9, 2));
  b.mark_initialised();
  EXPECT_TRUE(b.initialised(0, 100));
  b.poison();
  EXPECT_FALSE(b.initialised(10, 20));
  EXPECT_THROW(b.mark_initialised(90, 11), Error);
}

}  // namespace
}  // namespace zellige::emulate
