// Kernels written in the test itself, launched like emitted code.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "emulate/engine.hpp"
#include "zellige/emulate/device.hpp"

namespace zellige::emulate {

template <auto Kernel>
void entry(Launch& launch) {
  call(launch, Kernel);
}

/// A warp shuffle, written like an instruction in include/zellige/atom.
__attribute__((always_inline)) inline float shuffle_xor(float v, int mask) {
  return meet<float, float>(
      v,
      [mask](const float* in, float* out) {
        for (int l = 0; l < 32; ++l) out[l] = in[l ^ mask];
      },
      "shfl");
}

/// ldmatrix of four matrices, less what it does with the elements.
__attribute__((always_inline)) inline void load_matrices(Place row) {
  meet<Place, int>(
      row,
      [](const Place* in, int* out) {
        const void* rows[32];
        read_rows(in, 4, rows);
        count(Counter::ldmatrix);
        for (int l = 0; l < 32; ++l) out[l] = *static_cast<const int*>(rows[l]);
      },
      "ldmatrix");
}

/// "test_x.cpp:12", the line of `file` that carries the comment "// <tag>".
inline std::string line_of(const char* file, const std::string& tag) {
  std::ifstream in(file);
  std::string line, name(file);
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string mark = "// <" + tag + ">";
    if (line.size() >= mark.size() && line.compare(line.size() - mark.size(), mark.size(), mark) == 0)
      return name.substr(name.rfind('/') + 1) + ":" + std::to_string(number);
  }
  return "no line <" + tag + ">";
}

/// Buffers X (read, initialised with its index as float) and Y (written), 4096 floats each.
struct Trial {
  Buffer x{"X", 4096 * 4}, y{"Y", 4096 * 4};
  LaunchConfig config;

  Trial(const char* file, dim3 grid, dim3 block, unsigned shared_bytes = 0) {
    config = {grid, block, shared_bytes, {&x, &y}, {false, true}, file, 1};
    for (int i = 0; i < 4096; ++i) reinterpret_cast<float*>(x.data())[i] = float(i);
    x.mark_initialised();
  }
  template <auto Kernel>
  EmulationReport run() {
    return emulate::run(entry<Kernel>, config);
  }
  float out(int i) const { return reinterpret_cast<const float*>(y.data())[i]; }
};

inline std::vector<std::string> messages(const EmulationReport& report) {
  std::vector<std::string> result;
  for (const Finding& f : report.findings) result.push_back(f.message);
  return result;
}

using Messages = std::vector<std::string>;

}  // namespace zellige::emulate
