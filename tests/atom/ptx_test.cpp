// The device code of the rows: device_unit.cu is compiled to PTX for the oldest and the newest target, which
// must contain each row's mnemonic.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/sm90.hpp>

#include "sm80_rows.hpp"

namespace zellige {
namespace {

std::string ptx_for(const std::string& architecture, const std::string& unit = "device_unit.cu") {
  const auto base = std::filesystem::temp_directory_path() /
                    ("zellige_ptx_" + std::to_string(getpid()) + "_" + architecture + "_" + unit);
  const std::string source = ZELLIGE_SOURCE_DIR "/tests/atom/" + unit;
  const std::string command = std::string(ZELLIGE_NVCC) + " -std=c++20 --ptx -arch=" + architecture +
                              " -Werror all-warnings -I" ZELLIGE_SOURCE_DIR "/include " + source + " -o " +
                              base.string() + ".ptx 2> " + base.string() + ".log";
  const int status = std::system(command.c_str());
  const auto text_of = [](const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string ptx = text_of(base.string() + ".ptx"), log = text_of(base.string() + ".log");
  std::filesystem::remove(base.string() + ".ptx");
  std::filesystem::remove(base.string() + ".log");
  EXPECT_EQ(status, 0) << log;
  return ptx;
}

class PtxOf : public testing::TestWithParam<const char*> {};

TEST_P(PtxOf, HasEveryRowsMnemonic) {
  if (std::string(ZELLIGE_NVCC).empty()) GTEST_SKIP() << "nvcc was not found when the build was configured";
  const std::string ptx = ptx_for(GetParam());
  for (const Instruction& row : sm80_rows()) {
    const std::string mnemonic = std::string(row.ptx) + " ";
    bool found = false;
    for (auto at = ptx.find(mnemonic); at != std::string::npos && !found; at = ptx.find(mnemonic, at + 1)) {
      const std::string line = ptx.substr(at, ptx.find('\n', at) - at);
      const std::string bytes = "], " + std::to_string(row.a.alignment);
      found = row.kind != Instruction::Kind::async_copy ||
              line.find(bytes + (row.zero_fill ? ", %r" : ";")) != std::string::npos;
    }
    EXPECT_TRUE(found) << row.name << " has no '" << row.ptx << "' in the PTX for " << GetParam();
  }
  for (const char* needed :
       {"cp.async.commit_group;", "cp.async.wait_group 1;", "ld.global.v2.u32", "ld.global.v4.u32", "st.global.v4.u32",
        "cvt.rn.f16x2.f32", "cvt.rn.bf16x2.f32", "cvt.rna.tf32.f32", "shfl.sync.bfly.b32"})
    EXPECT_NE(ptx.find(needed), std::string::npos) << needed;
  for (const char* slow : {"ld.global.u8", "st.global.u8", "ld.local", "st.local"})
    EXPECT_EQ(ptx.find(slow), std::string::npos) << slow << ": a vector access was split";
}

TEST(Ptx, HasEveryCallOfSm90) {
  if (std::string(ZELLIGE_NVCC).empty()) GTEST_SKIP() << "nvcc was not found when the build was configured";
  const std::string ptx = ptx_for("sm_90a", "device_unit_sm90.cu");
  for (const Instruction& row : movement_rows) {
    bool found = false;
    for (const char* after : {" ", ";"}) found |= ptx.find(row.ptx + std::string(after)) != std::string::npos;
    EXPECT_TRUE(found) << row.name << " has no '" << row.ptx << "' in the PTX";
  }
  const std::vector<std::string> wanted = {"mapa.shared::cluster.u32",
                                           "%cluster_ctarank",
                                           "%cluster_nctarank",
                                           "setmaxnreg.dec.sync.aligned.u32 40;",
                                           "setmaxnreg.inc.sync.aligned.u32 232;",
                                           "cp.async.bulk.wait_group 0;",
                                           "cp.async.bulk.wait_group.read 1;",
                                           "cp.async.bulk.wait_group.read 2;",
                                           "wgmma.wait_group.sync.aligned 0;",
                                           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
                                           "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16",
                                           "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
                                           "p, -1, 1, 0, 0;",
                                           "p,  1, 1, 1, 1;",
                                           "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32",
                                           "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2",
                                           "wgmma.mma_async.sync.aligned.m64n24k32.s32.s8.u8",
                                           "wgmma.mma_async.sync.aligned.m64n24k32.s32.u8.s8.satfinite",
                                           "wgmma.mma_async.sync.aligned.m64n40k16.f16.f16.f16",
                                           "wgmma.mma_async.sync.aligned.m64n40k32.f16.e4m3.e4m3"};
  for (const std::string& mnemonic : wanted) EXPECT_NE(ptx.find(mnemonic), std::string::npos) << mnemonic;
  // The loops of mbarrier_wait and mbarrier_wait_cluster leave forward, as CuTe's do, and ptxas makes the same of both.
  int loops = 0;
  for (std::size_t at = 0; (at = ptx.find("@p bra done;\nbra waiting;\ndone:\n", at)) != std::string::npos; ++at)
    ++loops;
  EXPECT_EQ(loops, 2);
}

/// Returns true if nvcc and ptxas make machine code of a unit of this folder.
bool is_assembled(const std::string& architecture, const std::string& unit, const std::string& options = "") {
  const std::string command = std::string(ZELLIGE_NVCC) + " -std=c++20 -cubin -arch=" + architecture +
                              " -I" ZELLIGE_SOURCE_DIR "/include " ZELLIGE_SOURCE_DIR "/tests/atom/" + unit +
                              " -o /dev/null " + options;
  return std::system(command.c_str()) == 0;
}
// Each row of SM120 is in the PTX, and the assembler makes one machine instruction of it.
TEST(Ptx, HasEveryNarrowProductOfSm120) {
  if (std::string(ZELLIGE_NVCC).empty()) GTEST_SKIP() << "nvcc was not found when the build was configured";
  const std::string unit = "device_unit_narrow.cu", ptx = ptx_for("sm_120a", unit);
  int rows = 0;
  for (const Instruction& row : narrow_instructions()) {
    ++rows;
    EXPECT_NE(ptx.find(row.ptx + std::string(" ")), std::string::npos) << row.name << " has no '" << row.ptx << "'";
  }
  EXPECT_EQ(rows, 154);
  EXPECT_TRUE(is_assembled("sm_120a", unit));
}
// ldmatrix and stmatrix of bytes, launch control and arithmetic on two floats are on all of Blackwell; tensor memory and
// its products on sm_10x, those of integers on sm_100a alone, those with K = 96 on sm_103a.
TEST(Ptx, TensorMemoryIsAssembled) {
  if (std::string(ZELLIGE_NVCC).empty()) GTEST_SKIP() << "nvcc was not found when the build was configured";
  const std::string unit = "device_unit_tmem.cu";
  EXPECT_TRUE(is_assembled("sm_100a", unit, "-DZELLIGE_TENSOR_MEMORY=1 -DZELLIGE_INTEGERS=1"));
  EXPECT_TRUE(is_assembled("sm_103a", unit, "-DZELLIGE_TENSOR_MEMORY=1 -DZELLIGE_ULTRA=1"));
  EXPECT_TRUE(is_assembled("sm_120a", unit));
  EXPECT_FALSE(is_assembled("sm_120a", unit, "-DZELLIGE_TENSOR_MEMORY=1 > /dev/null 2>&1"));
}

TEST(Ptx, AGemmInTensorMemoryIsAssembled) {
  if (std::string(ZELLIGE_NVCC).empty()) GTEST_SKIP() << "nvcc was not found when the build was configured";
  EXPECT_TRUE(is_assembled("sm_100a", "blackwell_gemm.cu"));
}

/// Returns the number of instructions of a kernel in `ptx` between its load and its store, without the moves that
/// load constants.
int instructions_of(const std::string& ptx, const std::string& kernel) {
  std::istringstream lines(ptx.substr(std::min(ptx.size(), ptx.find(".entry " + kernel + "("))));
  std::string line;
  const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
  while (std::getline(lines, line) && !has("ld.global")) {
  }
  int count = 0;
  while (std::getline(lines, line) && !has("st.global")) count += has(";") && !has("mov.");
  EXPECT_TRUE(has("st.global")) << kernel << " is not in the PTX";
  return count;
}

// A kernel that reads and writes elements of 2 bytes has time for about 40 instructions per element. An absolute value
// or a negation is an instruction of PTX, but part of another in machine code: gelu is 18 there, gelu_tanh 7.
TEST(Ptx, ActivationsAreAFewInstructions) {
  if (std::string(ZELLIGE_NVCC).empty()) GTEST_SKIP() << "nvcc was not found when the build was configured";
  const std::string ptx = ptx_for("sm_90a", "activations_unit.cu");
  EXPECT_LE(instructions_of(ptx, "one_gelu"), 21);
  EXPECT_LE(instructions_of(ptx, "one_gelu_tanh"), 7);
  EXPECT_LE(instructions_of(ptx, "one_silu"), 5);
}

INSTANTIATE_TEST_SUITE_P(Targets, PtxOf, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace zellige
