#include "run/run.hpp"

#include <cmath>

#include "graph/error.hpp"
#include "json/json.hpp"
#include "manifest/launch_sizes.hpp"
#include "manifest/variants.hpp"
#include "run/driver.hpp"
#include "run/dump.hpp"
#include "run/emulated.hpp"
#include "run/gpu.hpp"
#include "run/interpreted.hpp"
#include "run/storage.hpp"
#include "system/elapsed.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "toolchain/host_compiler.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::run {
namespace {

/// Throws Error unless the program's inputs and outputs are the graph's.
void require_arguments(const graph::KernelGraph& g, const emit::EmittedProgram& p) {
  std::size_t inputs = 0, outputs = 0;
  for (const manifest::TensorPlace& t : p.manifest.tensors) {
    if (t.role == manifest::Role::intermediate) continue;
    const bool input = t.role == manifest::Role::input;
    const std::vector<int>& all = input ? g.inputs : g.outputs;
    (input ? inputs : outputs) += 1;
    const auto at = static_cast<std::size_t>(t.position);
    const graph::KernelTensor* own = at < all.size() ? &g.tensors[all[at]] : nullptr;
    if (!own || own->name != t.name || own->shape != t.shape || own->dtype != t.dtype)
      fail("--ir: {} {} of program {} is {} {} {}; graph {} has {}", input ? "input" : "output", at + 1,
           p.manifest.name, t.name, graph::name(t.dtype), graph::to_string(t.shape), g.name,
           own ? fmt::format("{} {} {}", own->name, graph::name(own->dtype), graph::to_string(own->shape))
               : "none there");
  }
  if (outputs < g.outputs.size() || inputs > g.inputs.size())
    fail("--ir: program {} has {} outputs; graph {} has {}", p.manifest.name, outputs, g.name, g.outputs.size());
}

/// Returns the variant of a program that a launch with these values of its sizes runs, alone, with the manifest of the launch.
emit::EmittedProgram program_at(emit::EmittedProgram whole, std::span<const std::int64_t> values, RunResult& r) {
  const manifest::Manifest& of = manifest::variant_at(whole.manifest, values);
  const std::vector<std::int64_t> own = manifest::values_in(whole.manifest, of, values);
  if (&of != &whole.manifest) r.notes.push_back("by the kernels for " + manifest::text_of(of.range));
  emit::EmittedProgram one = whole.variants.empty() ? std::move(whole) : emit::alone(whole, of);
  one.manifest = manifest::at_sizes(one.manifest, own);
  return one;
}

/// Returns the program of a graph with sizes that are known at launch, which is for all their values, with the manifest of a launch
/// with the run's; nullopt, and a note, if kernels need a size as a constant.
std::optional<emit::EmittedProgram> program_for_all(const graph::KernelGraph& all, const RunOptions& o,
                                                    const toolchain::Cache& cache, RunResult& r) {
  if (o.compile.tune > 0) {
    r.notes.emplace_back("compiled for these sizes alone: tilings are measured for them");
    return std::nullopt;
  }
  try {
    CompileOptions options = o.compile;
    kernel::Rejections rejected;
    options.rejected = &rejected;
    Compiled made = compile(all, target::find(o.target), std::move(options), cache);
    r.plan_ms = made.plan_ms;
    const graph::SizeValues of = graph::values_of(all, o.sizes);
    std::vector<std::int64_t> values;
    for (const tile::Size& s : made.program.manifest.sizes) values.push_back(of.at(s.name));
    return program_at(std::move(made.program), values, r);
  } catch (const Rejected& e) {
    r.notes.push_back(fmt::format("compiled for these sizes alone: {}", kernel::told(e)));
    return std::nullopt;
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    r.notes.push_back(fmt::format("compiled for these sizes alone: {}", e.what()));
    return std::nullopt;
  }
}

/// Returns the program of the graph: planned and emitted, or the one of the options. Stores in `r` what planning took. `all`: the
/// graph with the sizes of which `g` has values; null if there are none.
emit::EmittedProgram program_of(const graph::KernelGraph& g, const graph::KernelGraph* all, const RunOptions& o,
                                const toolchain::Cache& cache, RunResult& r) {
  if (o.program) {
    require_arguments(g, o.program->program);
    return o.program->program;
  }
  o.compile.say("planning");
  if (all) {
    if (std::optional<emit::EmittedProgram> p = program_for_all(*all, o, cache, r)) return *std::move(p);
  }
  CompileOptions options = o.compile;
  options.rejected = &r.rejected;
  options.watch = [&](const rewrite::Progress& p) {
    o.compile.say(fmt::format("planning: {} of {} {}", p.done, p.of, p.phase));
    return true;
  };
  Compiled made = compile(g, target::find(o.target), std::move(options), cache);
  r.tried = std::move(made.tuned.tried);
  if (!made.tuned.note.empty()) r.notes.push_back(made.tuned.note);
  r.plan_ms = made.plan_ms;
  return std::move(made.program);
}

// Runs the program on the emulator and stores times, counters and findings (errors in the kernels) in `r`; a
// finding makes the result wrong.
void run_on_emulator(const emit::EmittedProgram& p, std::vector<Bytes>& storage, const RunOptions& o,
                     const toolchain::Cache& cache, RunResult& r) {
  const EmulatedRun e = run_emulated(p, storage, cache, o.workers);
  emulate::Counters all;
  for (const EmulatedKernel& k : e.kernels) all += k.counters;
  r.counters = named(all);
  r.compile_ms = e.library.compile_ms;
  r.compile_cached = e.library.cached;
  if (!e.library.note.empty()) r.notes.push_back(e.library.note);
  r.run_ms = e.run_ms;
  for (const emulate::Finding& f : e.findings) r.findings.push_back(f.message);
  if (r.findings.empty() && e.complete) return;
  r.status = Status::wrong;
  r.reason = r.findings.empty() ? "the emulator gave the launch up" : r.findings[0];
  if (r.findings.size() > 1) r.reason += fmt::format(" (and {} findings more)", r.findings.size() - 1);
}

// Compiles the program, runs it on the GPU, and stores times and registers in `r`.
void run_on_device(const emit::EmittedProgram& p, std::vector<Bytes>& storage, const RunOptions& o,
                   const toolchain::Cache& cache, RunResult& r) {
  o.compile.say("compiling");
  const toolchain::Cubin cubin = toolchain::compile_cubin(p.source, architecture_for(p.manifest.target), cache);
  r.compile_ms = cubin.compile_ms;
  r.compile_cached = cubin.cached;
  if (!cubin.note.empty()) r.notes.push_back(cubin.note);
  std::optional<system::OpenFile> alone;
  if (o.time != Timing::off) o.compile.say("waiting for the GPU"), alone.emplace(lock_gpu(cache));
  o.compile.say("running");
  const GpuRun g = run_on_gpu(p.manifest, cubin, storage, o.time);
  r.run_ms = g.run_ms;
  r.times = g.times;
  for (std::size_t i = 0; i < g.kernels.size(); ++i) {
    r.kernels[i].registers = g.kernels[i].registers;
    r.kernels[i].local_bytes = g.kernels[i].local_bytes;
  }
  if (!g.fault.empty()) r.status = Status::wrong, r.reason = g.fault;
  const Device& d = device();
  r.device = fmt::format("{}, driver {}.{}, {} MHz at most", d.name, d.driver / 1000, d.driver % 1000 / 10,
                         d.clock_khz / 1000);
}

// Plans, compiles, runs and checks the graph with one seed, and stores the outcome in `r`. Throws on failure.
void fill(graph::KernelGraph g, const graph::KernelGraph* all, const RunOptions& o, const toolchain::Cache& cache,
          RunResult& r) {
  declare_constant(g, o.compile.constants);
  // Planning is cheap and rejects what cannot run, so it comes first; inputs and reference may take seconds.
  std::optional<emit::EmittedProgram> program;
  if (o.on != Machine::reference) {
    program = program_of(g, all, o, cache, r);
    r.buffer_size = program->manifest.buffer_size;
    r.kernel = toolchain::source_file(program->source, program->manifest.name, cache).string();
    for (const manifest::KernelLaunch& k : program->manifest.kernels)
      r.kernels.push_back({k.name, k.grid, k.block, k.shared_bytes});
  }
  const Check check = o.on == Machine::reference ? Check::full : o.check.value_or(standard_check(g));
  r.check = name(check);
  o.compile.say("finding inputs");
  auto start = system::SteadyClock::now();
  const reference::RandomInputs inputs = inputs_of(g, o, check);
  r.inputs_ms = system::ms_since(start);
  for (std::size_t i = 0; i < g.inputs.size(); ++i)
    r.scales.emplace_back(g.tensors[g.inputs[i]].name, std::ldexp(1.0, inputs.exponents[i]));
  if (program && o.program && check == Check::full) {
    o.compile.say("interpreting the tile programs");
    require_computes(*o.program, g, inputs);
  } else if (program && o.program) {
    r.notes.emplace_back("the tile programs are not interpreted: the graph is large, or its check is not full");
  }
  // A dump that cannot be written adds to the reason.
  const auto keep = [&](const emit::EmittedProgram* p, const std::vector<Bytes>* bytes) {
    if (o.dump.empty() || !o.outputs) return;
    o.compile.say("writing the dump");
    try {
      dump(*o.outputs, o.dump, g, inputs, check == Check::full ? &inputs.reference : nullptr, p, bytes);
    } catch (const Error& e) {
      if (r.status != Status::wrong) r.status = Status::refused;
      r.reason += fmt::format("{}--dump: {}", r.reason.empty() ? "" : "\n", e.what());
    }
  };
  if (!program) {
    r.status = Status::reference;
    keep(nullptr, nullptr);
    return;
  }
  std::vector<Bytes> storage = starting_storage(g, program->manifest, inputs);
  r.status = check == Check::none ? Status::unchecked : Status::correct;
  if (o.on == Machine::emulator) o.compile.say("compiling and running");
  try {
    (o.on == Machine::gpu ? run_on_device : run_on_emulator)(*program, storage, o, cache, r);
  } catch (const Fault&) {  // a report of the fault needs the graph, its inputs and its kernels
    keep(&*program, nullptr);
    throw;
  }
  o.compile.say("checking");
  start = system::SteadyClock::now();
  if (check == Check::full)
    check_all(g, program->manifest, storage, inputs, r);
  else if (check == Check::sampled)
    check_sample(g, program->manifest, storage, inputs, {.threads = o.workers, .say = o.compile.say}, r);
  r.check_ms = system::ms_since(start);
  keep(&*program, &storage);
}

// Returns the result of running the graph with one seed; turns exceptions into a status and a reason.
RunResult run_once(const graph::KernelGraph& g, const RunOptions& o, const OneRun& one) {
  RunResult r{.graph = g.name, .target = o.target, .on = std::string(name(o.on)), .seed = o.compile.seed};
  const auto end = [&](Status status, std::string reason) { r.status = status, r.reason = std::move(reason); };
  try {
    if (g.sizes) r.notes.push_back("at " + text_of(graph::values_of(g, o.sizes)));
    one(bound_graph(g, o.sizes), o, r);
  } catch (const Rejected& e) {
    end(Status::failed, kernel::told(e));
    kernel::add(r.rejected, e.what());
  } catch (const Fault& e) {
    end(Status::failed, e.what());
  } catch (const Error& e) {
    end(Status::refused, e.what());
  } catch (const std::bad_alloc&) {
    end(Status::refused, g.name + ": its tensors do not fit into this machine's memory");
  } catch (const std::exception& e) {
    end(Status::failed, fmt::format("{}: an error within Zellige: {}", g.name, e.what()));
  }
  return r;
}

}  // namespace

