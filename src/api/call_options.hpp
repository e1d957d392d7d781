// The options of a compilation as a caller of the C API gives them.
#pragma once
#include <cstddef>

#include "api/program.hpp"
#include "zellige/api.h"

namespace zellige::api {

/// Returns the options of the C API, converted to those of compile(). Throws Error if they cannot be read, or if one is out
/// of range. `given`: null for the defaults. `inputs`: number of the graph's inputs.
CallOptions call_options(const zellige_options* given, std::size_t inputs);

}  // namespace zellige::api
