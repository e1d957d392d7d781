// Variants of a program with sizes: the graph is compiled again for parts of the range, and a part has kernels of its own where the
// expected time says so.
//
//   whole = with_variants(std::move(whole), graph, target, 6, compile_one);
//   whole.manifest.variants                   // T from 1 to 16, T from 1 to 512: in the order in which a launch tries them
//
// docs/how-to/leave-sizes-open.md says which parts there are.
#pragma once
#include "variants/parts.hpp"

namespace zellige::variants {

/// Returns the program of a graph with sizes, with at most `maximum` programs in it. Parts for which there is no program have none.
emit::EmittedProgram with_variants(emit::EmittedProgram whole, const graph::KernelGraph&, const target::Target&,
                                   int maximum, const CompileNarrowed&);

}  // namespace zellige::variants
