// The driver calls of a program's launch, on a recording driver.
#include "launch.hpp"

#include <set>
#include <thread>

namespace {

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
  EXPECT_EQ(why([&] { program.launch({address(0x1008)}, {address(0x2000)}, nullptr); }),
            "program scaled, input X: expected memory that begins at a multiple of 16 bytes, found 8 above one");
}

TEST_F(Launch, WhatWasCompiledBeforeIsOnlyLoaded) {
  Program program(Graph::from_json(scaled)), emulated(Graph::from_json(scaled), {ZELLIGE_ON_EMULATOR});
  std::thread([&] { program.compile(); }).join();
  program.compile();
  EXPECT_EQ(gpu().modules_loaded, 0);
  program.launch({address(0x1000)}, {address(0x2000)}, nullptr);
  EXPECT_EQ(gpu().modules_loaded, 1);
  EXPECT_EQ(gpu().launches.size(), 1u);
  EXPECT_EQ(why([&] { emulated.compile(); }),
            "program scaled: was made for the emulator; only what runs on a GPU is compiled for one");
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
      "(docs/reference/hardware.md), which ends in an illegal instruction on the GPU; the program is not "
      "launched";
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
  EXPECT_EQ(gpu().frees, 2) << "the captured graphs may be replayed";
  EXPECT_EQ(gpu().modules_unloaded, 0);
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
        program.call({on_gpu(0x1000, t % 2)}, {on_gpu(0x2000, t % 2)}, address(static_cast<std::uintptr_t>(t + 1)));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(gpu().launches.size(), 800u);
  EXPECT_EQ(gpu().modules_loaded, 2);
  EXPECT_EQ(gpu().allocations, 4);
}

}  // namespace
