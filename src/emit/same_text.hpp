// Kernels that differ in names alone are one function: layers repeat, and NVRTC compiles each function for seconds.
//
//   unnamed(first, "mlp_k0") == unnamed(second, "mlp_k7")     // launched with other tensors, it is the same
#pragma once
#include <string>
#include <string_view>

namespace zellige::emit {

/// A kernel's text without its comments, with its own name, `function`, as one word, and with whatever a user named (names.hpp: p, g, s or m,
/// then a capital letter or an underscore; and what messages call a shared tile) as numbers in the order in which they appear.
std::string unnamed(std::string_view kernel, std::string_view function);

}  // namespace zellige::emit
