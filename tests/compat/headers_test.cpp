// CUTLASS's and CuTe's headers for Hopper through nvcc: a unit that uses all of them compiles without a
// warning; what is not there is refused in one sentence. Skipped where there is no nvcc.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

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

struct Refused {
  char const* header;
  char const* because;
};
constexpr Refused refused[] = {
    {"cute/arch/mma_sm100_umma.hpp",
     "Zellige has the instructions up to SM90a; those of SM100 (tcgen05, tensor memory) and SM120 are not "
     "there"},
    {"cute/arch/tmem_allocator_sm100.hpp",
     "Zellige has the instructions up to SM90a; those of SM100 (tcgen05, tensor memory) and SM120 are not "
     "there"},
    {"cute/atom/mma_traits_sm120.hpp",
     "Zellige has the instructions up to SM90a; those of SM100 (tcgen05, tensor memory) and SM120 are not "
     "there"},
    {"cute/arch/mma_sm90_gmma_sparse.hpp",
     "Zellige has the dense warpgroup instructions; the sparse ones are not there"},
};
TEST(CompatHeaders, WhatIsNotThereIsRefusedInOneSentence) {
  for (Refused const& r : refused) {
    std::string const header = r.header;
    Said const said = run(ZELLIGE_CXX + flags + "-fsyntax-only " +
                          file_of("refused.cpp", "#include <" + header + ">\nint main() {}\n"));
    EXPECT_NE(said.status, 0) << header;
    std::string const sentence = "#error \"" + header + ": " + r.because + "\"";
    EXPECT_NE(said.text.find(sentence), std::string::npos) << said.text << "lacks " << sentence;
    EXPECT_EQ(said.text.find("error:"), said.text.rfind("error:")) << said.text;
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
