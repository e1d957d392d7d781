// Latencies of instructions, in cycles from the issue until another may use the result: bench/latency.cu prints this file. Nothing
// has been measured yet.
#pragma once

#include <array>

namespace zellige {

struct MeasuredLatency {
  const char* name;
  int cycles;
};

inline constexpr std::array<MeasuredLatency, 0> measured_latencies{};

}  // namespace zellige
