// What reaches the driver when a program is launched, on a driver that writes it down.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <thread>

#include "fake_gpu.hpp"
#include "refused.hpp"

namespace {

using zellige::Graph;
using zellige::Program;

const char* const two_kernels = R"({"zellige_graph": 1, "name": "two",
  "inputs": [{"name": "X", "dtype": "f32", "shape": [4, 8]}],
  "operators": [{"op": "softmax", "inputs": ["X"], "dim": 0, "outputs": ["T"]},
                {"op": "softmax", "inputs": ["T"], "dim": 1, "outputs": [{"name": "Y", "strides": [8, 1]}]}],
  "outputs": ["Y"]})";

template <class F>
F* driver(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(library, name));
}
FakeGpu& gpu() { return *driver<FakeGpu*()>("fake_gpu")(); }
std::string compiled() { return *driver<const std::string*()>("fake_cubin")(); }
void set_context(void* context) { driver<int(void*)>("cuCtxSetCurrent")(context); }
void* context() {
  void* now = nullptr;
  driver<int(void**)>("cuCtxGetCurrent")(&now);
  return now;
}
void* address(std::uintptr_t at) { return reinterpret_cast<void*>(at); }
void* const first = address(0x100);
void* const second = address(0x101);

zellige_tensor on_gpu(std::uintptr_t at, int device) {
  static const std::int64_t shape[] = {4, 8};
  return {address(at), 2, device, 2, 2, 32, 1, shape, nullptr, 0};
}

class Launch : public testing::Test {
 protected:
  void SetUp() override { gpu() = {}, set_context(nullptr); }
  void TearDown() override { EXPECT_EQ(gpu().wrong, std::vector<std::string>{}); }
};

TEST_F(Launch, TakesTheGpusOwnTarget) {
  char *target = nullptr, *why_not = nullptr;
  set_context(second);
  ASSERT_EQ(zellige_gpu(&target, &why_not), ZELLIGE_OK);
  EXPECT_EQ(zellige::detail::taken(target), "sm_90a");
  EXPECT_EQ(zellige::detail::taken(why_not), "");
  EXPECT_EQ(context(), second);
  EXPECT_EQ(Program(Graph::from_json(scaled)).text(ZELLIGE_TARGET), "sm_90a");
}

TEST_F(Launch, PassesAddressesAndStreamOn) {
  Program program(Graph::from_json(scaled), {ZELLIGE_ON_GPU});
  for (int i = 0; i < 3; ++i) program.launch({address(0x1000)}, {address(0x2000)}, address(0x77 + i));
  ASSERT_EQ(gpu().launches.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const FakeLaunch& l = gpu().launches[i];
    EXPECT_EQ(l.stream, address(0x77 + i));
    EXPECT_EQ(l.context, first) << "the standard device's, where the thread has none";
    EXPECT_EQ(l.arguments, (std::vector<std::uint64_t>{0x1000, 0x2000}));
    EXPECT_TRUE(l.early);
  }
  EXPECT_EQ(gpu().modules_loaded, 1);
  EXPECT_EQ(gpu().allocations, 0);
  EXPECT_EQ(
      why([&] { program.launch({address(0x1008)}, {address(0x2000)}, nullptr); }),
      "program scaled, input X: expected memory that begins at a multiple of 16 bytes, found 8 past one");
}

TEST_F(Launch, AFaultOfTheAssemblerIsNeverLaunchedAndEndsNoProcess) {
  gpu().faulty = true;
  const std::string other =
      R"({"zellige_graph": 1, "name": "never_sound", "inputs": [{"name": "X", "dtype": "f16", "shape": [8]}],
    "operators": [{"op": "exp", "inputs": ["X"], "outputs": ["Y"]}], "outputs": ["Y"]})";
  Program program(Graph::from_json(other), {ZELLIGE_ON_AUTO});
  EXPECT_EQ(program.text(ZELLIGE_NOTES), "");
  const std::string message =
      "kernel k: the LDGSTS at byte 0x0 takes its descriptor from UR1, also without cache hints: a known "
      "fault of NVRTC 13.0 "
      "(docs/hardware.md), which ends in an illegal instruction on the GPU; the program is not launched";
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(why([&] { program.launch({address(0x1000)}, {address(0x2000)}, nullptr); }), message);
  EXPECT_EQ(gpu().launches.size(), 0u);
}

TEST_F(Launch, ABrokenContextNamesProgramAndKernel) {
  Program program(Graph::from_json(scaled), {ZELLIGE_ON_GPU});
  gpu().launch_status = 715;
  const std::string message = why([&] { program.launch({address(0x1000)}, {address(0x2000)}, nullptr); });
  EXPECT_TRUE(message.starts_with("program scaled, kernel scaled_k0")) << message;
  EXPECT_NE(message.find("ended in an illegal instruction on the GPU (FAKE), and this process's GPU context "
                         "is gone with it; "
                         "restart the process"),
            message.npos)
      << message;
  EXPECT_NE(message.find("`zellige run GRAPH --dump FOLDER`"), message.npos) << message;
}

