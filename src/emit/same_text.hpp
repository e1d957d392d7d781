// Detects kernels that differ only in names, so that they are emitted as one function. Layers of a model
// repeat, and NVRTC takes seconds per function.
//
//   unnamed(first, "mlp_k0") == unnamed(second, "mlp_k7")     // true: the two sources need only one function
#pragma once
#include <string>
#include <string_view>

namespace zellige::emit {

/// Returns a kernel's source in a form that is equal for kernels that differ only in names:
///
/// - without comments;
/// - its own name `function` replaced by a fixed word;
/// - user-defined names (in the form of names.hpp) replaced by numbers in order of appearance;
/// - names of shared tiles in string literals removed.
std::string unnamed(std::string_view kernel, std::string_view function);

}  // namespace zellige::emit
