// The machine code of the tree's own kernels: no descriptor in an odd register (docs/reference/hardware.md). Random ones: zellige_random
// --machine-code.
#include <gtest/gtest.h>

#include <filesystem>

#include "../all_cases.hpp"
#include "../run/folder.hpp"
#include "emit/emit.hpp"
#include "json/json.hpp"
#include "run/compile.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "target/target.hpp"
#include "toolchain/machine_code.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::toolchain {
namespace {

std::vector<std::filesystem::path> files(const std::string& folder, const std::string& ending) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ZELLIGE_SOURCE_DIR "/" + folder))
    if (entry.path().extension() == ending) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

constexpr const char* targets[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};

/// Every sixth example, for one of the targets in rotation; all for each with ZELLIGE_ALL.
TEST(MachineCode, ExamplesHaveNoOddDescriptor) {
  try {
    nvrtc_version();
  } catch (const Error& e) {
    GTEST_SKIP() << e.what();
  }
  const Folder folder;
  const Cache cache(folder.path);
  std::size_t kernels = 0, named = 0, programs = 0;
  for (const std::filesystem::path& file : files("examples", ".json"))
    for (const graph::KernelGraph& g : json::load(file.string()))
      for (const char* target : targets) {
        const std::size_t example = programs / std::size(targets), place = programs++ % std::size(targets);
        if (!test::all_cases() && (example % 6 != 0 || example / 6 % std::size(targets) != place)) continue;
        const emit::EmittedProgram p = run::compile(g, target::find(target), {.fuse = true}).program;
        const Cubin made = compile_cubin(p.source, target, cache);
        EXPECT_EQ(made.note, "") << file << " for " << target;
        kernels += p.manifest.kernels.size(), named += descriptors(made.bytes).size();
      }
  EXPECT_GT(kernels, 25u);
  EXPECT_GT(named, 50 * kernels / 10) << "the code was not read";
}

TEST(MachineCode, KernelsWrittenByHandHaveNoOddDescriptor) {
  const std::string nvcc = ZELLIGE_NVCC;
  if (nvcc.empty()) GTEST_SKIP() << "there is no nvcc";
  const Folder folder;
  const std::string cubin = (folder.path / "kernels.cubin").string();
  const std::vector<std::filesystem::path> all = files("bench/kernels", ".cu");
  for (std::size_t i = 0; i < all.size(); i += test::every(2)) {
    const std::filesystem::path& file = all[i];
    const system::Finished compiled =
        system::run_process({nvcc, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-cubin", "-I",
                             ZELLIGE_SOURCE_DIR "/include", "-o", cubin, file.string()});
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    const std::string bytes = system::read_whole(cubin);
    EXPECT_FALSE(descriptors(bytes).empty()) << file;
    for (const Descriptor& d : odd_descriptors(bytes)) ADD_FAILURE() << file << ": " << to_string(d);
  }
}

}  // namespace
}  // namespace zellige::toolchain
