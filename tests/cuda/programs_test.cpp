// Programs in the style of public ones, as a user runs them: the right ones have no findings, and each injected fault is
// found. A program plants the fault whose number is its argument; its head lists them. A sample runs, and with
// ZELLIGE_ALL=1 all of them.
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace {

/// A fault of a program, and what a finding of it must contain.
struct InjectedFault {
  const char* program;
  int fault;
  const char* found;
};
void PrintTo(const InjectedFault& p, std::ostream* os) { *os << p.program << " " << p.fault; }

// Faults that are none have "".
constexpr InjectedFault injected[] = {
    {"vector_add", 1,
     "out of bounds on global tensor d_a: thread 232 (warp 7) of block (3,0,0) reads bytes 4000..4004"},
    {"vector_add", 2, "uninitialised read of global tensor d_a"},
    {"vector_add", 3, "memory of the device: the host reads d_c"},
    {"reduction", 1, "race on shared tensor s: thread 1"},
    {"reduction", 2, "race on shared tensor s: thread 98"},
    {"reduction", 3, "no __syncwarp or barrier lies between"},
    {"reduction", 4, "reads a lane that the mask leaves out"},
    {"reduction", 5, "race on shared tensor of_warp"},
    {"reduction", 6, "copies d_sums to the host, of which byte 92 has not been written"},
    {"scan", 1, "race on shared tensor buffer"},
    {"scan", 2, "race on shared tensor buffer"},
    {"scan", 3, "race on shared tensor s"},
    {"scan", 4, "uses index 512 of 'int [512]'"},
    {"histogram", 1, "race on shared tensor bins"},
    {"histogram", 2, "uninitialised read of shared tensor bins"},
    {"histogram", 3, "race on shared tensor bins"},
    {"histogram", 4, "added to them"},
    {"histogram", 5, "race between blocks on global tensor total"},
    {"transpose", 1, "race on shared tensor tile"},
    {"transpose", 2, "race between blocks on global tensor d_out"},
    {"transpose", 3, "out of bounds on global tensor d_in"},
    {"transpose", 4, ""},
    {"softmax", 1, "reads a lane that the mask leaves out, or that has returned"},
    {"softmax", 2, "reads a lane that the mask leaves out"},
    {"softmax", 3, "out of bounds on global tensor d_x"},
    {"softmax", 4, "race on shared tensor shared_max"},
    {"stencil", 1, "race on shared tensor s"},
    {"stencil", 2, "uninitialised read of shared tensor s"},
    {"stencil", 3, "uses index 70 of 'float [70]'"},
    {"stencil", 4, "write to a read-only tensor coefficients"},
    {"sgemm", 1, "race on shared tensor a"},
    {"sgemm", 2, "race on shared tensor b"},
    {"sgemm", 3, "out of bounds on global tensor A"},
    {"sgemm", 4, "misaligned address in global tensor B"},
    {"sgemm", 5, "uses index 16 of 'float [16][16]'"},
    {"bitonic", 1, "race on shared tensor s"},
    {"bitonic", 2, "race on shared tensor s"},
    {"bitonic", 3, "race between blocks on global tensor d_keys"},
    {"last_block", 1, "race between blocks on global tensor partial"},
    {"last_block", 2, "race between blocks on global tensor finished"},
    {"last_block", 3, "race on shared tensor last"},
    {"cooperative", 1, "race on global tensor d_a"},
    {"cooperative", 2, "the launch is not cooperative"},
    {"cooperative", 3, "reads a lane that the mask leaves out, or that has returned"},
    {"compact", 1, "race on global tensor d_count"},
    {"compact", 2, "wait in __ballot_sync"},
    {"compact", 3, "race on shared tensor positive"},
    {"matvec", 1, "out of bounds on shared tensor x_shared"},
    {"matvec", 2, "a block of 2048x1x1 has 2048 threads; it has at most 1024"},
    {"matvec", 3, "60000 bytes of dynamic shared memory; matvec has at most 49152"},
    {"matvec", 4, "it accesses d_x at matvec.cu:10, which is freed"},
    {"matvec", 5, "its destination is d_A on the device, its kind says memory of the host"},
    {"pipeline", 1, "the cp.async that thread 0 (warp 0) issued at pipeline.cu:13 is still in flight"},
    {"pipeline", 2, "race on shared tensor s"},
    {"pipeline", 3, "copies by cp.async into bytes 0..16 at pipeline.cu:13; thread 127 (warp 3) read them"},
    {"pipeline", 4, "copies 3 bytes at pipeline.cu:34; it copies 4, 8 or 16"},
    {"halves", 1, "misaligned address in global tensor d_a"},
    {"halves", 2, "out of bounds on global tensor d_gamma"},
    {"halves", 3, "reaches the block's barrier at halves.cu:34, thread 0 (warp 0) the one at halves.cu:41"},
    {"lock", 1, "deadlock of block (0,0,0): thread 0 has returned, each of threads 1..31 waits for memory to change"},
    {"lock", 6, "race on global tensor length"},
    {"lock", 2, "race between blocks on global tensor data"},
    {"lock", 3, "its assertion `int(threadIdx.x) < n` does not hold"},
    {"lock", 4, "16 of 64 threads, thread 0 (warp 0) first, reach the block's barrier"},
    {"lock", 5, "thread 0 is at lock.cu:44"},
    {"ptx", 1, "misaligned address in global tensor d_in"},
    {"ptx", 2, "out of bounds on global tensor d_in"},
    {"ptx", 3, "reads a lane that the mask leaves out, or that has returned"},
    {"ptx", 4, "race on shared tensor s"},
    {"ptx", 5, "ld.global.f32 gets an address of shared memory"},
    {"tma", 1, "race on shared tensor tile"},
    {"tma", 2, "missing fence on shared tensor tile"},
    {"tma", 3, "16 announced bytes have not come"},
    {"tma", 4, "no fence_mbarrier_init followed"},
    {"tma", 5, "misaligned address in shared tensor tile"},
    {"tma", 6, "race on shared tensor tile"},
    {"tma", 7, "race on shared tensor tile"},
    {"wgmma", 1, "no fence_mbarrier_init followed"},
    {"wgmma", 2, "race on shared tensor"},
    {"wgmma", 3, "no wgmma_fence lies between"},
    {"wgmma", 4, "reads accumulators that the wgmma at wgmma.cu"},
    {"wgmma", 5, "race on shared tensor"},
    {"wgmma", 6, "race on shared tensor"},
    {"wgmma", 7, "says swizzle none"},
    {"wgmma", 8, "deadlock of block"},
    {"wgmma", 9, "race on shared tensor"},
    {"attention", 1, "race on shared tensor"},
    {"attention", 2, "race on shared tensor"},
    {"attention", 3, "race on shared tensor"},
    {"attention", 4, "misaligned address in shared tensor q"},
    {"attention", 5, "which leaves its own lane"},
    {"attention", 6, "out of bounds on shared tensor v"},
    {"attention", 7, "out of bounds on global tensor d_k"},
    {"attention", 8, "thread 3"},
    {"ring", 1, "initialised it at"},
    {"ring", 2, "more arrivals than the 128"},
    {"ring", 3, "deadlock of block"},
    {"ring", 4, "race on shared tensor ring"},
    {"ring", 5, "there must be a multiple of 16"},
    {"ring", 6, "deadlock of block"},
    {"cluster", 1, "shared tensor smem"},
    {"cluster", 2, "shared tensor smem"},
    {"cluster", 3, "in block 2 of a cluster of 2"},
    {"cluster", 4, "race on shared tensor smem"},
    {"cluster", 5, "a grid of 3x1x1 blocks is no multiple of its clusters of 2x1x1"},
    {"cluster", 6, "out of bounds on shared tensor smem"},
    {"ntt", 1, "race on shared tensor s"},
    {"ntt", 2, "uses index"},
    {"ntt", 3, "out of bounds on global tensor d_roots"},
    {"ntt", 4, "uninitialised read of global tensor d_x"},
    {"ntt", 5, "reach the block's barrier"},
    {"ntt", 6, "race on shared tensor s"},
    {"libcu", 1, "race on shared tensor s"},
    {"libcu", 2, "race on shared tensor s"},
    {"libcu", 3, "race on global tensor d_x"},
    {"libcu", 4, "deadlock of block"},
    {"libcu", 5, "race on shared tensor s"},
    {"blas", 1, "cuBLAS at blas.cu:94 copies da to the host, of which byte 0 has not been written"},
    {"blas", 2, "cuBLAS at blas.cu:94: bytes 0..5172 of p, which has 1088"},
    {"blas", 3, "cuBLAS at blas.cu:94: its source is memory of the host"},
    {"wmma", 1, "race on shared tensor a_tile"},
    {"wmma", 2, "out of bounds on global tensor d_c"},
    {"wmma", 3, "wait in wmma::mma_sync at wmma.cu"},
    {"same_store", 1, "race on shared tensor any: thread 1"},
    {"same_store", 2, "race on shared tensor any"},
    {"same_store", 3, "race on shared tensor any: thread 63"},
};

std::string file_of(const std::string& program) {
  return std::string(ZELLIGE_SOURCE_DIR) + "/tests/cuda/programs/" + program + ".cu";
}
// The cache of all of these tests, so that each program is compiled once.
struct Programs : Command {
  static Folder& shared_cache() {
    static Folder folder;
    return folder;
  }
  Programs() { setenv("ZELLIGE_CACHE", (shared_cache() / "cache").c_str(), 1); }
  /// `jobs`: 1 for the same finding in each run; with several workers one of another thread may come first.
  zellige::system::Finished emulate(const std::string& program, int fault, const char* schedule, const char* jobs) {
    return run({"emulate", file_of(program), "--seconds", "1", "--jobs", jobs, "--schedule", schedule, "--",
                std::to_string(fault)});
  }
};
// Whether a test that is left out of the sample runs, too.
bool all_run() {
  const char* const all = std::getenv("ZELLIGE_ALL");
  return all && std::string_view(all) == "1";
}

struct InjectedFaults : Programs, testing::WithParamInterface<InjectedFault> {};
struct RightPrograms : Programs, testing::WithParamInterface<const char*> {};

TEST_P(InjectedFaults, AreFound) {
  const InjectedFault& p = GetParam();
  const zellige::system::Finished f = emulate(p.program, p.fault, "0", "1");
  EXPECT_EQ(f.status, *p.found ? 1 : 0) << f.output;
  EXPECT_NE(f.output.find(p.found), std::string::npos) << f.output;
}
std::vector<InjectedFault> sampled() {
  std::vector<InjectedFault> all(std::begin(injected), std::end(injected));
  if (!all_run()) std::erase_if(all, [](const InjectedFault& p) { return p.fault % 3 != 1; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, InjectedFaults, testing::ValuesIn(sampled()),
                         [](const auto& i) { return std::string(i.param.program) + std::to_string(i.param.fault); });

TEST_P(RightPrograms, HaveNoFindingsInAnyOrderOfThreads) {
  for (const char* schedule : {"0", "7"}) {
    if (*schedule != '0' && !all_run()) continue;
    const zellige::system::Finished f = emulate(GetParam(), 0, schedule, "0");
    EXPECT_EQ(f.status, 0) << f.output;
    EXPECT_NE(f.output.find("right\n"), std::string::npos) << f.output;
    EXPECT_NE(f.output.find("no findings in "), std::string::npos) << f.output;
  }
}
INSTANTIATE_TEST_SUITE_P(All, RightPrograms,
                         testing::Values("vector_add", "reduction", "scan", "histogram", "transpose", "softmax",
                                         "stencil", "sgemm", "bitonic", "last_block", "cooperative", "compact",
                                         "matvec", "lock", "pipeline", "features", "halves", "spellings", "ptx", "tma",
                                         "wgmma", "attention", "ring", "cluster", "ntt", "libcu", "blas", "wmma",
                                         "same_store", "libraries", "numbers", "host_api", "algorithms", "groups",
                                         "vectors"),
                         [](const auto& i) { return std::string(i.param); });

struct ExactSums : Programs {};
TEST_F(ExactSums, AreThoseOfAnH200) {
  const std::string file = file_of("exact");
  EXPECT_EQ(run({"emulate", file, "--exact"}).output, "0 of 35 differ\nno findings in 4 launches\n");
  EXPECT_NE(run({"emulate", file}).output, "0 of 35 differ\nno findings in 4 launches\n");
}

}  // namespace
