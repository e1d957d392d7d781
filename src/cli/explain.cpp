// Implements `zellige explain`: says why the kernels of a graph are as they are, in a terminal, as a page, or as JSON.
#include <memory>
#include <optional>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "explain/account.hpp"
#include "explain/page.hpp"
#include "explain/sass.hpp"
#include "explain/text.hpp"
#include "graph/collective.hpp"
#include "run/outputs.hpp"
#include "run/plan_cache.hpp"
#include "run/run.hpp"
#include "target/target.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::cli {
namespace {

struct ExplainArguments {
  std::string file, output, against, target = "sm_90a", tiling;
  int index = 0, alternatives = 4;
  std::vector<std::string> constants, sizes;
  bool as_given = false, json = false, run = false, force = false;
};

/// Measures the graph on the GPU of this machine. Throws Error if there is none, or if it is another than the target.
void measure(explain::Account& account, const graph::KernelGraph& graph, const ExplainArguments& a) {
  if (const run::GpuFound found = run::find_gpu(); found.target != a.target)
    fail("--run: expected a GPU of {}, found {}", a.target, found.target.empty() ? found.why_not : found.target);
  const target::Target& target = target::find(a.target);
  run::RunOptions options{.on = run::Machine::gpu, .target = a.target, .time = run::Timing::rotated};
  options.compile = {.constants = a.constants, .fuse = !a.as_given, .plan = run::parse_tiling_option(a.tiling, target)};
  const run::RunResult r = run::run(graph, options, toolchain::Cache::standard());
  if (r.status == run::Status::refused || r.status == run::Status::failed) fail("--run: {}", r.reason);
  account.measured_us = run::median(r.times.samples), account.device = r.device;
}

/// Returns whether machine code can be made here: without NVRTC a page has none.
bool has_nvrtc() {
  try {
    return !toolchain::nvrtc_version().empty();
  } catch (const Error&) {
    return false;
  }
}

explain::Account account_of(const std::string& file, const ExplainArguments& a) {
  const target::Target& target = target::find(a.target);
  const graph::KernelGraph graph = graph::narrowed(choose(file, a.index), size_ranges(a.sizes));
  if (graph::has_collectives(graph))
    fail("{}: a graph over ranks is explained step by step: transpile --explain does", graph.name);
  ProgressLine progress;
  run::CompileOptions options{.constants = a.constants,
                              .fuse = !a.as_given,
                              .plan = run::parse_tiling_option(a.tiling, target),
                              .watch = watch(progress, graph.name)};
  const run::Compiled made = run::compile(graph, target, std::move(options), run::standard_cache());
  progress.clear();
  tell(graph.name, made.program.plan.rejected);
  explain::Account account = explain::account(graph, made, target, a.alternatives);
  if (a.run) measure(account, graph, a);
  if (const auto nvdisasm = explain::find_nvdisasm(); nvdisasm && (a.json || !a.output.empty()) && has_nvrtc()) {
    const std::string cubin =
        toolchain::compile_cubin(made.program.source, a.target, toolchain::Cache::standard()).bytes;
    explain::add_sass(account, explain::disassembled(*nvdisasm, cubin));
  }
  return account;
}

int explain(const ExplainArguments& a) {
  run::Outputs outputs({a.file, a.against}, a.force);
  const explain::Account account = account_of(a.file, a);
  std::optional<explain::Account> against;
  if (!a.against.empty()) against = account_of(a.against, a);
  if (!a.output.empty()) {
    outputs.put(a.output, a.json ? explain::to_json(account) : explain::page(account, against));
    outputs.commit();
    return success;
  }
  say(stdout, "{}", a.json ? explain::to_json(account) : explain::text(account));
  if (against) say(stdout, "{}", explain::comparison(account, *against));
  return success;
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  auto a = std::make_shared<ExplainArguments>();
  CLI::App* command = app.add_subcommand("explain",
                                         "Say why the kernels of a graph are as they are: what bounds each, what its "
                                         "barriers protect, which tilings lost");
  add_example(command, "zellige explain examples/layers/gpt_mlp.json -o gpt_mlp.html");
  add_graph(command, a->file, a->index);
  command->add_option("-o,--output", a->output, "Write a page of HTML to this file, which needs no other")
      ->type_name(output_file);
  CLI::Option* against =
      command->add_option("--against", a->against, "Compare with the graph of this file")->type_name("FILE");
  command->add_option("--alternatives", a->alternatives, "Plan this many other tilings for comparison")
      ->check(integer(0, 64))
      ->capture_default_str();
  add_target(command, a->target);
  add_tiling(command, a->tiling);
  add_as_given(command, a->as_given);
  add_constants(command, a->constants);
  add_size_ranges(command, a->sizes);
  command->add_flag("--json", a->json, "Write everything as JSON in place of text or a page")->excludes(against);
  command->add_flag("--run", a->run, "Measure the program on this machine's GPU, too");
  command->add_flag("--force", a->force, force_help);
  command->callback([a, &status] { status = explain(*a); });
}

}  // namespace zellige::cli
