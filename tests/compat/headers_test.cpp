// CUTLASS's and CuTe's headers for Hopper through nvcc: a unit that uses all of them compiles without a
// warning; what is not there is refused in one sentence. Skipped where there is no nvcc.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Said {
  int status = 0;
  std::string text;
};
Said run(std::string const& command) {
  Said said;
  std::FILE* out = popen((command + " 2>&1").c_str(), "r");
  char line[4000];
  while (std::fgets(line, sizeof line, out) != nullptr) said.text += line;
  said.status = pclose(out);
  return said;
}
bool have_nvcc() { return run("nvcc --version").status == 0; }

std::string const flags = " -std=c++20 -I " ZELLIGE_SOURCE_DIR "/compat -I " ZELLIGE_SOURCE_DIR "/include ";
std::string file_of(std::string const& name, std::string const& text) {
  std::string const file = testing::TempDir() + "zellige_compat_" + name;
  std::ofstream(file) << text;
  return file;
}

TEST(CompatHeaders, AHopperKernelInCutlasssWordsCompiles) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const object = testing::TempDir() + "zellige_compat_hopper.o";
  Said const said = run("nvcc" + flags + "-gencode arch=compute_90a,code=sm_90a -c -Werror all-warnings -o " +
                        object + " " ZELLIGE_SOURCE_DIR "/tests/compat/hopper.cu");
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.text, "");
}

// Every call of members.cu is in the PTX: the comment behind it says as what, and how often.
TEST(CompatHeaders, OperationsAreCalledByTheirStaticFunctions) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = ZELLIGE_SOURCE_DIR "/tests/compat/members.cu";
  std::string const ptx = testing::TempDir() + "zellige_compat_members.ptx";
  Said const said =
      run("nvcc" + flags + "-gencode arch=compute_90a,code=sm_90a --ptx -o " + ptx + " " + unit);
  ASSERT_EQ(said.status, 0) << said.text;
  std::stringstream all, source;
  all << std::ifstream(ptx).rdbuf();
  source << std::ifstream(unit).rdbuf();
  std::string const text = all.str(), calls = source.str();
  std::regex const wanted(R"(; +// ([a-z]\S*\.\S*)\n)");
  int found = 0;
  for (std::sregex_iterator i(calls.begin(), calls.end(), wanted), end; i != end; ++i, ++found)
    EXPECT_NE(text.find((*i)[1].str()), std::string::npos) << "no " << (*i)[1] << " in the PTX";
  EXPECT_GE(found, 25);
}

// What Zellige has no instructions of is CUTLASS's own where it stands behind on the path, else nothing.
TEST(CompatHeaders, HeadersOfOtherArchitecturesFallThrough) {
  for (std::string const header : {"cute/arch/mma_sm100_umma.hpp", "cute/arch/tmem_allocator_sm100.hpp",
                                   "cute/atom/mma_traits_sm120.hpp", "cute/arch/mma_sm90_gmma_sparse.hpp"}) {
    std::string const unit = file_of(
        "other.cpp", "#include <" + header + ">\n#ifdef BEHIND\nint behind = 1;\n#endif\nint main() {}\n");
    Said const alone = run(ZELLIGE_CXX + flags + "-fsyntax-only " + unit);
    EXPECT_EQ(alone.status, 0) << header << ": " << alone.text;
    std::filesystem::path const root = std::filesystem::path(testing::TempDir()) / "zellige_compat_behind";
    std::filesystem::create_directories((root / header).parent_path());
    std::ofstream(root / header) << "#error CUTLASS's own " << header << "\n";
    Said const behind = run(ZELLIGE_CXX + flags + "-I " + root.string() + " -fsyntax-only " + unit);
    EXPECT_NE(behind.text.find("CUTLASS's own " + header), std::string::npos)
        << header << ": " << behind.text;
    std::filesystem::remove_all(root);
  }
}