std::string_view name(Machine e) {
  constexpr std::string_view names[] = {"gpu", "emulator", "reference"};
  return names[static_cast<int>(e)];
}

reference::RandomInputs inputs_of(const graph::KernelGraph& g, const RunOptions& o, Check check) {
  const reference::GivenInputs given = given_inputs(g, o.compile.inputs);
  if (check == Check::full) return reference::random_inputs(g, o.compile.seed, given);
  return {reference::choose_inputs(g, o.compile.seed, given), {}, {}};
}

RunResult run(const graph::KernelGraph& g, const RunOptions& o, const toolchain::Cache& cache) {
  return run_by(g, o, [&](graph::KernelGraph bound, const RunOptions& with, RunResult& r) {
    fill(std::move(bound), g.sizes ? &g : nullptr, with, cache, r);
  });
}

RunResult run_by(const graph::KernelGraph& g, const RunOptions& o, const OneRun& one) {
  RunResult r = run_once(g, o, one);
  for (std::uint64_t more = 1; more <= 2 && r.status == Status::borderline; ++more) {
    RunOptions other = o;
    other.compile.seed += more, other.dump.clear(), other.time = Timing::off;
    const RunResult again = run_once(g, other, one);
    if (again.status != Status::wrong) continue;
    r.status = Status::wrong;
    r.reason = fmt::format("{} (borderline with seed {})", again.reason, o.compile.seed);
  }
  return r;
}

std::string gpu_target() {
  toolchain::nvrtc_version();
  const int cc = device().compute_capability;
  for (const target::Target& t : target::all())
    if (t.compute_capability == cc) return std::string(t.name);
  // Code for an earlier minor version runs on this GPU.
  for (const target::Target& t : target::all()) {
    const bool exact = t.name.ends_with('a');
    if (!exact && t.compute_capability / 10 == cc / 10 && t.compute_capability <= cc) return std::string(t.name);
  }
  fail("the {} here is sm_{}, which no known target runs on", device().name, cc);
}

GpuFound find_gpu() {
  GpuFound found;
  system::run_jobs(
      1, 1,
      [](int) -> std::string {
        try {
          return fmt::format("+{}", gpu_target());
        } catch (const Error& e) {
          return fmt::format("-{}", e.what());
        }
      },
      [&](int, const system::JobEnd& end) {
        if (!end.crash.empty())
          found.why_not = "looking for a GPU was " + end.crash;
        else
          (end.result.starts_with('+') ? found.target : found.why_not) = end.result.substr(1);
      });
  return found;
}

}  // namespace zellige::run
