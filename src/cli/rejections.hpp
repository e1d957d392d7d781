// Reports on stderr, in one line per graph, the plans that the verifier rejected during a search.
#pragma once
#include <string>

#include "kernel/rejections.hpp"

namespace zellige::cli {

/// Prints a line on stderr about the plans of the graph named `graph` that the verifier rejected. Prints
/// nothing if it rejected none.
void tell(const std::string& graph, const plan::Rejections&);

}  // namespace zellige::cli
