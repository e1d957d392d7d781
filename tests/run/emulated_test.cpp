#include "run/emulated.hpp"

#include <cmath>
#include <cstdlib>

#include "failing.hpp"
#include "folder.hpp"
#include "kernel.hpp"
#include "toolchain/host_compiler.hpp"

namespace zellige::run {
namespace {

std::vector<Bytes> storage_of(const manifest::Manifest& m) {
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : m.tensors) {
    storage.push_back(t.role == manifest::Role::input ? pack(t, hand_input()) : poisoned(t));
  }
  return storage;
}

struct Emulated : testing::Test {
  Folder folder;
  toolchain::Cache cache{folder.path};
};

TEST_F(Emulated, HandWrittenProgramRuns) {
  const emit::EmittedProgram p = hand_written();
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  for (const auto& f : r.findings) ADD_FAILURE() << f.message;
  EXPECT_TRUE(r.complete);
  EXPECT_FALSE(r.library.cached);
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
  EXPECT_TRUE(run_emulated(p, again, cache, 2).library.cached);
  EXPECT_EQ(again, storage);
}

TEST_F(Emulated, ADeletedBarrierIsFound) {
  emit::EmittedProgram p = hand_written();
  p.source = changed(p.source, "  __syncthreads();\n", "\n");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].tensor, "tile");
}

TEST_F(Emulated, OutOfBoundsIsFoundAndNamesTensorAndLine) {
  emit::EmittedProgram p = hand_written();
  p.source = changed(p.source, "  s[i] =", "  s[i + 1] =");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, emulate::Finding::Kind::out_of_bounds);
  EXPECT_EQ(r.findings[0].tensor, "s");
  EXPECT_NE(r.findings[0].message.find("9"), std::string::npos) << r.findings[0].message;  // the line of the write
}

// X -> s -> t -> u -> Y by kernels that add one, or reverse; s and u share the workspace's first bytes.
emit::EmittedProgram shared_workspace() {
  emit::EmittedProgram p = hand_written();
  const manifest::TensorPlace X = p.manifest.tensors[0], s = p.manifest.tensors[1], Y = p.manifest.tensors[2];
  manifest::TensorPlace t = s, u = s;
  t.name = "t", t.offset = 512;
  u.name = "u";
  p.manifest.tensors = {X, s, t, u, Y};
  p.manifest.buffer_size = 1024;
  manifest::KernelLaunch increment = p.manifest.kernels[0], reverse = p.manifest.kernels[1];
  const auto between = [](manifest::KernelLaunch k, int from, int to) {
    k.tensors = {from, to};
    return k;
  };
  p.manifest.kernels = {between(increment, 0, 1), between(reverse, 1, 2), between(increment, 2, 3),
                        between(reverse, 3, 4)};
  return p;
}

TEST_F(Emulated, IntermediatesShareTheWorkspaceAndTheirContentsAreKept) {
  const emit::EmittedProgram p = shared_workspace();
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  for (const auto& f : r.findings) ADD_FAILURE() << f.message;
  const auto values = [&](std::size_t i) { return unpack(p.manifest.tensors[i], storage[i]); };
  for (std::size_t i = 0; i < 256; ++i) {
    ASSERT_EQ(values(1)[i], hand_input()[i] + 1);   // s, though u has taken its bytes
    ASSERT_EQ(values(3)[i], hand_output()[i] + 1);  // u
    ASSERT_EQ(values(4)[i], 2 * (2 * (hand_input()[i] + 1) + 1));
  }
}

// u is read where nothing has written it, and its bytes hold what s was.
TEST_F(Emulated, WhatAnotherTensorLeftInTheSameBytesIsUninitialised) {
  emit::EmittedProgram p = shared_workspace();
  p.manifest.kernels.erase(p.manifest.kernels.begin() + 2);
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].kind, emulate::Finding::Kind::uninitialised_read);
  EXPECT_EQ(r.findings[0].tensor, "u");
}

