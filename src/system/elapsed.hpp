// Measures elapsed time on the host, as the tables of times and the notes of compilers report it.
//
//   const SteadyClock::time_point start = SteadyClock::now();
//   ...
//   result.compile_ms = ms_since(start);
#pragma once
#include <chrono>

namespace zellige::system {

using SteadyClock = std::chrono::steady_clock;
/// Returns the milliseconds since `start`.
inline double ms_since(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

}  // namespace zellige::system