// The number types are those of the CUTLASS behind us: here a CUTLASS of one header, for each of them.
struct Number {
  char const* ours;
  char const* theirs;
  std::vector<char const*> names;
};
TEST(CompatHeaders, NumberTypesAreThoseOfTheCutlassBehind) {
  Number const numbers[] = {{"zellige/atom/half.hpp", "cutlass/half.h", {"half_t"}},
                            {"zellige/atom/bfloat16.hpp", "cutlass/bfloat16.h", {"bfloat16_t"}},
                            {"zellige/atom/tfloat32.hpp", "cutlass/tfloat32.h", {"tfloat32_t"}},
                            {"zellige/atom/float8.hpp", "cutlass/float8.h", {"float_e4m3_t", "float_e5m2_t"}},
                            {"zellige/numeric/uint128.hpp", "cutlass/uint128.h", {"uint128_t"}}};
  for (Number const& n : numbers) {
    std::filesystem::path const root = std::filesystem::path(testing::TempDir()) / "zellige_compat_numbers";
    std::filesystem::create_directories(root / "cutlass");
    std::ofstream theirs(root / n.theirs);
    std::string checks;
    for (std::string const name : n.names) {
      theirs << "namespace cutlass { struct " << name << " { float theirs; }; }\n";
      checks += "static_assert(sizeof(zellige::" + name + "::theirs) == 4);\n";
    }
    theirs.close();
    std::string const unit = file_of("number.cpp", "#include <" + std::string(n.ours) + ">\n" + checks);
    Said const beside = run(ZELLIGE_CXX + flags + "-I " + root.string() + " -fsyntax-only " + unit);
    EXPECT_EQ(beside.status, 0) << n.ours << ": " << beside.text;
    Said const alone = run(ZELLIGE_CXX + flags + "-fsyntax-only " + unit);
    EXPECT_NE(alone.status, 0) << n.ours << " without a CUTLASS behind has members of CUTLASS's";
    std::filesystem::remove_all(root);
  }
}

// A pipeline of no stages has nothing to acquire.
TEST(CompatHeaders, AStorePipelineOfNoStagesCannotBeAcquired) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  Said const said = run("nvcc" + flags + "-gencode arch=compute_90a,code=sm_90a --cubin -o /dev/null " +
                        file_of("stages.cu",
                                "#include <cutlass/pipeline/sm90_pipeline.hpp>\n__global__ void f() {\n"
                                "  cutlass::PipelineTmaStore<0> p;\n  p.producer_commit({});\n"
                                "  p.producer_acquire({});\n}\n"));
  EXPECT_NE(said.status, 0);
  EXPECT_NE(said.text.find("PipelineTmaStore<0> has no stage to acquire"), std::string::npos) << said.text;
}

// nvcc 13's code generator lays out wrongly a class that ends in an empty member without an address of its
// own: the kernel would then look for its parameters where the host did not put them.
TEST(CompatHeaders, KernelParametersHaveTheSizeThatTheHostGivesThem) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const ptx = testing::TempDir() + "zellige_compat_parameters.ptx";
  Said const said =
      run("nvcc" + flags + "-gencode arch=compute_90a,code=sm_90a --ptx -Werror all-warnings -o " + ptx +
          " " ZELLIGE_SOURCE_DIR "/tests/compat/parameters.cu");
  ASSERT_EQ(said.status, 0) << said.text;
  std::stringstream all;
  all << std::ifstream(ptx).rdbuf();
  std::string const text = all.str();
  // takes<T, size>(T, int*): the size is the last argument in the mangled name.
  std::regex const entry(R"(\.entry _Z5takes\w*Li(\d+)EEvT_Pi\(\s*\.param [^\[\n]*\[(\d+)\])");
  int kernels = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), entry), end; i != end; ++i, ++kernels)
    EXPECT_EQ((*i)[1], (*i)[2]) << i->str();
  EXPECT_EQ(kernels, 36);
}

}  // namespace
