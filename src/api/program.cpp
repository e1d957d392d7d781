#include "api/program.hpp"

#include <cstring>
#include <limits>

#include "graph/error.hpp"
#include "graph/sized_graph.hpp"
#include "manifest/launch_sizes.hpp"
#include "manifest/variants.hpp"
#include "reference/reference.hpp"
#include "run/emulated.hpp"
#include "run/npy.hpp"
#include "run/storage.hpp"

namespace zellige::api {
namespace {

using run::Bytes;

/// The caller's tensors: the address of each input and output in order, with the manifest's strides. An
/// output that updates an input in place has the same address as the input.
struct HostMemory {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

/// Returns the manifest's tensors, in which extents and strides that sizes decide are -1.
std::vector<manifest::TensorPlace> told_tensors(const manifest::Manifest& m) {
  std::vector<manifest::TensorPlace> all = m.tensors;
  for (const auto& [field, is] : m.sized) {
    const auto of = static_cast<std::size_t>(field.of), at = static_cast<std::size_t>(field.at);
    if (field.kind == manifest::SizedField::extent) all[of].shape[at] = -1;
    if (field.kind == manifest::SizedField::stride) all[of].strides[at] = -1;
  }
  return all;
}

/// Returns a copy of a caller's tensor.
Bytes copied(const manifest::TensorPlace& t, const void* from) {
  Bytes bytes(static_cast<std::size_t>(t.bytes));
  std::memcpy(bytes.data(), from, bytes.size());
  return bytes;
}

/// Replaces every NaN of a tensor by the bit pattern `nan`. `infinity`: the bit pattern of infinity.
template <class Bits>
void canonicalize_nans(const manifest::TensorPlace& t, Bytes& bytes, Bits infinity, Bits nan) {
  constexpr Bits magnitude = std::numeric_limits<Bits>::max() / 2;
  run::each_element(t, [&](std::size_t at, std::size_t n) {
    for (std::size_t i = at; i < at + n; i += sizeof(Bits)) {
      Bits x;
      std::memcpy(&x, bytes.data() + i, sizeof(x));
      if ((x & magnitude) > infinity) std::memcpy(bytes.data() + i, &nan, sizeof(x));
    }
  });
}

/// Returns a copy of a caller's tensor for the emulator. Replaces every NaN of f16, bf16, f32 and f64 by one bit
/// pattern, because the emulator marks unwritten memory by another NaN.
Bytes copied_to_emulator(const manifest::TensorPlace& t, const void* from) {
  Bytes bytes = copied(t, from);
  if (t.dtype == graph::DType::f16) canonicalize_nans<std::uint16_t>(t, bytes, 0x7c00, 0x7e00);
  if (t.dtype == graph::DType::bf16) canonicalize_nans<std::uint16_t>(t, bytes, 0x7f80, 0x7fc0);
  if (t.dtype == graph::DType::f32) canonicalize_nans<std::uint32_t>(t, bytes, 0x7f800000, 0x7fc00000);
  if (t.dtype == graph::DType::f64) canonicalize_nans<std::uint64_t>(t, bytes, 0x7ff0000000000000, 0x7ff8000000000000);
  return bytes;
}

/// Throws Error if a row index of a gather or scatter is out of range. Kernels would clamp the index.
void check_rows(const manifest::Manifest& m, const graph::KernelGraph& g, const std::vector<Bytes>& storage) {
  const std::vector<graph::Numbers> numbers = graph::drawn_numbers(g);
  for (std::size_t i = 0; i < m.tensors.size(); ++i) {
    const manifest::TensorPlace& t = m.tensors[i];
    if (t.role != manifest::Role::input || numbers[t.position].rows == 0) continue;
    run::check_numbers(numbers[t.position], {t.shape, run::unpack(t, storage[i])},
                       fmt::format("program {}, input {}:", m.name, t.name));
  }
}

/// Copies a tensor's elements to the caller's memory at `to`. Does not write the gaps between elements that
/// strides leave.
void give(const manifest::TensorPlace& t, const Bytes& bytes, void* to) {
  run::each_element(
      t, [&](std::size_t at, std::size_t n) { std::memcpy(static_cast<std::byte*>(to) + at, bytes.data() + at, n); });
}

/// Runs the program's kernels in the emulator with `workers` threads (0: one per core). Returns why an
/// invalid entry of the kernel cache was ignored, or "" if none was. Throws Fault with the emulator's first
/// finding, such as a data race, and Error if a row index is out of range.
std::string run_emulated(const std::string& source, const manifest::Manifest& m, const graph::KernelGraph& g,
                         const HostMemory& memory, const toolchain::Cache& cache, int workers) {
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : m.tensors)
    storage.push_back(t.role == manifest::Role::input ? copied_to_emulator(t, memory.inputs[t.position])
                                                      : run::poisoned(t));
  check_rows(m, g, storage);
  const run::EmulatedRun done = run::run_emulated(source, m, storage, cache, workers);
  if (!done.findings.empty())
    fault("program {}: the emulator found: {}{}", m.name, done.findings[0].message,
          done.findings.size() > 1 ? fmt::format(" (and {} findings more)", done.findings.size() - 1) : "");
  if (!done.complete) fault("program {}: the emulator gave the launch up", m.name);
  for (std::size_t i = 0; i < m.tensors.size(); ++i)
    if (const manifest::TensorPlace& t = m.tensors[i]; t.role == manifest::Role::output)
      give(t, storage[i], memory.outputs[t.position]);
  return done.library.note;
}

/// Computes the outputs in float64 from the graph (reference/reference.hpp), without kernels.
void run_reference(const manifest::Manifest& m, const graph::KernelGraph& g, const HostMemory& memory) {
  std::vector<reference::Array> inputs(g.inputs.size());
  for (const manifest::TensorPlace& t : m.tensors)
    if (const auto at = static_cast<std::size_t>(t.position); t.role == manifest::Role::input)
      inputs[at] = {t.shape, run::unpack(t, copied(t, memory.inputs[at]))};
  const std::vector<reference::Array> outputs = reference::run_reference(g, inputs);
  for (const manifest::TensorPlace& t : m.tensors)
    if (const auto at = static_cast<std::size_t>(t.position); t.role == manifest::Role::output)
      give(t, run::pack(t, outputs[at].values), memory.outputs[at]);
}

}  // namespace

CallableProgram::CallableProgram(const graph::KernelGraph& graph, const CallOptions& options)
    : graph_(graph),
      options_(options),
      cache_(toolchain::Cache::standard()),
      compiled_(made()),
      emitted_(compiled_.program),
      signature_(emitted_.manifest),
      told_(told_tensors(emitted_.manifest)),
      launches_(emitted_.manifest) {
  run::check(emitted_.manifest);
  if (options_.on == On::gpu) launcher();
}

CallableProgram::CallableProgram(manifest::Manifest m, toolchain::Cubin cubin)
    : options_({.on = On::gpu}),
      cache_(toolchain::Cache::standard()),
      compiled_{{.source = {}, .plan = {}, .cost = {}, .graph = {}, .manifest = std::move(m)}},
      emitted_(compiled_.program),
      loaded_(std::move(cubin)),
      signature_(emitted_.manifest),
      told_(told_tensors(emitted_.manifest)),
      launches_(emitted_.manifest) {
  try {
    run::check(emitted_.manifest);
  } catch (const Fault& e) {  // the manifest's author is at fault, not Zellige
    throw Error(e.what());
  }
}

CompiledProgram CallableProgram::made() {
  if (!options_.keep || options_.compile.tune > 0) return api::compile(graph_, options_, cache_);
  if (std::optional<CompiledProgram> kept = kept_program(graph_, options_, cache_)) {
    from_cache_ = true;
    return std::move(*kept);
  }
  // A search that the caller ended early may have missed the best plan, so it is not kept.
  bool ended = false;
  CallOptions watched = options_;
  if (options_.compile.watch)
    watched.compile.watch = [&](const rewrite::Progress& p) {
      const bool goes_on = options_.compile.watch(p);
      ended = ended || !goes_on;
      return goes_on;
    };
  CompiledProgram planned = api::compile(graph_, watched, cache_);
  // Neither is the plan that remained after a fault of Zellige's own, which each process reports.
  if (!ended && planned.program.plan.rejected.empty()) keep_program(graph_, options_, cache_, planned);
  return planned;
}

std::string CallableProgram::manifest() const {
  return compiled_.manifest.empty() ? manifest::to_json(emitted_.manifest) : compiled_.manifest;
}

const emit::EmittedProgram& CallableProgram::planned() const {
  if (!from_cache_) return emitted_;
  const std::lock_guard lock(planning_);
  if (!planned_) {
    CallOptions again = options_;
    again.compile.watch = {};  // its caller may be gone
    planned_ = std::make_unique<const CompiledProgram>(api::compile(graph_, again, cache_));
  }
  return planned_->program;
}

// Returns the launcher, which the first call makes. Uses a mutex, not std::call_once: an exception that
// leaves call_once unwinds through glibc's pthread_once. That aborts the process if libgcc is linked
// statically, as it is here.
Launcher& CallableProgram::launcher() {
  const std::lock_guard lock(compiling_);
  if (!launcher_) {
    const manifest::Manifest& m = emitted_.manifest;
    toolchain::Cubin cubin =
        loaded_.bytes.empty()
            ? toolchain::compile_cubin(emitted_.source, run::architecture_for(m.target, current_gpu()), cache_)
            : loaded_;
    notes_ = cubin.note;
    launcher_ = std::make_unique<Launcher>(m, std::move(cubin));
  }
  return *launcher_;
}

std::string CallableProgram::notes() const {
  const std::lock_guard lock(compiling_);
  std::string lines;
  for (const std::string& line : compiled_.limits) lines += line + "\n";
  return lines + notes_;
}

void CallableProgram::launch(std::span<const std::int64_t> sizes, void* const* inputs, void* const* outputs,
                             void* workspace, void* stream) {
  const manifest::Manifest& m = emitted_.manifest;
  if (options_.on == On::emulator || options_.on == On::reference)
    fail("program {}: was made for the {}, which takes no addresses of a GPU", m.name,
         options_.on == On::emulator ? "emulator" : "reference");
  const std::shared_ptr<const manifest::Manifest> launch = launches_.at(sizes);
  for (std::size_t i = 0; i < signature_.inputs.size(); ++i)
    check_address(m, launch->tensors[static_cast<std::size_t>(signature_.inputs[i])], inputs[i]);
  for (std::size_t i = 0; i < signature_.outputs.size(); ++i) {
    check_address(m, launch->tensors[static_cast<std::size_t>(signature_.outputs[i])], outputs[i]);
    if (output(i).memory < 0) continue;
    const manifest::TensorPlace& changed = place(output(i).memory);
    if (changed.role == manifest::Role::input && outputs[i] != inputs[changed.position])
      other_memory(m, output(i), changed);
  }
  launcher().launch(*launch, inputs, outputs, workspace, stream);
}

void CallableProgram::launch(const manifest::Manifest& m, int device, std::span<const zellige_tensor> inputs,
                             std::span<const zellige_tensor> outputs, void* stream, KeptLaunch* kept) {
  std::vector<void*> in, out;
  in.reserve(inputs.size()), out.reserve(outputs.size());
  for (const zellige_tensor& t : inputs) in.push_back(address(t));
  for (const zellige_tensor& t : outputs) out.push_back(address(t));
  const KeptContext context;
  context.use(device);
  launcher().launch(m, in.data(), out.data(), nullptr, stream, kept);
}

void CallableProgram::call(std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs,
                           void* stream, ReadablePages* untrusted) {
  if (const auto form = untrusted ? nullptr : forms_.find(inputs, outputs)) {
    check_addresses(form->launch(), signature_, inputs, outputs);
    return launch(form->launch(), form->device(), inputs, outputs, stream, &form->kept());
  }
  const std::vector<std::int64_t> sizes = sizes_of_call(emitted_.manifest, signature_, inputs, outputs, untrusted);
  const std::shared_ptr<const manifest::Manifest> launch = launches_.at(sizes);
  const manifest::Manifest& m = *launch;
  const CallDevice where = check_arguments(m, signature_, inputs, outputs, untrusted);
  if (where.on_gpu && (options_.on == On::emulator || options_.on == On::reference))
    fail("program {}: was made for the {}, expected tensors on the host, found them on cuda:{}", m.name,
         options_.on == On::emulator ? "emulator" : "reference", where.device);
  if (!where.on_gpu && options_.on == On::gpu)
    fail("program {}: was made for the GPU, expected tensors on it, found them on the host", m.name);
  if (!where.on_gpu && stream) fail("program {}: its tensors lie on the host, where there is no stream", m.name);

  if (where.on_gpu) {
    if (untrusted) return this->launch(m, where.device, inputs, outputs, stream, nullptr);
    const auto form = std::make_shared<CallForm>(launch, where.device, inputs, outputs);
    this->launch(m, where.device, inputs, outputs, stream, &form->kept());
    return forms_.keep(form);
  }
  check_host_memory(m, signature_, inputs, outputs);
  HostMemory memory;
  for (const zellige_tensor& t : inputs) memory.inputs.push_back(address(t));
  for (const zellige_tensor& t : outputs) memory.outputs.push_back(address(t));
  if (options_.on == On::reference) return run_reference(m, graph_of_launch(sizes), memory);
  const emit::EmittedProgram* alone = alone_at(sizes);
  std::string note;
  if (alone) {
    const manifest::Manifest& of = manifest::variant_at(emitted_.manifest, sizes);
    const manifest::Manifest own =
        manifest::at_sizes(alone->manifest, manifest::values_in(emitted_.manifest, of, sizes));
    note = run_emulated(alone->source, own, graph_, memory, cache_, options_.workers);
  } else {
    note = run_emulated(emitted_.source, m, graph_, memory, cache_, options_.workers);
  }
  if (note.empty()) return;
  const std::lock_guard lock(compiling_);
  notes_ = note;
}

/// Returns the program of the variant that a launch with these sizes runs, alone, so that the emulator compiles no other; nullptr: there
/// are no variants, or their plans were not kept.
const emit::EmittedProgram* CallableProgram::alone_at(std::span<const std::int64_t> sizes) {
  if (emitted_.variants.empty()) return nullptr;
  const manifest::Manifest& of = manifest::variant_at(emitted_.manifest, sizes);
  const std::lock_guard lock(compiling_);
  const auto [found, is_new] = alone_.try_emplace(&of);
  if (is_new) found->second = emit::alone(emitted_, of);
  return &found->second;
}

graph::KernelGraph CallableProgram::graph_of_launch(std::span<const std::int64_t> sizes) const {
  if (!graph_.sizes) return graph_;
  graph::SizeValues values =
      graph::greatest(graph::sizes_of(graph_));  // a size with one value is none of the program's
  for (std::size_t i = 0; i < sizes.size(); ++i) values[emitted_.manifest.sizes[i].name] = sizes[i];
  return graph::at(graph_, values);
}

void CallableProgram::compile() {
  const manifest::Manifest& m = emitted_.manifest;
  if (options_.on == On::emulator || options_.on == On::reference)
    fail("program {}: was made for the {}; only what runs on a GPU is compiled for one", m.name,
         options_.on == On::emulator ? "emulator" : "reference");
  if (!gpu().why_not.empty()) fail("program {}: compiled for a GPU: {}", m.name, gpu().why_not);
  launcher();
}

double CallableProgram::time() const {
  if (!loaded_.bytes.empty())
    fail("program {}: was loaded by its manifest; only what is compiled here from a graph is timed",
         emitted_.manifest.name);
  if (!gpu().why_not.empty()) fail("time: needs a GPU; {}", gpu().why_not);
  const KeptContext kept;
  // Compiles and times the fused graph. That graph is fused and tiled already, so it compiles to this program.
  const run::RunResult r = run::run(planned().graph,
                                    {.on = run::Machine::gpu,
                                     .target = emitted_.manifest.target,
                                     .time = run::Timing::rotated,
                                     .check = run::Check::none},
                                    cache_);
  if (r.times.samples.empty()) fail("program {}: {}", emitted_.manifest.name, r.reason);
  return run::median(r.times.samples);
}

}  // namespace zellige::api
