// Finds the descriptors of PTX instructions (zellige/atom/instruction.hpp) by the names that an emulated kernel passes.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <zellige/atom/instruction_table.hpp>

#include "emulate/calls.hpp"

namespace zellige::emulate {

namespace {

// Prints that the emulator has no instruction `name`, and aborts. This happens only if the kernel was
// compiled with headers of another version.
[[noreturn]] void no_row(std::string_view name) {
  fmt::print(stderr, "emulator: there is no instruction {}; the kernel was compiled with other headers\n", name);
  std::abort();
}

}  // namespace

const Instruction& row_of(const char* name) {
  const Instruction* row = find_instruction(name);
  if (!row) no_row(name);
  return *row;
}

const Instruction& wgmma_row(unsigned n, const char* types, bool saturate, bool a_in_smem) {
  struct Found {
    unsigned n = 0;
    const char* types = nullptr;
    bool saturate = false, a_in_smem = false;
    std::string spelled;
    const Instruction* row = nullptr;
  };
  static thread_local Found last;
  if (last.row && last.n == n && last.types == types && last.saturate == saturate && last.a_in_smem == a_in_smem &&
      last.spelled == types)
    return *last.row;
  static const auto known = [] {
    std::unordered_map<std::string, const Instruction*> all;
    for (const Instruction& row : instructions())
      if (row.issuers == 128) all[fmt::format("{} {}", row.ptx, row.a.space == Instruction::Space::smem)] = &row;
    return all;
  }();
  const std::string ptx =
      fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}{}", n, types, saturate ? ".satfinite" : "");
  const auto found = known.find(fmt::format("{} {}", ptx, a_in_smem));
  if (found == known.end()) no_row(ptx);
  last = {n, types, saturate, a_in_smem, types, found->second};
  return *found->second;
}

}  // namespace zellige::emulate
