// Accesses to shared memory for the profiler: two kernel launches per pattern, of one warp, with 64 and 128
// times the same instruction; the difference excludes the cost of the launch. The values read are
// uninitialised and unused.
//
//   nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -cudart static banks.cu -o banks
//   ./banks --list      one line of JSON per pattern, in the order of the launches
//   ./banks             launches them; under ncu, see measure.py
//   ./banks --clock     cycles of an instruction repeated by 16 warps: about its wavefronts if several
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

constexpr int repeats = 64, memory_bytes = 40960;

enum class Kind {
  ld_u8,
  ld_u16,
  ld_b32,
  ld_v2,
  ld_v4,
  st_b32,
  st_v2,
  st_v4,
  ldsm_x1,
  ldsm_x2,
  ldsm_x4,
  ldsm_x4_trans,
  stsm_x4
};

struct Pattern {
  std::string name;
  Kind kind;
  const char *layout, *type, *access;  // the same, for zellige banks
  std::function<int(int)> address;     // of a lane, in bytes
};

// Swizzle<B,M,S> on elements of two bytes.
int swizzled(int element, int bits, int base, int shift) {
  return element ^ (((element >> (base + shift)) & ((1 << bits) - 1)) << base);
}
// Lane l's row of an ldmatrix.x4 on 16 x 16 halves, rows at a distance of `pitch` bytes.
int row_of(int l, int pitch) { return l % 16 * pitch + l / 16 * 16; }

