// The machine code of a program's kernels, as nvdisasm prints it.
//
//   if (const auto tool = find_nvdisasm()) add_sass(account, disassembled(*tool, cubin.bytes));
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "explain/account.hpp"

namespace zellige::explain {

/// Returns the path of nvdisasm: $ZELLIGE_NVDISASM, else that in PATH; nullopt if there is none.
std::optional<std::string> find_nvdisasm();

/// Returns the instructions of each kernel of a cubin, by name. Throws Error if nvdisasm refuses the cubin.
std::map<std::string, std::string> disassembled(const std::string& nvdisasm, const std::string& cubin);

/// Returns the instructions by kernel of what `nvdisasm -c` prints. Labels are kept, directives are not.
std::map<std::string, std::string> instructions_by_kernel(std::string_view printed);

/// Adds the instructions to the account's kernels; of many, each kernel's first ones.
void add_sass(Account&, const std::map<std::string, std::string>& by_kernel);

}  // namespace zellige::explain