TEST_F(Emulated, PaddingOfAnInputIsNobodysToRead) {
  emit::EmittedProgram p = hand_written();
  manifest::TensorPlace& x = p.manifest.tensors[0];
  x.strides = {72, 1}, x.bytes = (3 * 72 + 64) * 2;
  p.source = changed(p.source, "X[i]", "X[blockIdx.x * 72 + threadIdx.x]");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun right = run_emulated(p, storage, cache, 1);
  for (const auto& f : right.findings) ADD_FAILURE() << f.message;
  EXPECT_EQ(unpack(p.manifest.tensors[2], storage[2]), hand_output());

  p.source = changed(p.source, "threadIdx.x] + 1.0f", "threadIdx.x + 1] + 1.0f");
  storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].message.substr(0, r.findings[0].message.find(" at ")),
            "uninitialised read of global tensor X: thread 63 (warp 1) of block (0,0,0) reads bytes 128..130");
  EXPECT_NE(r.findings[0].message.find(", of which some are padding: no element lies there"), std::string::npos);
  EXPECT_EQ(r.findings.back().kind,
            emulate::Finding::Kind::out_of_bounds);  // the last row has no next one
}

TEST_F(Emulated, ARegisterThatNothingWroteIsFoundByItsName) {
  emit::EmittedProgram p = hand_written();
  p.source = changed(p.source, "#include <zellige/atom/pointer.hpp>",
                     "#include <zellige/atom/pointer.hpp>\n#include <zellige/atom/vec.hpp>");
  p.source = changed(p.source, "  s[i] = zellige::half_t(X[i] + 1.0f);",
                     "  zellige::Vec<float, 2> both;\n  both[0] = X[i];\n  for (unsigned j = 0; j < "
                     "threadIdx.x; ++j) both[1] = 1;\n  const zellige::Vec<zellige::half_t, 1> "
                     "sum{zellige::half_t(both[0] + both[1])};\n  store(s + i, sum);");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, emulate::Finding::Kind::uninitialised_read);
  EXPECT_NE(r.findings[0].message.find("registers"), std::string::npos) << r.findings[0].message;
}

TEST_F(Emulated, WhatNobodyWroteIsFound) {
  emit::EmittedProgram p = hand_written();
  p.source = changed(p.source, "  s[i] =", "  if (i != 77) s[i] =");
  std::vector<Bytes> storage = storage_of(p.manifest);
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].kind, emulate::Finding::Kind::uninitialised_read);
  const std::vector<double> y = unpack(p.manifest.tensors[2], storage[2]);
  EXPECT_TRUE(std::isnan(y[64 + 63 - 13]));
}

TEST_F(Emulated, TextThatDoesNotCompileIsRefusedWithTheFirstErrors) {
  emit::EmittedProgram p = hand_written();
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
  emit::EmittedProgram p = hand_written();
  p.manifest.kernels[1].name = "other";
  std::vector<Bytes> storage = storage_of(p.manifest);
  EXPECT_EQ(message_of([&] { run_emulated(p, storage, cache); }),
            "emulator: the emitted source has no emulate_other, which the manifest's kernel other needs");
}

TEST_F(Emulated, ADamagedHeaderInTheCacheIsWrittenAgain) {
  const auto header = toolchain::header_folder(cache) / "zellige/atom/half.hpp";
  std::filesystem::resize_file(header, 10);
  toolchain::header_folder(cache);
  EXPECT_GT(std::filesystem::file_size(header), 1000u);
}

// The compiler is looked up once in a process: each of these runs in one of its own.
TEST_F(Emulated, NoCompilerIsOneMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto tell = [&](const char* compiler) {
    setenv("ZELLIGE_CXX", compiler, 1);
    try {
      toolchain::compile_for_emulator("int x;", "x", cache);
    } catch (const Error& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    std::exit(5);
  };
  EXPECT_EXIT(tell("no-such-compiler"), testing::ExitedWithCode(5),
              "^emulator: no C\\+\\+ compiler no-such-compiler on PATH; install g\\+\\+ 12 or newer, or set "
              "ZELLIGE_CXX\n$");
  EXPECT_EXIT(tell("/no/such/compiler"), testing::ExitedWithCode(5),
              "^emulator: no C\\+\\+ compiler /no/such/compiler; install g\\+\\+ 12 or newer, or set ZELLIGE_CXX\n$");
}

}  // namespace
}  // namespace zellige::run
