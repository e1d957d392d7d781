// What a command says on stderr of plans that the proof rejected while others were searched for: one line per graph.
#pragma once
#include <string>

#include "plan/rejections.hpp"

namespace zellige::cli {

/// Prints nothing where there are none.
void tell(const std::string& graph, const plan::Rejections&);

}  // namespace zellige::cli
