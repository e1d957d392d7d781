// Detects kernels that differ only in names, so that they are one function: layers repeat, and NVRTC takes
// seconds per function.
//
//   unnamed(first, "mlp_k0") == unnamed(second, "mlp_k7")     // the same function, launched with other tensors
#pragma once
#include <string>
#include <string_view>

namespace zellige::emit {

/// Returns a kernel's source without comments, with its own name `function` replaced by one fixed word, and
/// user-defined names (names.hpp: p, g, s or m, then a capital letter or an underscore; and the name of a
/// shared tile in messages) replaced by numbers in order of appearance.
std::string unnamed(std::string_view kernel, std::string_view function);

}  // namespace zellige::emit
