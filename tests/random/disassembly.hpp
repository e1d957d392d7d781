// What nvdisasm prints of a cubin, where there is one: run/machine_code.hpp is held to it.
//
//   if (const auto odd = odd_by_nvdisasm(cubin)) EXPECT_EQ(*odd, registers of odd_descriptors(cubin));
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace zellige::random_graphs {

/// The odd uniform registers that descriptors begin in, in the order of the text. nullopt where there is no nvdisasm:
/// $ZELLIGE_NVDISASM, else on the PATH. Throws Error where it does not take the file.
std::optional<std::vector<int>> odd_by_nvdisasm(const std::string& cubin);

}  // namespace zellige::random_graphs
