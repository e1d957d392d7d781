// A trial: one launch of a kernel on the emulator at a small size, and its result.
#pragma once
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "emulate/engine.hpp"
#include "mutant.hpp"
#include "zellige/atom.hpp"
#include "zellige/atom/make_tma_descriptor.hpp"

namespace mutants {

using namespace zellige;

struct Outcome {
  std::string finding;               // the first one; "": none
  std::vector<unsigned char> bytes;  // of the results, and which of them were written
};

struct Trial {
  const char* name;
  std::function<Outcome()> run;
};

/// The trials of the program's kernel.
std::vector<Trial> trials();

template <class T>
struct Tensor {
  emulate::Buffer buffer;
  std::size_t count;

  Tensor(const char* name, std::size_t elements) : buffer(name, elements * sizeof(T)), count(elements) {}
  T* data() { return reinterpret_cast<T*>(buffer.data()); }
  Tensor& random(unsigned seed, float scale = 1.0f) {
    std::minstd_rand engine(seed);
    for (std::size_t i = 0; i < count; ++i)
      data()[i] = T(scale * (static_cast<float>(engine() >> 7 & 0xFFFF) / 32768.0f - 1.0f));
    buffer.mark_initialised();
    return *this;
  }
  Tensor& zero() {
    std::memset(static_cast<void*>(data()), 0, count * sizeof(T));
    buffer.mark_initialised();
    return *this;
  }
  emulate::LaunchParameter in() { return {buffer, false}; }
  emulate::LaunchParameter out() { return {buffer, true}; }
};

template <class T>
emulate::LaunchParameter map_of(const TmaTensor& tensor, Tensor<T>& data, bool writes = false) {
  return {make_tma_descriptor_emulated(tensor, data.buffer.bytes()), data.buffer, writes};
}
inline emulate::LaunchParameter constant(emulate::LaunchParameter p) {
  p.constant = true;
  return p;
}

template <auto Kernel>
void entry(emulate::Launch& launch) {
  emulate::call(launch, Kernel);
}

inline unsigned ceil_div(unsigned a, unsigned b) { return (a + b - 1) / b; }

/// The schedule of the following launches, see LaunchConfig.
inline unsigned& schedule() {
  static unsigned number = 0;
  return number;
}

struct Grid {
  emulate::dim3 grid, block;
  unsigned shared_bytes;
  unsigned cluster = 1;
};

/// `results`: the buffers whose bytes are the outcome.
template <auto Kernel>
Outcome launch(const Grid& g, std::vector<emulate::LaunchParameter> parameters, std::vector<emulate::Buffer*> results) {
  emulate::LaunchConfig config;
  config.grid = g.grid, config.block = g.block, config.shared_bytes = g.shared_bytes;
  config.cluster = {g.cluster, 1, 1}, config.workers = 1;
  config.parameters = std::move(parameters);
  config.programmatic = true, config.seconds = 0.5, config.schedule = schedule();
  const emulate::EmulationReport report = emulate::run(entry<Kernel>, config);
  Outcome outcome;
  if (!report.findings.empty()) outcome.finding = report.findings[0].message;
  for (emulate::Buffer* b : results) {
    outcome.bytes.insert(outcome.bytes.end(), b->data(), b->data() + b->bytes());
    for (std::size_t i = 0; i < b->bytes(); ++i) outcome.bytes.push_back(b->initialised(i, 1));
  }
  return outcome;
}

}  // namespace mutants
