#include "toolchain/nvrtc.hpp"

#include <map>

#include "../run/failing.hpp"
#include "../run/folder.hpp"
#include "../run/kernel.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "json/json.hpp"
#include "target/target.hpp"
#include "toolchain/machine_code.hpp"

namespace zellige::toolchain {
namespace {

struct Nvrtc : testing::Test {
  void SetUp() override {
    try {
      nvrtc_version();
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  Folder folder;
  Cache cache{folder.path};
};

TEST_F(Nvrtc, CompilesAndCaches) {
  const std::string source = hand_written().source;
  const Cubin made = compile_cubin(source, "sm_90a", cache);
  EXPECT_FALSE(made.cached);
  EXPECT_EQ(made.bytes.substr(1, 3), "ELF");
  EXPECT_GT(made.compile_ms, 0);
  const Cubin again = compile_cubin(source, "sm_90a", cache);
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.bytes, made.bytes);
  EXPECT_EQ(again.compile_ms, made.compile_ms);
  EXPECT_FALSE(compile_cubin(source, "sm_80", cache).cached) << "another target is another kernel";
  RecordProperty("compile_ms", static_cast<int>(made.compile_ms));
}

// NVRTC is not nvcc: it knows none of the host compiler's own words.
TEST_F(Nvrtc, CompilesWhatIsEmitted) {
  const graph::KernelGraph lora = json::load(ZELLIGE_SOURCE_DIR "/examples/lora.json").front(),
                           gemm = json::load(ZELLIGE_SOURCE_DIR "/examples/gemm.json").front();
  EXPECT_EQ(compile_cubin(test::transpile(lora, target::find("sm_80")).source, "sm_80", cache).bytes.substr(1, 3),
            "ELF");
  for (const std::string target : {"sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"}) {
    const std::string source = test::transpile(gemm, target::find(target)).source;
    EXPECT_EQ(source.find("TensorProducts<") != source.npos, target == "sm_100a" || target == "sm_103a") << target;
    const std::string cubin = compile_cubin(source, target, cache).bytes;
    EXPECT_EQ(cubin.substr(1, 3), "ELF") << target;
    EXPECT_EQ(compute_capability(cubin), target::find(target).compute_capability);
  }
}

TEST_F(Nvrtc, ACubinSaysWhatItsKernelsTake) {
  const std::string source = R"(struct Map { char bytes[128]; };
extern "C" __global__ void __launch_bounds__(96) k(const __grid_constant__ Map m, const float* p, int n, char c, double d) {
  if (n) ((float*)p)[0] = m.bytes[0] + c + d;
}
extern "C" __global__ void empty() {}
)";
  for (const std::string architecture : {"sm_80", "sm_90a"}) {
    const std::string cubin = compile_cubin(source, architecture, cache).bytes;
    EXPECT_EQ(compute_capability(cubin), std::stoi(architecture.substr(3)));
    std::map<std::string, KernelInterface> found;
    for (const KernelInterface& k : kernel_interfaces(cubin)) found[k.name] = k;
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found["k"].parameter_bytes, (std::vector<std::int64_t>{128, 8, 4, 1, 8}));
    EXPECT_EQ(found["k"].max_threads, 96);
    EXPECT_EQ(found["empty"].parameter_bytes, std::vector<std::int64_t>{});
  }
}

TEST_F(Nvrtc, ManifestsSayWhatTheirKernelsTake) {
  for (const auto& [example, target] :
       std::vector<std::pair<std::string, std::string>>{{"lora", "sm_80"}, {"gemm", "sm_90a"}, {"mlp", "sm_90a"}}) {
    const graph::KernelGraph g = json::load(ZELLIGE_SOURCE_DIR "/examples/" + example + ".json").front();
    const emit::EmittedProgram p = test::transpile(g, target::find(target));
    const std::string cubin = compile_cubin(p.source, target, cache).bytes;
    EXPECT_NO_THROW(require_interfaces(p.manifest, cubin)) << example;
    manifest::Manifest fewer = p.manifest;
    fewer.kernels[0].tensors.pop_back(), fewer.kernels[0].writes.pop_back();
    EXPECT_THROW(require_interfaces(fewer, cubin), Error) << example;
  }
}

TEST_F(Nvrtc, AnEntryThatIsNotOfItsKeyIsCompiledAgainAndNoted) {
  const std::string source = hand_written().source;
  const Cubin made = compile_cubin(source, "sm_80", cache), other = compile_cubin(source, "sm_90a", cache);
  std::vector<std::filesystem::path> entries;
  for (const auto& f : std::filesystem::recursive_directory_iterator(folder.path))
    if (f.path().extension() == ".cubin") entries.push_back(f.path());
  ASSERT_EQ(entries.size(), 2u);
  std::filesystem::copy_file(entries[0], entries[1], std::filesystem::copy_options::overwrite_existing);
  const Cubin again = compile_cubin(source, "sm_80", cache), others = compile_cubin(source, "sm_90a", cache);
  EXPECT_NE(again.cached, others.cached);
  EXPECT_EQ(again.bytes, made.bytes);
  EXPECT_EQ(others.bytes, other.bytes);
  const std::string note = again.cached ? others.note : again.note;
  EXPECT_TRUE(note.starts_with("the kernel cache's ")) << note;
  EXPECT_NE(note.find(" is not used, and made again: it is the entry of the key "), note.npos) << note;
  EXPECT_EQ(compile_cubin(source, "sm_80", cache).note, "");
  EXPECT_TRUE(compile_cubin(source, "sm_90a", cache).cached);
}

TEST_F(Nvrtc, TheLogOfAFailureIsInTheMessage) {
  const std::string bad = changed(hand_written().source, "threadIdx.x;", "no_such_name;");
  const std::string message = message_of([&] { compile_cubin(bad, "sm_80", cache); });
  EXPECT_EQ(message.find("NVRTC " + nvrtc_version() + " does not compile the kernel: NVRTC_ERROR_COMPILATION\n"), 0u)
      << message;
  EXPECT_NE(message.find("identifier \"no_such_name\" is undefined"), std::string::npos) << message;
}

/// The smallest program that ptxas assembles incorrectly (docs/reference/hardware.md); with `guarded`, hints
/// can be disabled.
std::string faulty(bool guarded) {
  const std::string copy =
      R"(    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(tile) + 4096 * (i & 3) + 16 * threadIdx.x),
                 "l"(from + 4096ll * i + 16 * threadIdx.x), "l"(0x12f0000000000000));
)";
  const std::string simple = changed(changed(copy, ".L2::cache_hint", ""), R"(16, %2;")", R"(16;")");
  return R"(extern "C" __global__ void k(const char* from, int n) {
  extern __shared__ char tile[];
  for (int i = 0; i < n; ++i)
)" +
         (guarded ? "#if defined(ZELLIGE_NO_CACHE_HINTS)\n" + changed(simple, R"(, "l"(0x12f0000000000000))", "") +
                        "#else\n" + copy + "#endif\n"
                  : copy) +
         "}\n";
}

