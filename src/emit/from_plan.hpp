// The second half of transpile(): a program of a plan that is verified already.
#pragma once
#include "emit/emit.hpp"

namespace zellige::emit {

/// Returns the program of a plan: its expected time, manifest and source. `graph` is the graph's own name, `tiling` and
/// `decomposed` are those of the manifest. Program::graph has that name alone.
Program from_plan(plan::Plan, const std::string& graph, retile::Tiling tiling, bool decomposed);

}  // namespace zellige::emit