std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  auto add = [&](const char* name, Kind kind, const char* layout, const char* type, const char* access,
                 std::function<int(int)> address) {
    all.push_back({name, kind, layout, type, access, address});
  };
  const char *words = "2048:1", *f32 = "f32", *f16 = "f16";
  // 32 bits.
  add("b32 stride 1", Kind::ld_b32, words, f32, "ld.shared.b32 32:1", [](int l) { return 4 * l; });
  add("b32 stride 2", Kind::ld_b32, words, f32, "ld.shared.b32 32:2", [](int l) { return 8 * l; });
  add("b32 stride 4", Kind::ld_b32, words, f32, "ld.shared.b32 32:4", [](int l) { return 16 * l; });
  add("b32 stride 8", Kind::ld_b32, words, f32, "ld.shared.b32 32:8", [](int l) { return 32 * l; });
  add("b32 stride 32", Kind::ld_b32, words, f32, "ld.shared.b32 32:32", [](int l) { return 128 * l; });
  add("b32 stride 33", Kind::ld_b32, words, f32, "ld.shared.b32 32:33", [](int l) { return 132 * l; });
  add("b32 broadcast", Kind::ld_b32, words, f32, "ld.shared.b32 32:0", [](int) { return 0; });
  add("b32 two rows of one word", Kind::ld_b32, words, f32, "ld.shared.b32 (16,2):(0,32)",
      [](int l) { return l / 16 * 128; });
  static const int shuffled[32] = {7,  19, 0, 28, 13, 22, 5, 31, 16, 2, 25, 10, 29, 8,  20, 3,
                                   27, 14, 1, 23, 11, 30, 6, 17, 24, 9, 4,  21, 12, 26, 15, 18};
  add("b32 permuted", Kind::ld_b32, words, f32,
      "ld.shared.b32 (7,19,0,28,13,22,5,31,16,2,25,10,29,8,20,3,27,14,1,23,11,30,6,17,24,9,4,21,12,26,15,18)",
      [](int l) { return 4 * shuffled[l]; });
  // Squares modulo 1009, words all over the place.
  add("b32 scattered", Kind::ld_b32, words, f32,
      "ld.shared.b32 "
      "(0,37,148,333,592,925,323,804,350,979,673,441,283,199,189,253,391,603,889,240,674,173,755,402,123,927,"
      "796,739,756,847,3,242)",
      [](int l) { return 4 * (37 * l * l % 1009); });
  // 64 and 128 bits.
  add("b64 stride 1", Kind::ld_v2, words, f32, "ld.shared.v2.b32 32:2", [](int l) { return 8 * l; });
  add("b64 stride 2", Kind::ld_v2, words, f32, "ld.shared.v2.b32 32:4", [](int l) { return 16 * l; });
  add("b64 stride 16", Kind::ld_v2, words, f32, "ld.shared.v2.b32 32:32", [](int l) { return 128 * l; });
  add("b128 stride 1", Kind::ld_v4, words, f32, "ld.shared.v4.b32 32:4", [](int l) { return 16 * l; });
  add("b128 stride 2", Kind::ld_v4, words, f32, "ld.shared.v4.b32 32:8", [](int l) { return 32 * l; });
  add("b128 rows of 144 bytes", Kind::ld_v4, words, f32, "ld.shared.v4.b32 32:36", [](int l) { return 144 * l; });
  add("b128 stride 8", Kind::ld_v4, words, f32, "ld.shared.v4.b32 32:32", [](int l) { return 128 * l; });
  // Less than a word.
  add("u16 stride 1", Kind::ld_u16, "4096:1", f16, "ld.shared.u16 32:1", [](int l) { return 2 * l; });
  add("u16 stride 64", Kind::ld_u16, "4096:1", f16, "ld.shared.u16 32:64", [](int l) { return 128 * l; });
  add("u8 stride 1", Kind::ld_u8, "4096:1", "u8", "ld.shared.u8 32:1", [](int l) { return l; });
  add("u8 stride 132", Kind::ld_u8, "8192:1", "u8", "ld.shared.u8 32:132", [](int l) { return 132 * l; });
  // Matrices.
  add("ldmatrix.x1, rows of 16 bytes", Kind::ldsm_x1, "(8,8):(8,1)", f16, "ldmatrix.x1", [](int l) { return 16 * l; });
  add("ldmatrix.x2, rows of 64 bytes", Kind::ldsm_x2, "(16,32):(32,1)", f16, "ldmatrix.x2",
      [](int l) { return 64 * l; });
  add("ldmatrix.x4, rows of 80 bytes", Kind::ldsm_x4, "(16,32):(40,1)", f16, "ldmatrix.x4",
      [](int l) { return row_of(l, 80); });
  add("ldmatrix.x4, rows of 128 bytes", Kind::ldsm_x4, "(16,64):(64,1)", f16, "ldmatrix.x4",
      [](int l) { return row_of(l, 128); });
  add("ldmatrix.x4.trans, rows of 144 bytes", Kind::ldsm_x4_trans, "(16,64):(72,1)", f16, "ldmatrix.x4.trans",
      [](int l) { return row_of(l, 144); });
  add("ldmatrix.x4, Sw<3,3,3>, rows of 128 bytes", Kind::ldsm_x4, "Sw<3,3,3> o (16,64):(64,1)", f16, "ldmatrix.x4",
      [](int l) { return 2 * swizzled(row_of(l, 128) / 2, 3, 3, 3); });
  add("ldmatrix.x4.trans, Sw<2,3,3>, rows of 64 bytes", Kind::ldsm_x4_trans, "Sw<2,3,3> o (16,32):(32,1)", f16,
      "ldmatrix.x4.trans", [](int l) { return 2 * swizzled(row_of(l, 64) / 2, 2, 3, 3); });
  add("ldmatrix.x4, Sw<2,3,3>, rows of 128 bytes", Kind::ldsm_x4, "Sw<2,3,3> o (16,64):(64,1)", f16, "ldmatrix.x4",
      [](int l) { return 2 * swizzled(row_of(l, 128) / 2, 2, 3, 3); });
  // Stores.
  add("st b32 stride 32", Kind::st_b32, words, f32, "st.shared.b32 32:32", [](int l) { return 128 * l; });
  add("st b64 stride 1", Kind::st_v2, words, f32, "st.shared.v2.b32 32:2", [](int l) { return 8 * l; });
  add("st b128 stride 1", Kind::st_v4, words, f32, "st.shared.v4.b32 32:4", [](int l) { return 16 * l; });
  add("st b128 stride 8", Kind::st_v4, words, f32, "st.shared.v4.b32 32:32", [](int l) { return 128 * l; });
  add("stmatrix.x4, rows of 128 bytes", Kind::stsm_x4, "(16,64):(64,1)", f16, "stmatrix.x4",
      [](int l) { return row_of(l, 128); });
  add("stmatrix.x4, Sw<3,3,3>, rows of 128 bytes", Kind::stsm_x4, "Sw<3,3,3> o (16,64):(64,1)", f16, "stmatrix.x4",
      [](int l) { return 2 * swizzled(row_of(l, 128) / 2, 3, 3, 3); });
  // Lanes that want the same bytes.
  add("b64 broadcast", Kind::ld_v2, words, f32, "ld.shared.v2.b32 32:0", [](int) { return 0; });
  add("b64 in pairs", Kind::ld_v2, words, f32, "ld.shared.v2.b32 (2,16):(0,2)", [](int l) { return l / 2 * 8; });
  add("b64 halves alike", Kind::ld_v2, words, f32, "ld.shared.v2.b32 (16,2):(2,0)", [](int l) { return l % 16 * 8; });
  add("b128 broadcast", Kind::ld_v4, words, f32, "ld.shared.v4.b32 32:0", [](int) { return 0; });
  add("b128 in pairs", Kind::ld_v4, words, f32, "ld.shared.v4.b32 (2,16):(0,4)", [](int l) { return l / 2 * 16; });
  add("b128 quarters alike", Kind::ld_v4, words, f32, "ld.shared.v4.b32 (8,4):(4,0)", [](int l) { return l % 8 * 16; });
  add("b64 lanes i and i^2 alike", Kind::ld_v2, words, f32, "ld.shared.v2.b32 (2,2,8):(2,0,4)",
      [](int l) { return l % 2 * 8 + l / 4 * 16; });
  add("b64 lanes i and i^4 alike", Kind::ld_v2, words, f32, "ld.shared.v2.b32 (4,2,4):(2,0,8)",
      [](int l) { return l % 4 * 8 + l / 8 * 32; });
  add("b128 lanes i and i^2 alike", Kind::ld_v4, words, f32, "ld.shared.v4.b32 (2,2,8):(4,0,8)",
      [](int l) { return l % 2 * 16 + l / 4 * 32; });
  add("b128 lanes i and i^4 alike", Kind::ld_v4, words, f32, "ld.shared.v4.b32 (4,2,4):(4,0,16)",
      [](int l) { return l % 4 * 16 + l / 8 * 64; });
  add("st b64 in pairs", Kind::st_v2, words, f32, "st.shared.v2.b32 (2,16):(0,2)", [](int l) { return l / 2 * 8; });
  add("st b128 in pairs", Kind::st_v4, words, f32, "st.shared.v4.b32 (2,16):(0,4)", [](int l) { return l / 2 * 16; });
  return all;
}