/// True if this NVRTC has the bug.
bool is_faulty(const Cache& cache) {
  try {
    compile_cubin(faulty(false), "sm_90a", cache);
    return false;
  } catch (const Fault&) {
    return true;
  }
}

TEST_F(Nvrtc, AFaultOfTheAssemblerIsCompiledAgainWithoutHintsAndNoted) {
  if (!is_faulty(cache)) GTEST_SKIP() << "NVRTC " << nvrtc_version() << " assembles the smallest program rightly";
  const Cubin made = compile_cubin(faulty(true), "sm_90a", cache);
  EXPECT_TRUE(odd_descriptors(made.bytes).empty());
  EXPECT_TRUE(made.note.starts_with("kernel k: the LDGSTS at byte 0x")) << made.note;
  const std::string end = fmt::format(
      ": a known fault of NVRTC {} (docs/reference/hardware.md); compiled again without cache hints", nvrtc_version());
  EXPECT_TRUE(made.note.ends_with(end)) << made.note;
  const Cubin again = compile_cubin(faulty(true), "sm_90a", cache);
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.note, made.note);
  EXPECT_EQ(again.bytes, made.bytes);
}

TEST_F(Nvrtc, AFaultOfTheAssemblerThatRemainsIsNeverLaunched) {
  if (!is_faulty(cache)) GTEST_SKIP() << "NVRTC " << nvrtc_version() << " assembles the smallest program rightly";
  const std::string message = message_of([&] { compile_cubin(faulty(false), "sm_90a", cache); });
  EXPECT_TRUE(message.starts_with("kernel k: the LDGSTS at byte 0x")) << message;
  EXPECT_TRUE(message.ends_with(
      fmt::format(", also without cache hints: a known fault of NVRTC {} (docs/reference/hardware.md), which "
                  "ends in an illegal instruction on the GPU; the program is not launched",
                  nvrtc_version())))
      << message;
  EXPECT_THROW(compile_cubin(faulty(false), "sm_90a", cache), Fault) << "and it is not kept";
}

// The rule: a copy with a policy goes to an address that cannot be split, whatever part of it the warp shares.
TEST_F(Nvrtc, CopiesWithAPolicyNeedNoUniformAddress) {
  for (const char* to : {"tile + 1024 * (i & 3) + 4 * threadIdx.x", "tile + 1024 * (i & 3)", "tile"})
    for (const char* valid : {"", "valid, "})
      for (const char* when : {"", "if (threadIdx.x == 0) ", "if (threadIdx.x < valid) "})
        for (const char* threads : {"256", "1"})
          for (const char* architecture : {"sm_80", "sm_90a"}) {
            const std::string source = fmt::format(
                "#include <zellige/atom/cp_async.hpp>\n"
                "extern \"C\" __global__ void __launch_bounds__({}) k(const float* from, int n, unsigned "
                "valid) {{\n"
                "  extern __shared__ float tile[];\n"
                "  for (int i = 0; i < n; ++i)\n"
                "    {}zellige::cp_async_hint<16>({}, from + 1024ll * i + 4 * threadIdx.x, "
                "{}zellige::CacheHint::evict_first);\n"
                "}}\n",
                threads, when, to, valid);
            const Cubin made = compile_cubin(source, architecture, cache);
            EXPECT_EQ(made.note, "") << source;
            EXPECT_FALSE(descriptors(made.bytes).empty()) << source;
          }
}

}  // namespace
}  // namespace zellige::toolchain
