// The device side of the rows: device_unit.cu is compiled to PTX for the oldest and the newest target, and
// each row's mnemonic must stand in the text.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <zellige/atom/instruction_table.hpp>

namespace zellige {
namespace {

std::string ptx_for(const std::string& architecture) {
  const auto base = std::filesystem::temp_directory_path() /
                    ("zellige_ptx_" + std::to_string(getpid()) + "_" + architecture);
  const std::string source = ZELLIGE_SOURCE_DIR "/tests/atom/device_unit.cu";
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

class Ptx : public testing::TestWithParam<const char*> {};

TEST_P(Ptx, HasEveryRowsMnemonic) {
  if (std::string(ZELLIGE_NVCC).empty()) GTEST_SKIP() << "nvcc was not found when the build was configured";
  const std::string ptx = ptx_for(GetParam());
  for (const Instruction& row : instructions()) {
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
       {"cp.async.commit_group;", "cp.async.wait_group 1;", "ld.global.nc.L1::no_allocate.v4.u32",
        "ld.global.nc.L1::no_allocate.v2.u32", "ld.global.v4.u32", "st.global.v4.u32", "cvt.rn.f16x2.f32",
        "cvt.rn.bf16x2.f32", "cvt.rna.tf32.f32", "shfl.sync.bfly.b32"})
    EXPECT_NE(ptx.find(needed), std::string::npos) << needed;
  for (const char* slow : {"ld.global.u8", "st.global.u8", "ld.local", "st.local"})
    EXPECT_EQ(ptx.find(slow), std::string::npos) << slow << ": a vector access was taken apart";
}

INSTANTIATE_TEST_SUITE_P(Targets, Ptx, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace zellige
