#include "toolchain/machine_code.hpp"

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "../run/failing.hpp"
#include "cubin.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::toolchain {
namespace {

/// A line of tests/run/data/descriptors.tsv: an instruction's 128 bits, and the register that nvdisasm prints.
struct Line {
  std::string architecture, text;
  std::uint64_t lower = 0, upper = 0;
  int uniform_register = -1;  // -1: it names none
};

std::vector<Line> lines() {
  std::ifstream file(ZELLIGE_SOURCE_DIR "/tests/run/data/descriptors.tsv");
  std::vector<Line> all;
  for (std::string row; std::getline(file, row);) {
    if (row.starts_with('#')) continue;
    std::istringstream fields(row);
    Line line;
    std::string lower, upper, number;
    for (std::string* field : {&line.architecture, &lower, &upper, &number, &line.text})
      std::getline(fields, *field, '\t');
    line.lower = std::stoull(lower, nullptr, 16), line.upper = std::stoull(upper, nullptr, 16);
    if (number != "-") line.uniform_register = std::stoi(number);
    all.push_back(line);
  }
  return all;
}

std::string code_of(const Line& line) {
  std::string code;
  put(code, 0, line.lower), put(code, 8, line.upper);
  return code;
}

TEST(MachineCode, DescriptorsAreReadAsNvdisasmPrintsThem) {
  const std::vector<Line> all = lines();
  ASSERT_GE(all.size(), 80u);
  std::map<std::string, int> named;
  for (const Line& line : all) {
    const std::vector<Descriptor> found = descriptors(cubin_of(code_of(line)));
    if (line.uniform_register >= 0) {
      ASSERT_EQ(found.size(), 1u) << line.architecture << ": " << line.text;
      EXPECT_EQ(found[0].uniform_register, line.uniform_register) << line.architecture << ": " << line.text;
      EXPECT_NE(line.text.find(found[0].instruction), line.text.npos) << line.text;
      ++named[line.architecture];
    }
    EXPECT_EQ(odd_descriptors(cubin_of(code_of(line))).size(), line.uniform_register % 2 == 1 ? 1u : 0u)
        << line.architecture << ": " << line.text;
  }
  for (const char* architecture : {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"})
    EXPECT_GE(named[architecture], 4) << architecture;
}

TEST(MachineCode, AnOddDescriptorIsFoundByKernelAndOffset) {
  std::string code;
  for (const Line& line : lines())
    if (line.architecture == "sm_90a") code += code_of(line);
  const std::vector<Descriptor> odd = odd_descriptors(cubin_of(code));
  ASSERT_FALSE(odd.empty());
  EXPECT_EQ(odd[0].kernel, "k");
  EXPECT_EQ(odd[0].instruction, "LDGSTS");
  EXPECT_EQ(code.substr(static_cast<std::size_t>(odd[0].offset), 2), std::string("\xae\x7d"));
  EXPECT_EQ(to_string({"linear_k0", 0x280, "LDGSTS", 1}),
            "kernel linear_k0: the LDGSTS at byte 0x280 takes its descriptor from UR1");
}

TEST(MachineCode, WhatIsNoWholeCubinIsRefused) {
  EXPECT_EQ(message_of([] { descriptors("no ELF"); }), "cubin: expected a 64-bit ELF file, found 6 other bytes");
  const std::string whole = cubin_of(code_of(lines()[0]));
  EXPECT_EQ(message_of([&] { descriptors(whole.substr(0, whole.size() - 64)); }),
            fmt::format("cubin: its headers name byte {}, and it has {}", whole.size() - 60, whole.size() - 64));
  std::string beyond = whole;
  put<std::uint64_t>(beyond, whole.size() - 64 + 0x20, 4096);
  EXPECT_EQ(message_of([&] { descriptors(beyond); }),
            fmt::format("cubin: section 2 ends at byte {}, and the file has {}", 128 + 4096, beyond.size()));
  for (std::size_t bytes = 0; bytes < whole.size() - 24; ++bytes)  // never beyond the end
    EXPECT_THROW(descriptors(whole.substr(0, bytes)), Error) << bytes;
}

TEST(MachineCode, KernelsSayWhatTheyTake) {
  for (const std::uint8_t abi : {std::uint8_t{7}, std::uint8_t{8}}) {
    const std::string cubin = cubin_of(
        "", {.parameters = {128, 8, 4, 1, 16383}, .max_threads = 384, .cluster = 2, .abi = abi, .capability = 89});
    const std::vector<KernelInterface> found = kernel_interfaces(cubin);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].name, "k");
    EXPECT_EQ(found[0].parameter_bytes, (std::vector<std::int64_t>{128, 8, 4, 1, 16383}));
    EXPECT_EQ(found[0].max_threads, 384);
    EXPECT_EQ(found[0].cluster, (std::array{2, 1, 1}));
    EXPECT_EQ(compute_capability(cubin), 89);
    for (std::size_t bytes = 0; bytes < cubin.size() - 24; ++bytes)  // never beyond the end
      EXPECT_THROW(kernel_interfaces(cubin.substr(0, bytes)), Error) << bytes;
  }
  const std::string silent = cubin_of("", {.abi = 9});
  EXPECT_EQ(kernel_interfaces(silent).at(0).parameter_bytes, std::vector<std::int64_t>{});
  EXPECT_EQ(kernel_interfaces(silent)[0].max_threads, std::nullopt);
  EXPECT_EQ(compute_capability(silent), std::nullopt);
}

TEST(MachineCode, AnAttributeThatPassesTheEndIsRefused) {
  std::string cubin = cubin_of("", {.parameters = {8}});
  put<std::uint16_t>(cubin, 128 + 2, 4096);
  EXPECT_EQ(message_of([&] { kernel_interfaces(cubin); }),
            "cubin: an attribute of kernel k ends at byte 4100, and they have 20");
}

TEST(MachineCode, AProgramWithAnOddDescriptorIsNotLaunched) {
  for (const Line& line : lines())
    if (line.uniform_register % 2 == 1 && line.architecture == "sm_90a") {
      EXPECT_EQ(
          message_of([&] { require_even_descriptors(cubin_of(code_of(line)), "linear"); }),
          fmt::format("program linear: its machine code would end in an illegal instruction on the GPU, so it is not "
                      "launched: kernel k: the LDGSTS at byte 0x0 takes its descriptor from UR{} (a known fault of "
                      "the "
                      "assembler ptxas, docs/reference/hardware.md); compile the program again, with this version of "
                      "Zellige",
                      line.uniform_register));
      EXPECT_THROW(require_even_descriptors(cubin_of(code_of(line)), "linear"), Fault);
    }
}

}  // namespace
}  // namespace zellige::toolchain
