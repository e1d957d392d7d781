// The kernels of CuTe's tutorials, unchanged, raw pointers and __shared__ included, on the emulator. They are foreign:
// ZELLIGE_CUTE_TUTORIALS names the folder examples/cute/tutorial of a CUTLASS; without it there is nothing to run.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "emulate/engine.hpp"

namespace {

using zellige::emulate::EmulationReport;
using zellige::emulate::Launch;
using zellige::emulate::LaunchConfig;
using Check = void (*)(EmulationReport (*)(void (*)(Launch&), LaunchConfig const&), std::string&);

/// Everything up to the end of the last kernel, without the headers that only the host's part needs: g++ knows no
/// launch in <<<>>>.
std::string kernels_of(std::string const& tutorial) {
  std::size_t at = tutorial.rfind("__global__");
  at = at == std::string::npos ? at : tutorial.find("\n{", at);
  if (at == std::string::npos) return "";
  ++at;
  for (int depth = 1; depth > 0 && ++at < tutorial.size();)
    depth += tutorial[at] == '{' ? 1 : tutorial[at] == '}' ? -1 : 0;
  std::istringstream lines(tutorial.substr(0, at + 1));
  std::string text;
  int open = 0;  // conditions of the preprocessor
  for (std::string line; std::getline(lines, line);) {
    bool host = false;
    for (char const* header : {"<thrust/", "\"cutlass/util/", "\"cutlass/cluster_launch", "\"cutlass/device_kernel",
                               "<cutlass/util/", "<cutlass/cluster_launch", "\"example_utils"})
      host = host || line.find(std::string("#include ") + header) == 0;
    open += line.starts_with("#if") ? 1 : line.starts_with("#endif") ? -1 : 0;
    text += (host ? "" : line) + "\n";  // lines keep their numbers
  }
  for (; open > 0; --open) text += "#endif\n";
  return text;
}

struct Tutorial {
  char const *file, *harness, *flag;
  char const* finds = nullptr;  // what the tutorial has forgotten, which a GPU forgives
};
class Emulated : public testing::TestWithParam<Tutorial> {};

TEST_P(Emulated, KernelsOfATutorial) {
  char const* const folder = std::getenv("ZELLIGE_CUTE_TUTORIALS");
  if (folder == nullptr)
    GTEST_SKIP() << "ZELLIGE_CUTE_TUTORIALS is not set: it names the folder examples/cute/tutorial of "
                    "CUTLASS's sources";
  auto const [file, harness, flag, finds] = GetParam();
  std::ifstream in(std::string(folder) + "/" + file);
  ASSERT_TRUE(in) << folder << "/" << file << " cannot be read";
  std::ostringstream text;
  text << in.rdbuf();
  auto const work = std::filesystem::temp_directory_path() /
                    ("zellige_" + std::to_string(getpid()) + "_" + std::filesystem::path(file).stem().string());
  std::filesystem::create_directory(work);
  std::string kernels = kernels_of(text.str());
  if (std::string(harness) == "emulated_blackwell.cpp")  // a cluster's blocks have memory of their own
    kernels = std::regex_replace(kernels, std::regex("extern __shared__ char shared_memory\\[\\];"),
                                 "char* const shared_memory = dynamic_shared();");
  std::ofstream(work / "kernels.hpp") << kernels;
  std::string const library = work / "kernels.so", source = ZELLIGE_SOURCE_DIR;
  // g++ would look for an initialiser of what the kernels declare `extern __shared__`.
  std::string const constant = ZELLIGE_GNU ? " -fno-extern-tls-init" : "";
  std::string const command = std::string(ZELLIGE_CXX) + constant +
                              " -std=c++20 -O1 -g1 -fno-omit-frame-pointer -fPIC -shared" +
                              " -DZELLIGE_EMULATE -DZELLIGE_CUTE_WITHOUT_STREAMS " + flag + " -DKERNELS='\"" +
                              (work / "kernels.hpp").string() + "\"' -I " + source + "/compat -I " + source +
                              "/include -I " + source + "/src " + source + "/tests/compat/tutorials/" + harness + " " +
                              source + "/src/emulate/buffer.cpp -o " + library + " 2>" + (work / "errors").string();
  if (std::system(command.c_str()) != 0) {
    std::ifstream errors(work / "errors");
    std::string message;
    for (std::string line; std::getline(errors, line) && message.size() < 2000;) message += line + "\n";
    FAIL() << message;
  }
  void* const loaded = dlopen(library.c_str(), RTLD_NOW);
  ASSERT_NE(loaded, nullptr) << dlerror();
  auto const check = reinterpret_cast<Check>(dlsym(loaded, "check"));
  ASSERT_NE(check, nullptr);
  std::string why = "nothing ran";
  check(&zellige::emulate::run, why);
  if (finds) {
    EXPECT_NE(why, "");
    std::istringstream lines(why);
    for (std::string line; std::getline(lines, line);) EXPECT_TRUE(std::regex_match(line, std::regex(finds))) << line;
  } else {
    EXPECT_EQ(why, "");
  }
  dlclose(loaded);
  std::filesystem::remove_all(work);
}
INSTANTIATE_TEST_SUITE_P(
    Tutorials, Emulated,
    // The default run takes every second one (tests/suite/sampled.txt): the one of two that has more in it.
    testing::Values(Tutorial{"sgemm_sm70.cu", "emulated_gemm.cpp", "-DTILED"},
                    Tutorial{"sgemm_1.cu", "emulated_gemm.cpp", ""},
                    Tutorial{"sgemm_sm80.cu", "emulated_tensor_cores.cpp", "-DWARP"},
                    Tutorial{"sgemm_2.cu", "emulated_gemm.cpp", "-DTILED"},
                    Tutorial{"hopper/wgmma_tma_sm90.cu", "emulated_tensor_cores.cpp", "-DBY_TMA",
                             "missing fence on mbarrier shared memory.* lets a tma_load complete "
                             "on it .* initialised it .* and no fence_mbarrier_init followed"
                             "|too early an end of block .* it ends while the tma_load .* issued .* may still "
                             "write its shared memory; a wait at its mbarrier comes first"},
                    Tutorial{"hopper/wgmma_sm90.cu", "emulated_tensor_cores.cpp", "",
                             "race on shared tensor shared memory: thread 0 .* multiplies by wgmma "
                             ".* wrote them .* and no __syncwarp or barrier lies between"},
                    // Ordinary writes, which no fence.proxy.async makes visible to tcgen05.mma, are not seen here.
                    Tutorial{"blackwell/02_mma_tma_sm100.cu", "emulated_blackwell.cpp",
                             "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED -DBY_TMA",
                             "missing fence on mbarrier shared memory.* lets a tma_load complete "
                             "on it .* initialised it .* and no fence_mbarrier_init followed"},
                    Tutorial{"blackwell/01_mma_sm100.cu", "emulated_blackwell.cpp",
                             "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED"},
                    Tutorial{"tiled_copy_if.cu", "emulated_copy.cpp", "-DPREDICATED"},
                    Tutorial{"tiled_copy.cu", "emulated_copy.cpp", ""},
                    Tutorial{"blackwell/04_mma_tma_2sm_sm100.cu", "emulated_blackwell.cpp",
                             "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED -DBY_TMA -DMULTICAST -DPAIRS",
                             "missing fence on mbarrier shared memory.* lets a tma_load complete "
                             "on it .* initialised it .* and no fence_mbarrier_init followed"},
                    Tutorial{"blackwell/05_mma_tma_epi_sm100.cu", "emulated_blackwell.cpp",
                             "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED -DBY_TMA -DMULTICAST -DPAIRS -DEPILOGUE",
                             "missing fence on mbarrier shared memory.* lets a tma_load complete "
                             "on it .* initialised it .* and no fence_mbarrier_init followed"},
                    Tutorial{"blackwell/03_mma_tma_multicast_sm100.cu", "emulated_blackwell.cpp",
                             "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED -DBY_TMA -DMULTICAST",
                             "missing fence on mbarrier shared memory.* lets a tma_load complete "
                             "on it .* initialised it .* and no fence_mbarrier_init followed"}),
    [](auto const& info) { return std::filesystem::path(info.param.file).stem().string(); });

}  // namespace
