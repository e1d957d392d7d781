// A hand-written program in the form that the transpiler emits: two kernels and an intermediate.
//   s[i] = X[i] + 1;   Y[i] = 2 * s[block's i, reversed]
#pragma once
#include <string>

#include "emit/emit.hpp"

inline zellige::emit::EmittedProgram hand_written() {
  using namespace zellige;
  emit::EmittedProgram p;
  p.source = R"(// Two hand-written kernels.
#include <zellige/atom/access.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/pointer.hpp>

extern "C" __global__ void __launch_bounds__(64) increment(zellige::gmem<const zellige::half_t> X,
                                                           zellige::gmem<zellige::half_t> s) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  s[i] = zellige::half_t(X[i] + 1.0f);
}

extern "C" __global__ void __launch_bounds__(64) reverse(zellige::gmem<const zellige::half_t> s,
                                                         zellige::gmem<zellige::half_t> Y) {
  const zellige::smem<zellige::half_t> tile = zellige::shared<zellige::half_t>("tile", 0, 64);
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x] = s[i];
  __syncthreads();
  Y[i] = zellige::half_t(2.0f * float(tile[63 - threadIdx.x]));
}

#if defined(ZELLIGE_EMULATE)
extern "C" void emulate_increment(zellige::emulate::Launch& l) { zellige::emulate::call(l, increment); }
extern "C" void emulate_reverse(zellige::emulate::Launch& l) { zellige::emulate::call(l, reverse); }
#elif !defined(__CUDACC_RTC__)
// The host entry would be here.
#endif
)";
  p.manifest = {.name = "hand", .target = "sm_80"};
  auto tensor = [](const char* name, manifest::Role role, std::int64_t offset) {
    return manifest::TensorPlace{name, graph::DType::f16, {4, 64}, {64, 1}, role, 0, offset, 512};
  };
  p.manifest.tensors = {tensor("X", manifest::Role::input, -1), tensor("s", manifest::Role::intermediate, 0),
                        tensor("Y", manifest::Role::output, -1)};
  p.manifest.kernels = {{"increment", {4, 1, 1}, {64, 1, 1}, 0, {0, 1}, {false, true}},
                        {"reverse", {4, 1, 1}, {64, 1, 1}, 128, {1, 2}, {false, true}}};
  p.manifest.buffer_size = 512;
  return p;
}

/// X as the tests fill it, and what the program makes of it.
inline std::vector<double> hand_input() {
  std::vector<double> x;
  for (int i = 0; i < 256; ++i) x.push_back(0.25 * i - 20);
  return x;
}
inline std::vector<double> hand_output() {
  const std::vector<double> x = hand_input();
  std::vector<double> y;
  for (int i = 0; i < 256; ++i) y.push_back(2 * (x[static_cast<std::size_t>(i / 64 * 64 + 63 - i % 64)] + 1));
  return y;
}

/// `text` with its single `from` replaced.
inline std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}
