// Reports on stderr, in one line per graph, the plans that the verifier rejected during a search.
#pragma once
#include <string>

#include "kernel/rejections.hpp"

namespace zellige::cli {

/// Prints the rejected plans of a graph; nothing if there are none.
void tell(const std::string& graph, const plan::Rejections&);

}  // namespace zellige::cli
