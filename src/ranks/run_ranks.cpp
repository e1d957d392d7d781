#include "ranks/run_ranks.hpp"

#include <algorithm>
#include <cmath>

#include "graph/collective.hpp"
#include "graph/error.hpp"
#include "json/json.hpp"
#include "ranks/job.hpp"
#include "ranks/over_ranks.hpp"
#include "ranks/rank_program.hpp"
#include "run/dump.hpp"
#include "system/elapsed.hpp"

namespace zellige::ranks {
namespace {

using run::Check, run::CompileOptions, run::EmulatedKernel, run::InputFiles, run::Machine, run::RunOptions,
    run::RunResult, run::Status, run::Timing;

/// Throws Error if an option of the run is none of graphs over ranks.
void require_options_of_ranks(const graph::KernelGraph& g, const RunOptions& o) {
  const auto refuse = [&](std::string_view option, std::string_view why) {
    fail("{}: {}: a graph over {} ranks {}", g.name, option, g.ranks, why);
  };
  if (o.program) refuse("--ir", "is several programs, and the file has one");
  if (o.compile.tune > 0) refuse("--tune", "is not tuned");
  if (o.on == Machine::gpu) require_job(g.name, g.ranks);
  if (o.time == Timing::rotated) refuse("--time", "is timed with a warm L2; give --time=hot");
}

/// Returns the files of the inputs of over_ranks(): a file of an input x is that of every rank which has none of its own.
InputFiles files_of_ranks(const graph::KernelGraph& g, const InputFiles& given) {
  InputFiles all;
  const auto is_given = [&](const std::string& name) {
    return std::ranges::any_of(given, [&](const auto& file) { return file.first == name; });
  };
  for (const auto& [name, file] : given) {
    const bool of_all = std::ranges::any_of(g.inputs, [&g, &name = name](int t) { return g.tensors[t].name == name; });
    if (!of_all) all.emplace_back(name, file);
    for (int r = 0; of_all && r < g.ranks; ++r)
      if (const std::string one = name_of_rank(name, r); !is_given(one)) all.emplace_back(one, file);
  }
  return all;
}

/// Returns the graph of all ranks with the outputs of one; that of all if `rank` is -1.
graph::KernelGraph of_rank(graph::KernelGraph over, const graph::KernelGraph& g, int rank) {
  if (rank < 0) return over;
  const auto first = over.outputs.begin() + rank * static_cast<std::ptrdiff_t>(g.outputs.size());
  over.outputs = std::vector<int>(first, first + static_cast<std::ptrdiff_t>(g.outputs.size()));
  return over;
}

/// Stores in `r` how the ranks ran.
void report(const RanksRun& ran, RunResult& r) {
  emulate::Counters all;
  for (const EmulatedKernel& k : ran.kernels) all += k.counters;
  r.counters = run::named(all);
  if (!ran.note.empty()) r.notes.push_back(ran.note);
  r.compile_ms = ran.compile_ms, r.run_ms = ran.run_ms, r.times = ran.times;
  for (const emulate::Finding& f : ran.findings) r.findings.push_back(f.message);
  if (r.findings.empty() && ran.complete) return;
  r.status = Status::wrong;
  r.reason = r.findings.empty() ? "the emulator gave a launch up" : r.findings[0];
}

/// Returns what the ranks run. `all`: the graph with the sizes of which `g` has values; null if there are none. The program is that of all
/// values, with the numbers of these, unless kernels need a size as a constant.
RankProgram program_of(const graph::KernelGraph& g, const graph::KernelGraph* all, const RunOptions& o,
                       const toolchain::Cache& cache, RunResult& r) {
  CompileOptions options = o.compile;
  options.constants.clear();  // the graph declares them
  const target::Target& target = target::find(o.target);
  if (all) {
    std::string why;
    try {
      kernel::Rejections rejected;
      options.rejected = &rejected;
      RankProgram of_all = compile_over_ranks(*all, target, options, cache, o.collectives);
      return at_values(std::move(of_all), graph::values_of(*all, o.sizes));
    } catch (const Rejected& e) {
      why = kernel::told(e);
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      why = e.what();
    }
    r.notes.push_back("compiled for these sizes alone: " + why);
  }
  options.rejected = &r.rejected;
  return compile_over_ranks(g, target, options, cache, o.collectives);
}

/// Plans, compiles, runs and checks all ranks of the graph with one seed. `open`: the graph with sizes, as of program_of().
void fill(const graph::KernelGraph& g, const graph::KernelGraph* open, const RunOptions& o,
          const toolchain::Cache& cache, RunResult& r) {
  require_options_of_ranks(g, o);
  const graph::KernelGraph over = over_ranks(g);
  std::optional<RankProgram> program;
  if (o.on != Machine::reference) {
    o.compile.say("planning");
    program = program_of(g, open, o, cache, r);
    r.plan_ms = program->plan_ms;
    for (const RankStep& step : program->steps)
      for (const manifest::KernelLaunch& k :
           step.program ? step.program->manifest.kernels : std::vector<manifest::KernelLaunch>{})
        r.kernels.push_back({k.name, k.grid, k.block, k.shared_bytes});
    std::ranges::move(notes_of(*program), std::back_inserter(r.notes));
  }
  const Check check = o.on == Machine::reference ? Check::full : o.check.value_or(run::standard_check(over));
  r.check = name(check);
  o.compile.say("finding inputs");
  RunOptions of_inputs = o;
  of_inputs.compile.inputs = files_of_ranks(g, o.compile.inputs);
  auto start = system::SteadyClock::now();
  const reference::RandomInputs inputs = inputs_of(over, of_inputs, check);
  r.inputs_ms = system::ms_since(start);
  for (std::size_t i = 0; i < over.inputs.size(); ++i)
    r.scales.emplace_back(over.tensors[over.inputs[i]].name, std::ldexp(1.0, inputs.exponents[i]));
  r.status = check == Check::none ? Status::unchecked : Status::correct;
  RanksRun ran;
  if (program) {
    o.compile.say("compiling and running");
    RankFacts facts = facts_of_ranks(g, o.target);
    facts.emplace_back("seed", std::to_string(o.compile.seed));
    ran = o.on == Machine::gpu ? run_rank_on_gpu(*program, over, inputs, facts, cache, o.time)
                               : run_ranks_emulated(*program, over, inputs, cache, o.workers);
    report(ran, r);
    o.compile.say("checking");
    start = system::SteadyClock::now();
    const graph::KernelGraph checked = of_rank(over, g, ran.rank);
    if (check == Check::full && ran.complete)
      check_all(checked, ran.manifest, ran.storage, inputs, r);
    else if (check == Check::sampled && ran.complete)
      check_sample(checked, ran.manifest, ran.storage, inputs, {.threads = o.workers, .say = o.compile.say}, r);
    r.check_ms = system::ms_since(start);
  } else {
    r.status = Status::reference;
  }
  if (o.dump.empty() || !o.outputs) return;
  emit::EmittedProgram all{.manifest = ran.manifest};
  if (program)
    for (const RankStep& step : program->steps) all.source += step.program ? step.program->source : "";
  dump(*o.outputs, o.dump, over, inputs, check == Check::full ? &inputs.reference : nullptr, program ? &all : nullptr,
       program ? &ran.storage : nullptr);
}

}  // namespace

RunResult run_ranks(const graph::KernelGraph& g, const RunOptions& o, const toolchain::Cache& cache) {
  if (g.ranks == 1 && !graph::has_collectives(g)) return run::run(g, o, cache);
  return run::run_by(g, o, [&](graph::KernelGraph bound, const RunOptions& with, RunResult& r) {
    run::declare_constant(bound, with.compile.constants);
    graph::KernelGraph open = g;
    if (g.sizes) run::declare_constant(open, with.compile.constants);
    fill(bound, g.sizes ? &open : nullptr, with, cache, r);
  });
}

}  // namespace zellige::ranks
