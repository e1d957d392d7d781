// Kernels of include/zellige/kernels run on the emulator, against double precision.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "emulate/engine.hpp"
#include "zellige/atom.hpp"

namespace zellige {

template <auto Kernel>
void kernel_entry(emulate::Launch& launch) {
  emulate::call(launch, Kernel);
}

/// Device memory of `count` elements, starting `lead` elements after a multiple of 256 bytes.
template <class T>
struct Device {
  emulate::Buffer buffer;
  std::size_t count;

  Device(const char* name, std::size_t elements) : buffer(name, elements * sizeof(T)), count(elements) {}
  T* data() { return reinterpret_cast<T*>(buffer.data()); }
  double operator[](std::size_t i) { return static_cast<double>(static_cast<float>(data()[i])); }

  Device& random(unsigned seed, float scale = 1.0f, float centre = 0.0f) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(centre, scale);
    for (std::size_t i = 0; i < count; ++i) data()[i] = T(normal(engine));
    buffer.mark_initialised();
    return *this;
  }
  Device& fill(T value) {
    for (std::size_t i = 0; i < count; ++i) data()[i] = value;
    buffer.mark_initialised();
    return *this;
  }
  emulate::LaunchParameter in() { return {buffer, false}; }
  emulate::LaunchParameter out() { return {buffer, true}; }
};

/// Launched with PDL, as all of them may be: while the previous kernel still runs.
inline emulate::EmulationReport trial(void (*entry)(emulate::Launch&), emulate::LaunchConfig config) {
  config.programmatic = true;
  config.seconds = 60;
  return emulate::run(entry, config);
}
/// A parameter that no kernel of the stream writes: weights.
inline emulate::LaunchParameter never_written(emulate::LaunchParameter p) {
  p.constant = true;
  return p;
}

struct Shape3 {
  emulate::dim3 grid, block;
  unsigned shared_bytes;
};

template <auto Kernel>
emulate::EmulationReport launch(const Shape3& shape, std::vector<emulate::LaunchParameter> parameters) {
  emulate::LaunchConfig config;
  config.grid = shape.grid, config.block = shape.block, config.shared_bytes = shape.shared_bytes;
  config.parameters = std::move(parameters);
  return trial(kernel_entry<Kernel>, config);
}

inline std::string all_messages(const emulate::EmulationReport& report) {
  std::string all;
  for (const emulate::Finding& f : report.findings) all += f.message + "\n";
  return all;
}

inline unsigned ceil_div(unsigned a, unsigned b) { return (a + b - 1) / b; }

/// |got - want| within half a unit of the last of `bits` places, and the accumulated error of the sum.
inline testing::AssertionResult near(double got, double want, double relative, double absolute) {
  if (std::abs(got - want) <= relative * std::abs(want) + absolute) return testing::AssertionSuccess();
  return testing::AssertionFailure() << got << " instead of " << want;
}

}  // namespace zellige
