// Launches the output of `transpile --emit h,cubin,so` for examples/mlp.json like a server: on every GPU of
// the machine, from several threads with separate streams, through zellige::Program and through the C
// function; checked against the graph in float64 on the CPU, and bit for bit against each other.
//   g++ -std=c++17 -I out -I include -I $CUDA/include tests/gpu/ahead_of_time.cpp out/mlp.so -L build -lzellige -L $CUDA/lib64 -lcudart
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
#include <zellige/program.hpp>

#include "mlp.h"

namespace {

using Bits = std::vector<std::uint16_t>;

std::uint16_t bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<std::uint16_t>((bits + 0x8000) >> 16);
}
float value(std::uint16_t x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
  float y;
  std::memcpy(&y, &bits, 4);
  return y;
}

zellige_tensor on_host(const zellige_tensor_info& t, Bits& data) {
  zellige_tensor made{};
  made.data = data.data(), made.device_type = 1, made.rank = t.rank;
  made.dtype_code = 4, made.dtype_bits = 16, made.dtype_lanes = 1;  // bf16
  made.shape = t.shape, made.strides = t.strides;
  return made;
}

void check(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}

/// A request's tensors on the current device.
struct Request {
  explicit Request(const std::vector<Bits>& inputs, std::size_t result) : found(result) {
    for (const Bits& b : inputs) {
      check(cudaMalloc(&in.emplace_back(), 2 * b.size()));
      check(cudaMemcpy(in.back(), b.data(), 2 * b.size(), cudaMemcpyHostToDevice));
    }
    check(cudaMalloc(&out, 2 * result));
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  template <class Launch>
  const Bits& answered(Launch launch) {
    check(cudaMemsetAsync(out, 0xff, 2 * found.size(), stream));
    launch();
    check(cudaMemcpyAsync(found.data(), out, 2 * found.size(), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return found;
  }
  std::vector<void*> in;
  void* out = nullptr;
  cudaStream_t stream = nullptr;
  Bits found;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "ahead_of_time: expected examples/mlp.json and mlp.manifest.json\n"), 2;
  zellige::Program meaning(zellige::Graph::from_file(argv[1]), {ZELLIGE_ON_REFERENCE});
  zellige::Program program = zellige::Program::load(argv[2]);
  std::vector<Bits> inputs;
  std::vector<zellige_tensor> tensors;
  for (const zellige_tensor_info& t : meaning.inputs()) {
    Bits& b = inputs.emplace_back(static_cast<std::size_t>(t.bytes) / 2);
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = bf16(static_cast<float>(i * 2654435761u >> 16 & 0x7ff) / 1024 - 1);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors.push_back(on_host(meaning.inputs()[i], inputs[i]));
  const zellige_tensor_info y = meaning.outputs()[0];
  Bits expected(static_cast<std::size_t>(y.bytes) / 2);
  meaning.call(tensors, {on_host(y, expected)});

  // Four roundings of half a unit in 2^8: of the norm, of the hidden row before and after its gate, and of
  // the result. The accumulated terms total 5.4 times the largest result's magnitude, but their errors have
  // random signs: on the emulator they total 2^-6.8 of that result.
  float bound = 0;
  for (std::uint16_t e : expected) bound = std::max(bound, std::fabs(value(e)) / 64);

  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  constexpr int threads = 4, requests = 50;
  std::atomic<int> served = 0, different = 0, wrong = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < threads * devices; ++t)
    all.emplace_back([&, t] {
      try {
        check(cudaSetDevice(t % devices));
        Request r(inputs, expected.size());
        for (int i = 0; i < requests; ++i) {
          const Bits of_program = r.answered([&] { program.launch(r.in, {r.out}, r.stream); });
          const Bits& of_function = r.answered([&] {
            const char* why =
                run_mlp(r.in[0], r.in[1], r.in[2], r.in[3], r.out, nullptr, reinterpret_cast<CUstream_st*>(r.stream));
            if (why) throw std::runtime_error(why);
          });
          served += 2, different += of_program != of_function;
          for (std::size_t e = 0; e < expected.size(); ++e)
            wrong += !(std::fabs(value(of_function[e]) - value(expected[e])) <= bound);
        }
      } catch (const std::exception& why) {
        std::fprintf(stderr, "ahead_of_time: %s\n", why.what()), ++wrong;
      }
    });
  for (std::thread& t : all) t.join();
  std::printf(
      "ahead of time: %d requests by %zu threads on %d GPU(s), %d differ between the two ways, %d elements "
      "wrong\n",
      served.load(), all.size(), devices, different.load(), wrong.load());
  return different || wrong;
} catch (const std::exception& why) {
  std::fprintf(stderr, "ahead_of_time: %s\n", why.what());
  return 1;
}
