// Shared by the programs that compare instructions on a GPU with their reference bodies.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>
#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/half.hpp>

namespace zellige {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

template <class T>
struct Buffer {
  T* data = nullptr;
  std::size_t count;
  explicit Buffer(std::size_t n) : count(n) { check(cudaMalloc(&data, n * sizeof(T)), "cudaMalloc"); }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    check(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
  }
  ~Buffer() { cudaFree(data); }
  std::vector<T> get() const {
    check(cudaDeviceSynchronize(), "kernel");
    std::vector<T> host(count);
    check(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
    return host;
  }
};

inline std::mt19937 generator(20);
inline std::set<std::string> proved;
inline bool all_hold = true;

inline std::string program;  // whose rows these are

/// One line of tests/atom/data/h200.tsv.
inline void report(const std::string& name, long compared, long equal, double largest, double of_bound, bool holds) {
  std::printf("%s\t%s\t%ld\t%.4f\t%.3g\t%.3g\t%s\n", program.c_str(), name.c_str(), compared, 100.0 * equal / compared,
              largest, of_bound, holds ? "holds" : "FAILS");
  proved.insert(name);
  all_hold = all_hold && holds;
}

inline void print_head(const char* name) {
  program = name;
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "no GPU");
  std::printf("%s, compute capability %d.%d\n", device.name, device.major, device.minor);
  std::printf("program\trow\tcompared\tequal %%\tlargest\tof bound\tverdict\n");
}

/// One row's comparison of accumulators: their distance from the reference, and the bound.
struct Comparison {
  long compared = 0, equal = 0;
  double largest = 0, of_bound = 0;
  bool holds = true;

  /// `f16`: the accumulator is a half; its overflow to infinity counts as the distance of the
  /// unrounded accumulators.
  void add(double got, double want, double addend, double bound, bool f16, const std::string& where) {
    ++compared;
    if (got == want || (std::isnan(got) && std::isnan(want))) {
      ++equal;
      return;
    }
    if (f16 && std::isinf(got)) got = std::copysign(65536.0, got);
    if (f16 && std::isinf(want)) want = std::copysign(65536.0, want);
    const double difference = std::fabs(got - want);
    if (!(difference <= bound)) {
      if (holds)
        std::printf("%s: %.9g on the device, %.9g by reference, bound %.3g\n", where.c_str(), got, want, bound);
      holds = false;
    }
    if (!std::isfinite(difference)) return;
    largest = std::fmax(largest, difference / std::fmax(addend, 1e-300));
    if (bound > 0) of_bound = std::fmax(of_bound, difference / bound);
  }
  void report(const std::string& name) const { zellige::report(name, compared, equal, largest, of_bound, holds); }
};

enum class Draw { integers, normal, wide, pattern };

template <class T>
T draw(Draw how) {
  if (how == Draw::integers) return T(static_cast<float>(static_cast<int>(generator() % 17) - 8));
  if (how == Draw::normal) return T(std::normal_distribution<float>()(generator));
  const float sign = generator() % 2 ? 1.0f : -1.0f;
  if (how == Draw::wide) return T(sign * std::exp2(std::uniform_real_distribution<float>(-8, 6)(generator)));
  if constexpr (std::is_same_v<T, half_t>) return T::bitcast(static_cast<uint16_t>(generator()));  // NaN and all
  return T(sign * std::exp2(std::uniform_real_distribution<float>(-40, 40)(generator)));
}

}  // namespace zellige
