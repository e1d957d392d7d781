#include "ranks/rank_engine.hpp"

#include <algorithm>

#include "ranks/symmetric_steps.hpp"
#include "run/bound.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::ranks {
namespace {

using run::BoundProgram, run::Bytes, run::CapturedGraph, run::DeviceBytes, run::Event, run::LoadedProgram, run::Stream;
std::int64_t largest_workspace(const RankProgram& p) {
  std::int64_t maximum = 0;
  const auto add = [&](const RankStep& step) {
    if (step.program) maximum = std::max(maximum, step.program->manifest.buffer_size);
  };
  for (const RankStep& step : p.steps) {
    add(step);
    std::ranges::for_each(step.otherwise, add);
  }
  return maximum;
}

}  // namespace

KernelBinder kernels_on_gpu(const toolchain::Cache& cache) {
  using Programs = std::map<const emit::EmittedProgram*, std::shared_ptr<const LoadedProgram>>;
  return [&cache, programs = std::make_shared<Programs>()](const emit::EmittedProgram& p,
                                                           const std::function<std::uint64_t(std::size_t)>& address) {
    std::shared_ptr<const LoadedProgram>& loaded = (*programs)[&p];
    if (!loaded) {
      const toolchain::Cubin cubin =
          toolchain::compile_cubin(p.source, run::architecture_for(p.manifest.target), cache);
      run::require_architecture(cubin.architecture);
      loaded = std::make_shared<const LoadedProgram>(p.manifest, cubin);
    }
    const auto bound = std::make_shared<const BoundProgram>(*loaded, address);
    // Kernels wait for all that is before them on the stream, since a collective does not say when it ends.
    return [kept = loaded, bound](void* stream) { bound->launch(stream, run::Overlap::none); };
  };
}

RankEngine::RankEngine(const RankProgram& p, Communicator& ranks, KernelBinder bind, TensorsOf whose)
    : program_(p), ranks_(ranks), bind_(std::move(bind)), workspace_(largest_workspace(p)) {
  const auto is_given = [&](int t) {
    const auto in = [t](const std::vector<int>& list) { return std::ranges::find(list, t) != list.end(); };
    return whose == TensorsOf::caller && (in(p.graph.inputs) || in(p.graph.outputs));
  };
  const auto allocate = [&](int t) {
    if (memory_.contains(root(t)) || is_given(root(t))) return;
    const manifest::TensorPlace place = place_of_rank(p.graph.tensors[root(t)], manifest::Role::intermediate, -1);
    memory_.emplace(root(t), place.bytes).first->second.fill(0xff);
  };
  for (int t : p.graph.inputs) allocate(t);
  prepare_symmetric();
  for (const RankStep& step : p.steps) {
    if (!step.by_symmetric || symmetric_)
      active_.push_back(&step);
    else
      for (const RankStep& other : step.otherwise) active_.push_back(&other);
  }
  for (const RankStep* step : active_)
    for (int t : step->segment.outputs) {
      allocate(t);
      if (step->program || step->segment.collective.kind != graph::OpKind::rank) continue;
      if (is_given(t))
        fail("{}: the output {} is the rank's number itself: expected one that an operator computes", p.graph.name,
             p.graph.tensors[t].name);
      const std::int32_t number = ranks.rank();
      memory_.at(t).upload(&number, sizeof number);
    }
  if (whose == TensorsOf::engine) bind_all();
}

void RankEngine::place(std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs) {
  const graph::KernelGraph& g = program_.graph;
  std::map<int, std::uint64_t> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) given[g.inputs.at(i)] = inputs[i];
  for (std::size_t i = 0; i < outputs.size(); ++i) given[g.outputs.at(i)] = outputs[i];
  if (given == given_ && !steps_.empty()) return;
  given_ = std::move(given);
  bind_all();
}

void RankEngine::bind_all() {
  steps_.clear();
  for (const RankStep* step : active_) steps_.push_back(bound(*step));
}

