// The output of nvdisasm for a cubin, if available: toolchain/machine_code.hpp is checked against it.
//
//   if (const auto odd = odd_by_nvdisasm(cubin)) EXPECT_EQ(*odd, registers of odd_descriptors(cubin));
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace zellige::random_graphs {

/// The odd uniform registers in which descriptors begin, in code order. Returns nullopt if there is no
/// nvdisasm: $ZELLIGE_NVDISASM, else on the PATH. Throws Error if it does not accept the file.
std::optional<std::vector<int>> odd_by_nvdisasm(const std::string& cubin);

}  // namespace zellige::random_graphs
