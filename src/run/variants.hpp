// Variants of a program with sizes: the graph is compiled again for parts of the range, and a part has kernels of its own where the
// expected time says so.
//
//   whole = with_variants(std::move(whole), graph, target, 6, compile_one);
//   whole.manifest.variants                   // T from 1 to 16, T from 1 to 512: in the order in which a launch tries them
//
// docs/how-to/leave-sizes-open.md says which parts there are.
#pragma once
#include <functional>

#include "emit/emit.hpp"
#include "graph/sized_graph.hpp"
#include "target/target.hpp"

namespace zellige::run {

/// Compiles a graph, which has fewer values of its sizes, through all passes.
using CompileNarrowed = std::function<emit::EmittedProgram(graph::KernelGraph)>;

/// Returns the values that end the parts of a size's range, in order, without its greatest one: the typical ones. If `more`, also 16 and
/// twice, four times, ... each of them, up to half of the next one.
std::vector<std::int64_t> ends_of(const graph::NamedSize&, bool more);

/// Returns the program of a graph with sizes, with at most `maximum` programs in it. Parts for which there is no program have none.
emit::EmittedProgram with_variants(emit::EmittedProgram whole, const graph::KernelGraph&, const target::Target&,
                                   int maximum, const CompileNarrowed&);

}  // namespace zellige::run
