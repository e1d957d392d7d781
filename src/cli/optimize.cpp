// Implements `zellige optimize`: fuses a graph's operators into few kernels, explains the result, and writes
// the fused graph.

#include <memory>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "json/json.hpp"
#include "run/compile.hpp"
#include "run/outputs.hpp"
#include "run/plan_cache.hpp"
#include "run/sized.hpp"
#include "target/target.hpp"

namespace zellige::cli {
namespace {

struct OptimizeArguments {
  std::string file, output, target = "sm_90a";
  int index = 0;
  std::vector<std::string> constants, sizes;
  bool force = false;
};

/// Prints a line with the number of kernels and their expected time, then a line per note. `before`: number
/// of operators of the original graph.
void print(const std::string& name, std::size_t before, const fuse::Optimized& o) {
  double estimated = 0, floor = 0;
  for (const fuse::FusedKernel& k : o.kernels) estimated += k.estimated_us, floor += k.floor_us;
  say(stdout, "{}: {} operators in {} kernel{}, {:.1f} us expected, at least {:.1f}\n", name, before, o.kernels.size(),
      o.kernels.size() == 1 ? "" : "s", estimated, floor);
  for (const std::string& note : o.notes) say(stdout, "  {}\n", note);
}

int optimize(const OptimizeArguments& a) {
  const target::Target& target = target::find(a.target);
  run::Outputs outputs({a.file}, a.force);
  graph::KernelGraph graph = graph::narrowed(choose(a.file, a.index), size_ranges(a.sizes));
  run::declare_constant(graph, a.constants);
  ProgressLine progress;
  run::CompileOptions options{
      .fuse = true, .plan = run::parse_tiling_option("", target), .watch = watch(progress, graph.name)};
  const fuse::Optimized o = run::fused(graph, target, options, run::standard_cache());
  progress.clear();
  if (!a.output.empty()) {
    outputs.put(a.output, json::to_json(o.graph) + "\n");
    outputs.commit();
  }
  tell(graph.name, o.rejected);
  if (a.output != "-") print(graph.name, graph.ops.size(), o);
  if (a.output != "-" && graph.sizes)
    say(stdout, "  fused for {}, the greatest values\n", run::text_of(graph::greatest(graph.sizes->names)));
  return success;
}

}  // namespace

void add_optimize(CLI::App& app, int& status) {
  auto a = std::make_shared<OptimizeArguments>();
  CLI::App* command = app.add_subcommand("optimize",
                                         "Fuse a graph's operators into few kernels and say why; on sm_90a custom "
                                         "operators are decomposed first if that is cheaper");
  add_example(command, "zellige optimize examples/layers/gpt_mlp.json -o gpt_mlp.fused.json");
  add_graph(command, a->file, a->index);
  command->add_option("-o,--output", a->output, "Write the fused graph to this file, as JSON")->type_name(output_file);
  add_target(command, a->target);
  add_constants(command, a->constants);
  add_size_ranges(command, a->sizes);
  command->add_flag("--force", a->force, force_help);
  command->callback([a, &status] { status = optimize(*a); });
}

}  // namespace zellige::cli
