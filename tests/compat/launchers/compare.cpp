// Runs the same attention by two launchers on the same random inputs: compares every bit of what they write, holds some
// rows against a sum in double, and times them alternately, medians of nine rounds or of ROUNDS. Prints a line of JSON per
// launcher: the unit, the headers it was built with, a hash of all that it wrote, its time, and what was compared.
// Exits with 2 if a bit differs or a result was not written.
//
//   g++ -std=c++20 -O2 compare.cpp -I /usr/local/cuda/include -lcudart_static -ldl -lrt -lpthread
//   compare NAME CUTES.so OURS.so (half|bfloat) (attention|latent|latent_halves) BATCH HEADS ROWS COLUMNS DEPTH CAUSAL [ROUNDS]
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "launch.hpp"

namespace {

void fail(std::string const& what) {
  std::printf("%s\n", what.c_str());
  std::exit(1);
}
void check(int error, char const* where) {
  if (error) fail(std::string(where) + ": " + cudaGetErrorString(cudaError_t(error)));
}

std::uint32_t bits_of(float f) {
  std::uint32_t b;
  std::memcpy(&b, &f, 4);
  return b;
}
float float_of(std::uint32_t b) {
  float f;
  std::memcpy(&f, &b, 4);
  return f;
}

/// A 16-bit float: half or bfloat. Inputs are multiples of 1/256 below 2, exact in half; bfloat cuts them.
struct Format {
  bool half;
  std::uint16_t bits(float f) const {
    std::uint32_t const b = bits_of(f);
    if (!half) return std::uint16_t(b >> 16);
    if (f == 0) return std::uint16_t(b >> 16);
    return std::uint16_t((b >> 16 & 0x8000) | ((b >> 23 & 255) - 112) << 10 | (b >> 13 & 1023));
  }
  float value(std::uint16_t b) const {
    if (!half) return float_of(std::uint32_t(b) << 16);
    int const exponent = b >> 10 & 31;
    float const magnitude =
        exponent ? std::ldexp(float(1024 + (b & 1023)), exponent - 25) : std::ldexp(float(b & 1023), -24);
    return b & 0x8000 ? -magnitude : magnitude;
  }
};

struct Memory {
  std::size_t bytes;
  void* at = nullptr;
  explicit Memory(std::size_t n) : bytes(n) {
    check(cudaMalloc(&at, n), "cudaMalloc");
    check(cudaMemset(at, 0, n), "cudaMemset");
  }
  std::vector<std::uint16_t> random(Format format, std::uint64_t seed) const {
    std::vector<std::uint16_t> v(bytes / 2);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (auto& x : v) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = format.bits(float(int(state >> 55) - 256) / 256);
    }
    check(cudaMemcpy(at, v.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return v;
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> v(bytes);
    check(cudaMemcpy(v.data(), at, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return v;
  }
};

std::uint64_t hash(std::vector<unsigned char> const& bytes, std::uint64_t h = 14695981039346656037u) {
  for (unsigned char b : bytes) h = (h ^ b) * 1099511628211u;
  return h;
}

using Launch = int (*)(Attention const&);
Launch load(char const* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(std::string("dlopen: ") + dlerror());
  void* const f = dlsym(library, "launch");
  if (!f) fail(std::string(path) + " has no launch");
  return reinterpret_cast<Launch>(f);
}

float milliseconds(Launch launch, Attention const& a, int times) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) cudaEventCreate(&begin), cudaEventCreate(&end);
  cudaEventRecord(begin);
  for (int i = 0; i < times; ++i) check(launch(a), "launch");
  cudaEventRecord(end);
  check(cudaEventSynchronize(end), "run");
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  return ms / float(times);
}
float median(std::vector<float> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
float minimum(std::vector<float> const& v) { return *std::min_element(v.begin(), v.end()); }

/// The largest distance of some rows of unfused attention from a sum in double.
double distance(Attention const& a, Format format, std::vector<std::uint16_t> const& q,
                std::vector<std::uint16_t> const& k, std::vector<std::uint16_t> const& v,
                std::vector<unsigned char> const& out) {
  double worst = 0;
  int const group = a.heads / a.kv_heads;
  for (int sample = 0; sample < 24; ++sample) {
    int const b = sample * 5 % a.batch, h = sample * 7 % a.heads, i = sample * 997 % a.rows;
    int const last = a.causal ? a.columns - a.rows + i + 1 : a.columns;
    std::vector<double> p(static_cast<std::size_t>(last)), sum(static_cast<std::size_t>(a.depth));
    double maximum = -1e300, total = 0;
    auto row = [&](int j) { return ((std::size_t(b) * a.columns + j) * a.kv_heads + h / group) * a.depth; };
    std::size_t const from = ((std::size_t(b) * a.rows + i) * a.heads + h) * a.depth;
    for (int j = 0; j < last; ++j) {
      double dot = 0;
      for (int d = 0; d < a.depth; ++d) dot += double(format.value(q[from + d])) * format.value(k[row(j) + d]);
      p[j] = dot * a.scale, maximum = std::max(maximum, p[j]);
    }
    for (int j = 0; j < last; ++j) {
      double const e = std::exp(p[j] - maximum);
      total += e;
      for (int d = 0; d < a.depth; ++d) sum[d] += e * format.value(v[row(j) + d]);
    }
    for (int d = 0; d < a.depth; ++d) {
      std::uint16_t bits;
      std::memcpy(&bits, &out[2 * (from + d)], 2);
      worst = std::max(worst, std::abs(format.value(bits) - sum[d] / total));
    }
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 12 && argc != 13)
    fail(
        "compare NAME CUTES.so OURS.so (half|bfloat) (attention|latent|latent_halves) BATCH HEADS ROWS "
        "COLUMNS DEPTH "
        "CAUSAL [ROUNDS]");
  int const rounds = argc == 13 ? std::atoi(argv[12]) : 9;
  Format const format{std::string(argv[4]) == "half"};
  std::string const what = argv[5];
  bool const latent = what != "attention";
  Attention a = {};
  a.batch = std::atoi(argv[6]), a.heads = std::atoi(argv[7]), a.rows = std::atoi(argv[8]),
  a.columns = std::atoi(argv[9]);
  a.depth = std::atoi(argv[10]), a.causal = std::atoi(argv[11]), a.kv_heads = latent ? 1 : a.heads;
  a.halves = what == "latent_halves", a.scale = 1 / std::sqrt(float(a.depth));
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  a.multiprocessors = device.multiProcessorCount;

  std::size_t const rows = std::size_t(a.batch) * a.rows * a.heads,
                    columns = std::size_t(a.batch) * a.columns * a.kv_heads;
  std::size_t const width = latent ? 512 : a.depth;
  Memory const q(rows * a.depth * 2), k(columns * a.depth * 2), v(latent ? 2 : columns * a.depth * 2);
  auto const q_values = q.random(format, 1), k_values = k.random(format, 2), v_values = v.random(format, 3);
  Memory const out(rows * width * 2), lse(rows * 4), scratch(1 << 20);
  Memory const partial_out(a.halves ? 2 * rows * width * 4 : 4), partial_lse(a.halves ? 2 * rows * 4 : 4);
  a.q = q.at, a.k = k.at, a.v = v.at, a.scratch = scratch.at;
  a.out = out.at, a.lse = static_cast<float*>(lse.at);
  a.partial_out = static_cast<float*>(partial_out.at), a.partial_lse = static_cast<float*>(partial_lse.at);

  Launch const launches[2] = {load(argv[2]), load(argv[3])};
  std::vector<unsigned char> written[2];
  for (int i = 0; i < 2; ++i) {
    for (Memory const* m : {&out, &lse, &partial_out, &partial_lse})
      check(cudaMemset(m->at, 0xff, m->bytes), "cudaMemset");
    check(launches[i](a), argv[2 + i]);
    check(cudaDeviceSynchronize(), argv[2 + i]);
    for (Memory const* m : {&out, &lse, &partial_out, &partial_lse}) {
      auto const bytes = m->read();
      written[i].insert(written[i].end(), bytes.begin(), bytes.end());
    }
  }
  std::size_t different = 0, untouched = 0;
  for (std::size_t i = 0; i < written[0].size(); ++i) different += written[0][i] != written[1][i];
  for (std::size_t i = 0; i + 3 < rows * width * 2; i += 4)  // no result is a NaN of all ones
    untouched +=
        written[1][i] == 0xff && written[1][i + 1] == 0xff && written[1][i + 2] == 0xff && written[1][i + 3] == 0xff;
  if (a.halves) untouched = 0;
  double const off = latent ? -1 : distance(a, format, q_values, k_values, v_values, written[1]);

  float const once = milliseconds(launches[0], a, 3);
  milliseconds(launches[1], a, 3);
  int const times = std::max(1, int(20 / once));
  std::vector<float> cutes, ours;
  for (int round = 0; round < rounds; ++round) {
    bool const ours_first = round % 2;
    if (ours_first) ours.push_back(milliseconds(launches[1], a, times));
    cutes.push_back(milliseconds(launches[0], a, times));
    if (!ours_first) ours.push_back(milliseconds(launches[1], a, times));
  }
  bool const wrong = different || untouched;
  float const ratio = median(ours) / median(cutes);
  for (int i = 0; i < 2; ++i) {
    auto const& times_of = i ? ours : cutes;
    std::printf(R"({"unit": "%s", "headers": "%s", "hash": "%016llx", "us": %.3f, "least_us": %.3f, )", argv[1],
                i ? "ours" : "cute", (unsigned long long)hash(written[i]), 1e3 * median(times_of),
                1e3 * minimum(times_of));
    std::printf(R"("bytes": %zu, "different": %zu, "untouched": %zu, "off": %.4g, )", written[i].size(), different,
                untouched, off);
    std::printf(R"("ratio": %.4f, "rounds": %d, "launches": %d, "device": "%s"})"
                "\n",
                ratio, rounds, times, device.name);
  }
  return wrong ? 2 : 0;
}
