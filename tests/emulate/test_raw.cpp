// Kernels that take raw pointers and declare their shared memory: instructions find the tensors at these
// addresses.
#include "graph/error.hpp"
#include "kernel.hpp"

namespace zellige::emulate {
namespace {

alignas(1024) thread_local unsigned char declared[4096];

LaunchConfig raw(Trial& r) {
  LaunchConfig c = r.config;
  c.arguments.clear();
  c.writes.clear();
  c.parameters = {LaunchParameter::address_of(r.x, false), LaunchParameter::address_of(r.y, true)};
  c.shared_bytes = 4096;
  c.shared_memory = [] { return static_cast<unsigned char*>(declared); };
  return c;
}

template <bool waits>
__global__ void through_shared(const float* x, float* y) {
  auto* const s = reinterpret_cast<float*>(declared);
  const unsigned t = threadIdx.x;
  cp_async(known(s + 4 * t), known(x + 256 * blockIdx.x + 4 * t), 16, 16);
  cp_async_wait_all();
  if (waits) __syncthreads();
  y[64 * blockIdx.x + t] = known(s)[4 * (63 - t) + 1];  // <read>
}

TEST(Raw, InstructionsKnowWhatTheyPointInto) {
  Trial r(__FILE__, {4}, {64});
  EXPECT_EQ(messages(run(entry<through_shared<true>>, raw(r))), Messages{});
  for (int b = 0; b < 4; ++b)
    for (int t = 0; t < 64; ++t) EXPECT_EQ(r.out(64 * b + t), float(256 * b + 4 * (63 - t) + 1));
}

TEST(Raw, ARaceIsFound) {
  Trial r(__FILE__, {1}, {64});
  Messages const reports = messages(run(entry<through_shared<false>>, raw(r)));
  ASSERT_FALSE(reports.empty());
  for (const std::string& m : reports) {
    EXPECT_NE(m.find("shared tensor shared memory: thread "), std::string::npos) << m;
    EXPECT_NE(m.find("at " + line_of(__FILE__, "read")), std::string::npos) << m;
  }
}

__global__ void elsewhere(const float*, float* y) {
  float own[4] = {};
  const auto from = known(own);  // <own>
  cp_async(known(reinterpret_cast<float*>(declared)), from, 16, 16);
  y[0] = 1;
}

TEST(Raw, APointerIntoNoTensorIsRefused) {
  Trial r(__FILE__, {1}, {1});
  EXPECT_EQ(messages(run(entry<elsewhere>, raw(r))),
            Messages{"instruction at " + line_of(__FILE__, "own") +
                     ", thread 0 (warp 0) of block (0,0,0): an instruction gets a raw pointer into no tensor of the "
                     "launch, nor into the block's dynamic shared memory"});
}

std::string refusal(const LaunchConfig& config) {
  try {
    run(entry<through_shared<true>>, config);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Raw, DeclaredMemoryIsOneBlocksAndAligned) {
  Trial r(__FILE__, {4}, {64});
  LaunchConfig c = raw(r);
  c.cluster = {2, 1, 1};
  EXPECT_EQ(refusal(c),
            "emulator: the kernel declares its shared memory, which is one block's; the launch has clusters "
            "of 2x1x1 "
            "blocks");
  c = raw(r);
  c.shared_bytes = 1024;
  c.shared_memory = [] { return static_cast<unsigned char*>(declared) + 16; };
  EXPECT_EQ(refusal(c),
            "emulator: the kernel's shared memory lies 16 bytes above a multiple of 1024; alignas(1024) "
            "puts it on "
            "one");
}

}  // namespace
}  // namespace zellige::emulate
