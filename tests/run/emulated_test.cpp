#include "run/emulated.hpp"

#include <cmath>
#include <cstdlib>

#include "failing.hpp"
#include "folder.hpp"
#include "kernel.hpp"
#include "run/host_compiler.hpp"

namespace zellige::run {
namespace {

std::vector<Bytes> storage_of(const emit::Manifest& m) {
  std::vector<Bytes> storage;
  for (const emit::TensorPlace& t : m.tensors) {
    storage.push_back(t.role == emit::Role::input ? pack(t, hand_input()) : poisoned(t));
  }
  return storage;
}

struct Emulated : testing::Test {
  Folder folder;
  Cache cache{folder.path};
};

TEST_F(Emulated, HandWrittenProgramRuns) {
  const emit::Program p = hand_written();
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  for (const auto& f : r.findings) ADD_FAILURE() << f.message;
  EXPECT_TRUE(r.complete);
  EXPECT_FALSE(r.compile_cached);
  EXPECT_EQ(unpack(p.manifest.tensors[2], storage[2]), hand_output());
  ASSERT_EQ(r.kernels.size(), 2u);
  const auto counters = named(r.kernels[1].counters);
  auto value = [&](const std::string& name) {
    for (const auto& [n, v] : counters) {
      if (n == name) return v;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(value("barrier"), 4u);
  EXPECT_EQ(value("global_load_2"), 256u);
  EXPECT_EQ(value("shared_store_2"), 256u);
  EXPECT_EQ(value("mma"), 0u);

  std::vector<Bytes> again = storage_of(p.manifest);
  EXPECT_TRUE(run_emulated(p, again, cache, 2).compile_cached);
  EXPECT_EQ(again, storage);
}

TEST_F(Emulated, ADeletedBarrierIsFound) {
  emit::Program p = hand_written();
  p.source = changed(p.source, "  __syncthreads();\n", "\n");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].tensor, "tile");
}

TEST_F(Emulated, OutOfBoundsIsFoundAndNamesTensorAndLine) {
  emit::Program p = hand_written();
  p.source = changed(p.source, "  s[i] =", "  s[i + 1] =");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, emulate::Finding::Kind::out_of_bounds);
  EXPECT_EQ(r.findings[0].tensor, "s");
  EXPECT_NE(r.findings[0].message.find("9"), std::string::npos)
      << r.findings[0].message;  // the line of the write
}

TEST_F(Emulated, WhatNobodyWroteIsFound) {
  emit::Program p = hand_written();
  p.source = changed(p.source, "  s[i] =", "  if (i != 77) s[i] =");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, emulate::Finding::Kind::uninitialised_read);
  const std::vector<double> y = unpack(p.manifest.tensors[2], storage[2]);
  EXPECT_TRUE(std::isnan(y[64 + 63 - 13]));
}

TEST_F(Emulated, TextThatDoesNotCompileIsRefusedWithTheFirstErrors) {
  emit::Program p = hand_written();
  p.source = changed(p.source, "threadIdx.x;", "no_such_name;");
  const std::string message = message_of([&] {
    std::vector<Bytes> storage = storage_of(p.manifest);
    run_emulated(p, storage, cache);
  });
  EXPECT_NE(message.find("does not compile hand.cu (status 1):\n"), std::string::npos) << message;
  EXPECT_NE(message.find("'no_such_name' was not declared"), std::string::npos) << message;
  int left = 0;
  for (const auto& f : std::filesystem::directory_iterator(folder / "scratch")) left += f.exists();
  EXPECT_EQ(left, 0);
}

TEST_F(Emulated, AKernelWithoutItsEntryIsRefused) {
  emit::Program p = hand_written();
  p.manifest.kernels[1].name = "other";
  std::vector<Bytes> storage = storage_of(p.manifest);
  EXPECT_EQ(message_of([&] { run_emulated(p, storage, cache); }),
            "emulator: the emitted text has no emulate_other, which the manifest's kernel other needs");
}

TEST_F(Emulated, ADamagedHeaderInTheCacheIsWrittenAgain) {
  const auto header = header_folder(cache) / "zellige/atom/half.hpp";
  std::filesystem::resize_file(header, 10);
  header_folder(cache);
  EXPECT_GT(std::filesystem::file_size(header), 1000u);
}

// The compiler is looked up once in a process: each of these runs in one of its own.
TEST_F(Emulated, NoCompilerIsOneMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto tell = [&](const char* compiler) {
    setenv("ZELLIGE_CXX", compiler, 1);
    try {
      compile_for_emulator("int x;", "x", cache);
    } catch (const Error& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    std::exit(5);
  };
  EXPECT_EXIT(tell("no-such-compiler"), testing::ExitedWithCode(5),
              "^emulator: no C\\+\\+ compiler no-such-compiler on PATH; install g\\+\\+ 12 or newer, or set "
              "ZELLIGE_CXX\n$");
  EXPECT_EXIT(
      tell("/no/such/compiler"), testing::ExitedWithCode(5),
      "^emulator: no C\\+\\+ compiler /no/such/compiler; install g\\+\\+ 12 or newer, or set ZELLIGE_CXX\n$");
}

}  // namespace
}  // namespace zellige::run
