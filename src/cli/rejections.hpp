// Reports on stderr the plans that the verifier rejected during a search: one line per graph.
#pragma once
#include <string>

#include "plan/rejections.hpp"

namespace zellige::cli {

/// Prints nothing if there are none.
void tell(const std::string& graph, const plan::Rejections&);

}  // namespace zellige::cli