TEST_F(Launch, GoesToTheTensorsGpuAndLeavesTheContext) {
  Program program(Graph::from_json(scaled), {ZELLIGE_ON_AUTO});
  set_context(first);
  program.call({on_gpu(0x1000, 1)}, {on_gpu(0x2000, 1)});
  EXPECT_EQ(context(), first);
  set_context(nullptr);
  program.call({on_gpu(0x1000, 1)}, {on_gpu(0x2000, 1)}, address(0x5));
  EXPECT_EQ(context(), nullptr);
  ASSERT_EQ(gpu().launches.size(), 2u);
  EXPECT_EQ(gpu().launches[0].context, second);
  EXPECT_EQ(gpu().launches[1].context, second);
  EXPECT_EQ(gpu().launches[1].stream, address(0x5));
  EXPECT_EQ(gpu().modules_loaded, 1);
}

TEST_F(Launch, RefusesAGpuThatDoesNotRunItsCode) {
  Program program(Graph::from_json(scaled), {ZELLIGE_ON_GPU, "sm_90a"});
  EXPECT_EQ(why([&] { program.call({on_gpu(0x1000, 2)}, {on_gpu(0x2000, 2)}); }),
            "target sm_90a: its code does not run on the Fake GPU here, which is sm_80; choose --target "
            "sm_80 or --on emulator");
  EXPECT_EQ(why([&] { program.call({on_gpu(0x1000, 0)}, {on_gpu(0x2000, 1)}); }),
            "program scaled, output Y: expected it on cuda:0, where input X lies, found it on cuda:1");
  EXPECT_EQ(why([&] { program.call({on_gpu(0x1000, 7)}, {on_gpu(0x2000, 7)}); }),
            "GPU 7: this machine has 3 of them, counted from 0");
  program.call({on_gpu(0x1000, 0)}, {on_gpu(0x2000, 0)});
  EXPECT_EQ(gpu().launches.size(), 1u);
}

TEST_F(Launch, HasAWorkspaceForEachStreamAndEachCapture) {
  {
    Program program(Graph::from_json(two_kernels), {.on = ZELLIGE_ON_GPU, .as_given = true});
    ASSERT_GT(program.workspace(), 0);
    const auto launch = [&](std::uintptr_t stream, void* workspace = nullptr) {
      const std::size_t before = gpu().launches.size();
      program.launch({address(0x1000)}, {address(0x2000)}, address(stream), workspace);
      EXPECT_EQ(gpu().launches.size(), before + 2);
      return gpu().launches[before].arguments.back();  // where the first kernel writes
    };
    const std::uint64_t a = launch(1), b = launch(2);
    EXPECT_NE(a, b);
    EXPECT_EQ(launch(1), a);
    EXPECT_EQ(launch(1, address(0x4000)), 0x4000u);
    gpu().capturing = 9;
    const std::uint64_t captured = launch(1);
    EXPECT_EQ(launch(1), captured);
    gpu().capturing = 10;
    EXPECT_EQ((std::set<std::uint64_t>{a, b, captured, launch(1)}.size()), 4u);
    EXPECT_EQ(gpu().allocations_in_capture, 0);
    EXPECT_EQ(gpu().allocations, 4);
    set_context(second);
  }
  EXPECT_EQ(gpu().frees, 4);
  EXPECT_EQ(gpu().modules_unloaded, 1);
  EXPECT_EQ(context(), second);
}

TEST_F(Launch, AProgramMayOutliveTheDriver) {
  Program program(Graph::from_json(scaled));
  program.launch({address(0x1000)}, {address(0x2000)}, nullptr);
  gpu().gone = true;
  EXPECT_EQ(why([&] { program.launch({address(0x1000)}, {address(0x2000)}, nullptr); }),
            "GPU, the current context: fake (FAKE)");
}

TEST_F(Launch, ThreadsMayLaunchAtOnce) {
  Program program(Graph::from_json(two_kernels), {.as_given = true});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i)
        program.call({on_gpu(0x1000, t % 2)}, {on_gpu(0x2000, t % 2)},
                     address(static_cast<std::uintptr_t>(t + 1)));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(gpu().launches.size(), 800u);
  EXPECT_EQ(gpu().modules_loaded, 2);
  EXPECT_EQ(gpu().allocations, 4);
}

const std::string manifest = R"({"version": 1, "name": "given", "target": "sm_90a", "buffer_size": 256,
  "tensors": [
    {"name": "X", "role": "input", "position": 0, "dtype": "f32", "shape": [4, 8], "strides": [8, 1], "bytes": 128},
    {"name": "T", "role": "intermediate", "offset": 0, "dtype": "f32", "shape": [8], "strides": [1], "bytes": 32},
    {"name": "Y", "role": "output", "position": 0, "dtype": "f32", "shape": [4, 8], "strides": [8, 1], "bytes": 128}],
  "kernels": [{"name": "k", "grid": [3, 1, 1], "block": [64, 1, 1], "shared_bytes": 0, "programmatic": true,
    "arguments": [{"tensor": "X", "writes": false}, {"bytes": "2a00000000000000"}, {"tensor": "Y", "writes": true}]}]})";

