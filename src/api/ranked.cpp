#include "api/ranked.hpp"

#include <algorithm>
#include <cstring>

#include "graph/error.hpp"
#include "run/compile.hpp"
#include "target/target.hpp"

namespace zellige::api {
namespace {

using manifest::TensorPlace, run::Bytes;

/// Returns the target that the options name, or that of this rank's GPU.
std::string target_for(const CallOptions& o, int device) {
  if (!o.target.empty()) return std::string(target::find(o.target).name);
  return device == no_gpu ? "sm_80" : run::gpu_target();
}

/// Throws Error unless the graph can run on the ranks of the job.
void require_runs(const graph::KernelGraph& g, const JoinedRanks& ranks, const CallOptions& o) {
  if (g.ranks != ranks.count())
    fail("{}: its graph is over {} rank{}, and the job has {}", g.name, g.ranks, g.ranks == 1 ? "" : "s",
         ranks.count());
  if (g.sizes)
    fail("{}: expected constant shapes in a graph over ranks, found sizes that are known at launch only", g.name);
  if (o.compile.tune > 0) fail("{}: tune: a graph over {} ranks is not tuned", g.name, g.ranks);
}

std::vector<TensorPlace> places_of(const graph::KernelGraph& g, const std::vector<int>& tensors, manifest::Role role) {
  std::vector<TensorPlace> all;
  for (int t : tensors) {
    all.push_back(ranks::place_of_rank(g.tensors[t], role, static_cast<int>(all.size())));
    if (const auto input = std::ranges::find(g.inputs, g.tensors[t].memory); input != g.inputs.end())
      all.back().memory = static_cast<int>(input - g.inputs.begin());
  }
  return all;
}

}  // namespace

OnDevice::OnDevice(int device) {
  if (device == no_gpu) return;
  kept_.emplace();
  device_.emplace(device);
  kept_->use(device);
}

JoinedRanks::~JoinedRanks() {
  try {
    const OnDevice here(device);
    nccl.reset();
  } catch (...) {  // at process exit the driver may be gone already
    static_cast<void>(nccl.release());
  }
}

void connect(JoinedRanks& all) {
  const std::lock_guard lock(all.mutex);
  if (all.nccl) return;
  require_same(*all.rendezvous, {{"machine", all.device == no_gpu ? "the emulator" : "a GPU"}});
  if (all.device == no_gpu) return;
  const OnDevice here(all.device);
  all.nccl = std::make_unique<ranks::Communicator>(all.rendezvous);
}

std::shared_ptr<JoinedRanks> joined(void* comm) {
  const auto made = std::make_shared<JoinedRanks>(nullptr, current_gpu().index);
  const OnDevice here(made->device);
  made->nccl = std::make_unique<ranks::Communicator>(comm);
  return made;
}

int device_for(On on) {
  if (on == On::emulator) return no_gpu;
  if (on == On::reference) fail("on: expected a GPU or the emulator for ranks, found the reference");
  const run::GpuFound& found = gpu();
  if (found.why_not.empty()) return current_gpu().index;
  if (on == On::gpu) fail("on gpu: {}", found.why_not);
  return no_gpu;
}

RankedProgram::RankedProgram(graph::KernelGraph g, std::shared_ptr<JoinedRanks> ranks, const CallOptions& o)
    : ranks_(std::move(ranks)),
      cache_(toolchain::Cache::standard()),
      target_([&] {
        const OnDevice here(ranks_->device);
        return target_for(o, ranks_->device);
      }()),
      workers_(o.workers),
      places_{.name = g.name} {
  const std::lock_guard lock(ranks_->mutex);
  const OnDevice here(ranks_->device);
  require_runs(g, *ranks_, o);
  ranks::RankFacts facts = ranks::facts_of_ranks(g, target_);
  facts.emplace_back("choice of collectives", std::to_string(static_cast<int>(o.collectives)));
  if (ranks_->nccl)
    ranks_->nccl->require_same(facts);
  else
    require_same(*ranks_->rendezvous, facts);
  inputs_ = places_of(g, g.inputs, manifest::Role::input), outputs_ = places_of(g, g.outputs, manifest::Role::output);
  const target::Target& target = target::find(target_);
  run::CompileOptions options = o.compile;
  run::declare_constant(g, options.constants);
  options.constants.clear();
  options.plan = run::tiling_options(o.tiling, target);
  options.reasons = fuse::Reasons::omitted;
  program_ = ranks::compile_over_ranks(g, target, options, cache_, o.collectives);
  if (ranks_->nccl)
    engine_ = std::make_unique<ranks::RankEngine>(*program_, *ranks_->nccl, ranks::kernels_on_gpu(cache_),
                                                  ranks::TensorsOf::caller);
}

RankedProgram::~RankedProgram() {
  try {
    const OnDevice here(ranks_->device);
    engine_.reset();
  } catch (...) {
    static_cast<void>(engine_.release());
  }
}

void RankedProgram::check_places(void* const* inputs, void* const* outputs) const {
  for (const TensorPlace& t : inputs_) {
    const void* at = inputs[t.position];
    check_address(places_, t, at);
    if (engine_) continue;
    if (const auto bad = unreadable(at, static_cast<std::size_t>(t.bytes)))
      mistake(places_, t, "expected {} bytes that can be read, found none at {:#x}", t.bytes, *bad);
  }
  for (const TensorPlace& t : outputs_) {
    const void* at = outputs[t.position];
    check_address(places_, t, at);
    if (t.memory >= 0 && at != inputs[t.memory]) other_memory(places_, t, inputs_[static_cast<std::size_t>(t.memory)]);
    if (engine_) continue;
    if (const auto bad = unwritable(at, static_cast<std::size_t>(t.bytes)))
      mistake(places_, t, "expected {} bytes that can be written, found none at {:#x}", t.bytes, *bad);
  }
}

void RankedProgram::launch(void* const* inputs, void* const* outputs, void* stream) {
  const std::lock_guard lock(mutex_);
  check_places(inputs, outputs);
  if (!engine_) {
    if (stream) fail("program {}: expected no stream, since it runs on the emulator, found {}", places_.name, stream);
    run_on_host(inputs, outputs);
    return;
  }
  const OnDevice here(ranks_->device);
  for (const TensorPlace& t : inputs_) require_device_memory(places_, t, inputs[t.position]);
  for (const TensorPlace& t : outputs_) require_device_memory(places_, t, outputs[t.position]);
  std::vector<std::uint64_t> in, out;
  for (std::size_t i = 0; i < inputs_.size(); ++i) in.push_back(reinterpret_cast<std::uint64_t>(inputs[i]));
  for (std::size_t i = 0; i < outputs_.size(); ++i) out.push_back(reinterpret_cast<std::uint64_t>(outputs[i]));
  engine_->place(in, out);
  engine_->run(stream);
}

void RankedProgram::run_on_host(void* const* inputs, void* const* outputs) {
  const graph::KernelGraph& g = program_->graph;
  std::vector<Bytes> memory(g.tensors.size());
  for (const TensorPlace& t : inputs_) {
    const auto* from = static_cast<const std::byte*>(inputs[t.position]);
    memory[g.inputs[t.position]].assign(from, from + t.bytes);
  }
  {
    const std::lock_guard lock(ranks_->mutex);
    run_rank_emulated(*program_, *ranks_->rendezvous, memory, cache_, workers_);
  }
  for (const TensorPlace& t : outputs_) {
    const Bytes& made = memory[g.outputs[t.position]];
    auto* to = static_cast<std::byte*>(outputs[t.position]);
    run::each_element(t, [&](std::size_t at, std::size_t n) { std::memcpy(to + at, made.data() + at, n); });
  }
}

void RankedProgram::wait(void* stream) {
  if (!engine_) return;
  const OnDevice here(ranks_->device);
  ranks_->nccl->wait(stream, places_.name);
}

std::string RankedProgram::text(zellige_text which) const {
  std::string all;
  switch (which) {
    case ZELLIGE_MANIFEST:
      return to_json(*program_);
    case ZELLIGE_SOURCE:
      for (const ranks::RankStep& step : program_->steps)
        if (step.program) all += step.program->source;
      return all;
    case ZELLIGE_TARGET:
      return target_;
    case ZELLIGE_NOTES:
      for (const std::string& note : notes_of(*program_)) all += note + "\n";
      if (engine_ && !engine_->fallback().empty()) all += engine_->fallback() + "\n";
      return all;
    default:
      fail("zellige_rank_program_text: expected the manifest, source, target or notes, found {}",
           static_cast<int>(which));
  }
}

}  // namespace zellige::api