KernelLauncher RankEngine::bound(const RankStep& step) const {
  const Segment& s = step.segment;
  if (step.program) {
    const manifest::Manifest& m = step.program->manifest;
    return bind_(*step.program, [&, this](std::size_t t) {
      const manifest::TensorPlace& place = m.tensors[t];
      if (place.role == manifest::Role::intermediate)
        return workspace_.address() + static_cast<std::uint64_t>(place.offset);
      if (step.by_symmetric) return symmetric_address(step, place);
      return address((place.role == manifest::Role::input ? s.inputs : s.outputs).at(place.position));
    });
  }
  if (s.collective.kind == graph::OpKind::rank) return [](void*) {};
  const graph::KernelTensor& x = program_.graph.tensors[s.inputs[0]];
  const RankBuffers b{address(s.inputs[0]), address(s.outputs[0]), graph::size(x.shape), x.dtype};
  return [this, &s, b](void* stream) { ranks_.enqueue(s.collective, b, stream); };
}

std::uint64_t RankEngine::address(int tensor) const {
  const auto found = given_.find(root(tensor));
  return found != given_.end() ? found->second : memory_.at(root(tensor)).address();
}

/// Allocates the windows, flags and states of all steps in which ranks exchange tiles, if the ranks have memory in common.
void RankEngine::prepare_symmetric() {
  std::int64_t bytes = 0;
  constexpr std::int64_t unit = 1024;
  for (const RankStep& step : program_.steps) {
    if (!step.by_symmetric) continue;
    const SymmetricBytes of = symmetric_bytes(step);
    windows_[&step] = bytes;
    bytes += (of.in_common() + unit - 1) / unit * unit;
  }
  if (windows_.empty()) return;
  try {
    symmetric_ = std::make_unique<SymmetricMemory>(
        RankExchange{ranks_.rank(), ranks_.ranks(),
                     [this](std::string_view mine, std::size_t max_bytes) { return ranks_.exchange(mine, max_bytes); }},
        bytes);
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {  // the same on every rank
    without_symmetric_ = e.what();
    return;
  }
  for (const auto& [step, at] : windows_) {
    DeviceBytes& state = states_.try_emplace(step, symmetric_bytes(*step).state).first->second;
    const std::int32_t rank = ranks_.rank();
    state.fill(0), state.upload(&rank, sizeof rank);
  }
}

/// Returns the address of an argument of a step in which ranks exchange tiles.
std::uint64_t RankEngine::symmetric_address(const RankStep& step, const manifest::TensorPlace& place) const {
  const SymmetricPlace is = symmetric_place(step, place);
  if (is.kind == SymmetricPlace::tensor) return address(is.tensor_of_graph);
  if (is.kind == SymmetricPlace::state) return states_.at(&step).address();
  return symmetric_->address(is.rank < 0 ? ranks_.rank() : is.rank) +
         static_cast<std::uint64_t>(windows_.at(&step) + symmetric_bytes(step).begin(is.kind));
}

std::string RankEngine::fallback() const {
  return without_symmetric_.empty() ? "" : fmt::format("NCCL computes what kernels could: {}", without_symmetric_);
}

int RankEngine::root(int tensor) const {
  const int memory = program_.graph.tensors[tensor].memory;
  return memory >= 0 ? memory : tensor;
}

void RankEngine::upload(int tensor, const Bytes& bytes) {
  memory_.at(root(tensor)).upload(bytes.data(), static_cast<std::int64_t>(bytes.size()));
}

void RankEngine::run(void* stream) const {
  for (const KernelLauncher& step : steps_) step(stream);
}

Bytes RankEngine::download(int tensor) const {
  const manifest::TensorPlace place = place_of_rank(program_.graph.tensors[tensor], manifest::Role::intermediate, -1);
  Bytes bytes(static_cast<std::size_t>(place.bytes));
  memory_.at(root(tensor)).download(bytes.data(), place.bytes);
  return bytes;
}

std::vector<double> time_ranks(const RankEngine& engine, Communicator& ranks, Stream& stream,
                               const std::string& program) {
  constexpr int evaluations = 10, warm_up = 3, launches = 30;
  const CapturedGraph several(stream, [&] {
    for (int i = 0; i < evaluations; ++i) engine.run(stream.handle());
  });
  for (int i = 0; i < warm_up; ++i) several.launch(stream);
  std::vector<Event> marks(launches + 1);
  for (int i = 0; i <= launches; ++i) {
    marks[i].record(stream);
    if (i < launches) several.launch(stream);
  }
  ranks.wait(stream.handle(), program);
  std::vector<double> samples;
  for (int i = 0; i < launches; ++i) samples.push_back(1e3 * marks[i + 1].ms_since(marks[i]) / evaluations);
  return samples;
}

}  // namespace zellige::ranks
