// Plans and programs of graphs whose operators are each a kernel, as `--as-given` makes them.
//
//   const plan::Plan p = test::make_plan(graph, target::find("sm_80"));
//   const emit::EmittedProgram e = test::transpile(graph, target::find("sm_90a"), {.tiling = {{.op = 0, .product = tile}}});
#pragma once
#include "fuse/separate.hpp"
#include "run/compile.hpp"

namespace zellige::test {

/// Returns the graph with a kernel for each operator, and takes its tiling from the options.
inline graph::KernelGraph separated(const graph::KernelGraph& g, const target::Target& target, plan::PlanOptions& o) {
  if (o.tiling.empty()) return fuse::separate(g, target);
  o.tiles = plan::TilingPolicy::given;
  return fuse::separate(g, target, std::exchange(o.tiling, {}));
}

inline plan::Plan make_plan(const graph::KernelGraph& g, const target::Target& target, plan::PlanOptions o = {}) {
  const graph::KernelGraph s = separated(g, target, o);
  return plan::make_plan(s, target, o);
}

inline emit::EmittedProgram transpile(const graph::KernelGraph& g, const target::Target& target,
                                      plan::PlanOptions o = {}) {
  const graph::KernelGraph s = separated(g, target, o);
  return run::transpile(s, target, o);
}

}  // namespace zellige::test