template <Kind kind>
__device__ unsigned access(unsigned at) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  unsigned short h = 0;
  if constexpr (kind == Kind::ld_u8)
    asm volatile("ld.shared.u8 %0, [%1];" : "=h"(h) : "r"(at));
  else if constexpr (kind == Kind::ld_u16)
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(h) : "r"(at));
  else if constexpr (kind == Kind::ld_b32)
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(a) : "r"(at));
  else if constexpr (kind == Kind::ld_v2)
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
  else if constexpr (kind == Kind::ld_v4)
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
  else if constexpr (kind == Kind::st_b32)
    asm volatile("st.shared.b32 [%0], %0;" ::"r"(at) : "memory");
  else if constexpr (kind == Kind::st_v2)
    asm volatile("st.shared.v2.b32 [%0], {%0, %0};" ::"r"(at) : "memory");
  else if constexpr (kind == Kind::st_v4)
    asm volatile("st.shared.v4.b32 [%0], {%0, %0, %0, %0};" ::"r"(at) : "memory");
  else if constexpr (kind == Kind::ldsm_x1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at));
  else if constexpr (kind == Kind::ldsm_x2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
  else if constexpr (kind == Kind::ldsm_x4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at));
  else if constexpr (kind == Kind::ldsm_x4_trans)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at));
  else if constexpr (kind == Kind::stsm_x4)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%0, %0, %0, %0};" ::"r"(at) : "memory");
  return a ^ b ^ c ^ d ^ h;
}

