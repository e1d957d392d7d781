// What `zellige emulate` prints of faults, word for word.
#include <fstream>

#include "cli/command.hpp"

namespace {

struct EmulateMessages : Command {
  /// That a program prints exactly this and ends with the status.
  void expect_of(const std::string& source, int status, const std::string& output) {
    std::ofstream(path("k.cu")) << source;
    expect({"emulate", path("k.cu")}, status, output);
  }
};

TEST_F(EmulateMessages, NameBothLinesOfARaceAndItsMend) {
  expect_of(
      R"(__global__ void flip(float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;

  y[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
  float* y;
  cudaMalloc(&y, 64 * sizeof(float));
  flip<<<1, 64>>>(y);
}
)",
      1,
      "uninitialised read of shared tensor s: thread 0 (warp 0) of block (0,0,0) reads bytes 252..256 at k.cu:5, which "
      "nothing has written\n"
      "race on shared tensor s: thread 32 (warp 1) of block (0,0,0) writes bytes 128..132 at k.cu:3; thread 31 (warp "
      "0) "
      "read them at k.cu:5 and no barrier lies between\n"
      "  mend: __syncthreads() between k.cu:3 and k.cu:5\n"
      "race on shared tensor s: thread 32 (warp 1) of block (0,0,0) reads bytes 124..128 at k.cu:5; thread 31 (warp 0) "
      "wrote them at k.cu:3 and no barrier lies between\n"
      "  mend: __syncthreads() between k.cu:3 and k.cu:5\n"
      "3 findings in 1 launch\n");
}

TEST_F(EmulateMessages, NameTheTensorAndBothNumbersOfAnAccessOutOfBounds) {
  expect_of(R"(__global__ void fill(int* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main() {
  int* y;
  cudaMalloc(&y, 100 * sizeof(int));
  fill<<<2, 64>>>(y);
}
)",
            1,
            "out of bounds on global tensor y: thread 36 (warp 1) of block (1,0,0) writes bytes 400..404 at k.cu:1; "
            "the tensor "
            "has 400\n"
            "  mend: guard k.cu:1 by a comparison with the number of elements\n"
            "1 finding in 1 launch\n");
}

TEST_F(EmulateMessages, SayWhoWaitsWhereInADeadlock) {
  expect_of(R"(__device__ int flag;
__global__ void wait() {
  if (threadIdx.x < 32)
    while (atomicAdd(&flag, 0) == 0) {
    }
  else
    __syncthreads();
}
int main() { wait<<<1, 64>>>(); }
)",
            1,
            "deadlock of block (0,0,0): each of threads 0..31 waits for memory to change at k.cu:4, each of threads "
            "32..63 waits "
            "at the block's barrier at k.cu:7\n"
            "  mend: let every thread of the block reach the same __syncthreads(): move it out of the branch, or do "
            "not return "
            "before it\n"
            "1 finding in 1 launch\n");
}

TEST_F(EmulateMessages, SayThatAProgramEndedWithItsOwnStatus) {
  expect_of("int main() { return 3; }\n", 1, "the program ended with status 3\nno findings in 0 launches\n");
}

TEST_F(EmulateMessages, SayTheStatusOfAProgramThatCallsExit) {
  expect_of("#include <cstdlib>\nint main() { exit(4); }\n", 1,
            "the program ended with status 4\nno findings in 0 launches\n");
}

TEST_F(EmulateMessages, KeepWhatWasFoundBeforeCtrlC) {
  expect_of(
      R"(#include <csignal>
#include <cstdio>
__global__ void fill(int* y) { y[threadIdx.x] = 1; }
int main() {
  int* y;
  cudaMalloc(&y, 32 * sizeof(int));
  fill<<<1, 33>>>(y);
  raise(SIGINT);
  fill<<<1, 32>>>(y);
  puts("not reached");
}
)",
      130,
      "out of bounds on global tensor y: thread 32 (warp 1) of block (0,0,0) writes bytes 128..132 at k.cu:3; the "
      "tensor has 128\n"
      "  mend: guard k.cu:3 by a comparison with the number of elements\n"
      "interrupted; found so far:\n"
      "1 finding in 2 launches\n");
}

TEST_F(EmulateMessages, NameAnInstructionOfPtxThatIsUnknown) {
  std::ofstream(path("k.cu"))
      << "#define STOP asm volatile(\"exit.now;\")\n__global__ void k() {\n  STOP;\n}\nint main() { k<<<1, "
         "1>>>(); }\n";
  expect({"emulate", path("k.cu")}, 1,
         "instruction at k.cu:3, the emulator does not run exit.now\n1 finding in 1 launch\n");
}

TEST_F(EmulateMessages, NameALaunchFromAKernel) {
  std::ofstream(path("k.cu"))
      << "__global__ void a() {}\n__global__ void b() { a<<<1, 1>>>(); }\nint main() { b<<<1, 1>>>(); }\n";
  expect(
      {"emulate", path("k.cu")}, 2,
      "zellige: " + path("k.cu") + ":2: a: the emulator does not run a launch from a kernel (dynamic parallelism)\n");
}

TEST_F(EmulateMessages, RefuseALaunchFromAKernelInAFunctionOfHostAndDevice) {
  const std::string program =
      "__global__ void a(int* p) { *p = 1; }\n__host__ __device__ void f(int* p) { a<<<1, 1>>>(p); }\n"
      "__global__ void b(int* p) { f(p); }\nint main(int n, char**) {\n  int* p;\n  cudaMallocManaged(&p, 4);\n"
      "  f(p);\n  if (*p == 1) b<<<1, 1>>>(p);\n}\n";
  expect_of(program, 1,
            "instruction of thread 0 (warp 0) of block (0,0,0): at k.cu:2 it launches a (dynamic parallelism), which "
            "the emulator "
            "does not run\n1 finding in 2 launches\n");
}

TEST_F(EmulateMessages, NameAHeaderThatIsMissing) {
  std::ofstream(path("k.cu")) << "#include <cstdio>\n#include <none/of_these.h>\nint main() {}\n";
  const zellige::system::Finished f = run({"emulate", path("k.cu")});
  EXPECT_EQ(f.status, 2);
  EXPECT_EQ(f.output,
            "zellige: " + path("k.cu") +
                ":2:10: #include of none/of_these.h: the emulator has no such header; -I names the folders of yours\n");
}

TEST_F(EmulateMessages, NameAFunctionThatNobodyHas) {
  std::ofstream(path("k.cu")) << "extern \"C\" int of_a_library(int);\nint main() { return of_a_library(1); }\n";
  expect({"emulate", path("k.cu")}, 2,
         "zellige: emulate: " + path("k.cu") + " calls of_a_library, which neither it nor the emulator has\n");
}

TEST_F(EmulateMessages, SayWhatAnUncaughtExceptionSays) {
  expect_of(
      "#include <stdexcept>\n#include <vector>\nint main() {\n  std::vector<int> freed(3);\n"
      "  throw std::runtime_error(\"expected 4 rows, found 3\");\n}\n",
      1,
      "an exception ends the program: expected 4 rows, found 3\nthe program ended with status 134\n"
      "no findings in 0 launches\n");
}

TEST_F(EmulateMessages, NameAFileThatIsMissing) {
  const zellige::system::Finished f = run({"emulate", path("none.cu")});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.output.find("none.cu"), std::string::npos) << f.output;
}

}  // namespace
