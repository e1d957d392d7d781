#include "api/program.hpp"
#include "explain/account.hpp"
#include "explain/page.hpp"
#include "target/target.hpp"

namespace zellige::api {

std::string explained_page(const graph::KernelGraph& graph, const CallOptions& o, const toolchain::Cache& cache) {
  const target::Target& target = target_of(o);
  run::CompileOptions options = o.compile;
  options.plan = run::tiling_options(o.tiling, target);
  options.plan.sizes = o.compile.plan.sizes;
  options.tune = 0;
  options.watch = {};
  const run::Compiled made = run::compile(graph, target, std::move(options), cache);
  return explain::page(explain::account(graph, made, target));
}

}  // namespace zellige::api