// step is zero, which the compiler does not know: it may not make one access of two.
template <Kind kind, int times>
__global__ void measured(const unsigned* addresses, unsigned step, long long* cycles, unsigned* never) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(memory)) + addresses[threadIdx.x % 32];
  unsigned sum = 0;
  const long long start = clock64();
#pragma unroll
  for (int i = 0; i < times; ++i, at += step) sum ^= access<kind>(at);
  // clock64 waits for no load: the last one of each kind is equally late in every warp, so the rate is right.
  const long long end = clock64();
  if (cycles && threadIdx.x % 32 == 0) cycles[2 * (threadIdx.x / 32)] = start, cycles[2 * (threadIdx.x / 32) + 1] = end;
  if (never) *never = sum;  // so that no register is without use
}

template <int times, Kind kind = Kind::ld_u8>
auto kernel(Kind wanted) -> void (*)(const unsigned*, unsigned, long long*, unsigned*) {
  if (kind == wanted) return measured<kind, times>;
  if constexpr (kind == Kind::stsm_x4)
    return nullptr;
  else
    return kernel<times, static_cast<Kind>(static_cast<int>(kind) + 1)>(wanted);
}

bool good(cudaError_t e, const char* what) {
  if (e != cudaSuccess) std::fprintf(stderr, "banks: %s: %s\n", what, cudaGetErrorString(e));
  return e == cudaSuccess;
}

int main(int argc, char** argv) {
  const std::vector<Pattern> all = patterns();
  const bool list = argc > 1 && !std::strcmp(argv[1], "--list"), clock = argc > 1 && !std::strcmp(argv[1], "--clock");
  if (argc > 2 || (argc > 1 && !list && !clock)) {
    std::fprintf(stderr, "banks: %s is no option; --list and --clock are\n", argv[argc - 1]);
    return 2;
  }
  if (list) {
    for (const Pattern& p : all) {
      std::printf(
          "{\"name\": \"%s\", \"repeats\": %d, \"layout\": \"%s\", \"type\": \"%s\", \"access\": \"%s\", "
          "\"addresses\": [",
          p.name.c_str(), repeats, p.layout, p.type, p.access);
      for (int l = 0; l < 32; ++l) std::printf("%s%d", l ? ", " : "", p.address(l));
      std::printf("]}\n");
    }
    return 0;
  }
  int devices = 0;
  if (!good(cudaGetDeviceCount(&devices), "no GPU") || devices == 0) return 2;
  unsigned* addresses;
  long long* cycles;
  if (!good(cudaMalloc(&addresses, 32 * sizeof(unsigned)), "cudaMalloc") ||
      !good(cudaMalloc(&cycles, 64 * sizeof(long long)), "cudaMalloc"))
    return 1;
  const int warps = clock ? 16 : 1;
  for (const Pattern& p : all) {
    unsigned at[32];
    for (int l = 0; l < 32; ++l) at[l] = static_cast<unsigned>(p.address(l));
    const auto run = kernel<repeats>(p.kind);
    if (!good(cudaMemcpy(addresses, at, sizeof at, cudaMemcpyHostToDevice), "cudaMemcpy")) return 1;
    for (int pass = 0; pass < (clock ? 3 : 1); ++pass) {  // the first one fetches the instructions
      run<<<1, 32 * warps, memory_bytes>>>(addresses, 0, clock ? cycles : nullptr, nullptr);
      if (!clock) kernel<2 * repeats>(p.kind)<<<1, 32, memory_bytes>>>(addresses, 0, nullptr, nullptr);
      if (!good(cudaGetLastError(), p.name.c_str()) || !good(cudaDeviceSynchronize(), p.name.c_str())) return 1;
    }
    if (!clock) continue;
    long long seen[64];
    if (!good(cudaMemcpy(seen, cycles, sizeof seen, cudaMemcpyDeviceToHost), "cudaMemcpy")) return 1;
    long long first = seen[0], last = seen[1];
    for (int w = 1; w < warps; ++w) {
      first = seen[2 * w] < first ? seen[2 * w] : first;
      last = seen[2 * w + 1] > last ? seen[2 * w + 1] : last;
    }
    std::printf("%-48s %6.2f cycles\n", p.name.c_str(), double(last - first) / (double(repeats) * warps));
  }
  return 0;
}