struct Written : Launch {
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(Written, ProgramsAreLoadedByTheirManifests) {
  const std::string path = file("given.manifest.json", manifest);
  file("given.cubin", compiled());
  gpu().arguments_per_kernel = 3;
  Program program = Program::load(path);
  EXPECT_EQ(program.text(ZELLIGE_TARGET), "sm_90a");
  EXPECT_EQ(program.workspace(), 256);
  EXPECT_EQ(std::string(program.inputs().at(0).name), "X");
  program.launch({address(0x1000)}, {address(0x2000)}, address(0x77));
  program.call({on_gpu(0x1000, 1)}, {on_gpu(0x2000, 1)});
  ASSERT_EQ(gpu().launches.size(), 2u);
  for (const FakeLaunch& l : gpu().launches) {
    EXPECT_EQ(l.arguments, (std::vector<std::uint64_t>{0x1000, 42, 0x2000}));
    EXPECT_EQ(l.grid, 3u);
    EXPECT_EQ(l.block, 64u);
    EXPECT_TRUE(l.early);
  }
  EXPECT_EQ(gpu().modules_loaded, 2) << "once a context";
  zellige_tensor x = on_gpu(0x1000, 0), y = on_gpu(0x2000, 0);
  x.device_type = y.device_type = 1;
  EXPECT_EQ(why([&] { program.call({x}, {y}); }),
            "program given: was made for the GPU, expected tensors on it, found them on the host");
  EXPECT_EQ(why([&] { program.text(ZELLIGE_SOURCE); }),
            "program given: was loaded by its manifest, which has neither text nor plan");
  EXPECT_EQ(why([&] { program.time(); }),
            "program given: was loaded by its manifest; only what is compiled here from a graph is timed");
}

TEST_F(Written, MachineCodeWithAFaultOrHalfOfItIsNotLoaded) {
  const std::string path = file("given.manifest.json", manifest);
  const std::string whole = compiled();
  file("given.cubin", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(
      why([&] { Program::load(path); }),
      "program given: its machine code cannot be read: cubin: its headers name byte 176, and it has 168");
  gpu().faulty = true;
  file("given.cubin", compiled());
  EXPECT_EQ(
      why([&] { Program::load(path); }),
      "program given: its machine code would end in an illegal instruction on the GPU, so it is not "
      "launched: "
      "kernel k: the LDGSTS at byte 0x0 takes its descriptor from UR1 (a known fault of the assembler ptxas, "
      "docs/hardware.md); compile the program again, with this version of Zellige");
}

TEST_F(Written, WhatIsWrongWithAManifestIsSaid) {
  file("given.cubin", compiled());
  const auto said = [&](const std::string& from, const std::string& to) {
    std::string text = manifest;
    text.replace(text.find(from), from.size(), to);
    const std::string path = file("given.manifest.json", text), found = why([&] { Program::load(path); });
    return found.starts_with(path) ? found.substr(path.size()) : found;
  };
  EXPECT_EQ(said("\"f32\"", "\"f64\""),
            ".tensors[0].dtype: expected one of f16, bf16, f32, e4m3, e5m2, int8, int32, found \"f64\"");
  EXPECT_EQ(said("\"version\": 1", "\"version\": 2"), ".version: expected an integer from 1 to 1, found 2");
  EXPECT_EQ(said("[3, 1, 1]", "[3, 0, 1]"),
            ".kernels[0].grid[1]: expected an integer of at least 1, found 0");
  EXPECT_EQ(said("{\"tensor\": \"Y\"", "{\"tensor\": \"Z\""),
            ".kernels[0].arguments[2].tensor: expected a tensor's name, found \"Z\"");
  EXPECT_EQ(said("\"2a00", "\"2g00"),
            ".kernels[0].arguments[1].bytes: expected hexadecimal digits, found \"2g00000000000000\"");
  EXPECT_EQ(said("\"buffer_size\": 256,", ""), ": expected a field buffer_size, found none");
  EXPECT_EQ(said("\"strides\": [8, 1]", "\"strides\": [1]"),
            ".tensors[0].strides: expected 2 numbers, as shape has, found a list of 1");
  EXPECT_EQ(why([&] { Program::load("given.json"); }),
            "given.json: expected a manifest, NAME.manifest.json, with NAME.cubin beside it");
  file("given.cubin", "text");
  EXPECT_EQ(said("given", "given"), ": expected a cubin, which begins as ELF does, found 4 other bytes");
}

}  // namespace
