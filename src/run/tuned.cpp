#include "run/tuned.hpp"

#include "run/driver.hpp"
#include "run/gpu.hpp"

namespace zellige::run {

Tuned tuned(const graph::KernelGraph& g, const target::Target& target, const CompileOptions& o, const Cache& cache) {
  const reference::InputChoice inputs = reference::choose_inputs(g, o.seed, given_inputs(g, o.inputs));
  o.say("waiting for the GPU");
  const OpenFile alone = lock_gpu(cache);
  o.say("tuning");
  // Inputs are packed once, which may take seconds: tilings differ only in the intermediates.
  std::vector<Bytes> storage;
  std::vector<emit::TensorPlace> places;
  const auto compiled = [&](const emit::EmittedProgram& p) {
    return compile_cubin(p.source, architecture_for(p.manifest.target), cache);
  };
  const auto measure = [&](const emit::EmittedProgram& p) {
    if (places != p.manifest.tensors) storage = starting_storage(g, p.manifest, inputs), places = p.manifest.tensors;
    return measure_on_gpu(p.manifest, compiled(p), storage);
  };
  return tune(g, target, o.plan, o.tune, measure, device().name, cache, o.say, compiled);
}

}  // namespace zellige::run
