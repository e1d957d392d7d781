// Every warpgroup MMA on a real GPU against its reference body, on random data in shared memory: every N,
// every type, both operands from shared memory or the first from registers, both majors, every swizzle.
//
//   nvcc -std=c++20 -O1 -I include -diag-suppress 177 -gencode arch=compute_90a,code=sm_90a
//        tests/atom/hardware_gmma.cu -o hardware_gmma && ./hardware_gmma
//
// -DPART=0 to 6 compiles one type of operand each, so that seven programs can be built in parallel. The
// operands' addresses follow from the descriptor by gmma_operand.hpp; integers must agree exactly, and so
// must floats if all accumulators are small integers. 8-bit floats are added with fewer bits: see `slack`.
#include <zellige/atom/fence.hpp>
#include <zellige/atom/gmma_operand.hpp>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/wgmma.hpp>

#include "hardware.hpp"
#include "wgmma_elements.hpp"

namespace zellige {
namespace {

constexpr unsigned image_bytes = 128 * 1024, b_at = 32 * 1024;
constexpr int trials = 24;

struct Input {
  uint64_t a, b;
  int accumulate;
};

template <class T, class U, class D, int R, bool SS, Major A, Major B, bool Saturate>
__global__ void __launch_bounds__(128)
    gmma_kernel(const uint4* image, const Input* in, const uint32_t (*ra)[4], const D* c, D* out) {
  const auto tile = shared<uint4>("tile", 0, image_bytes / 16);
  for (unsigned i = threadIdx.x; i < image_bytes / 16; i += 128) tile[i] = image[i];
  fence_proxy_async();
  __syncthreads();
  const unsigned me = blockIdx.x * 128 + threadIdx.x;
  D d[R];
#pragma unroll
  for (int i = 0; i < R; ++i) d[i] = c[me * R + i];
  uint32_t a[4];
  for (int i = 0; i < 4; ++i) a[i] = ra[me][i];
  Input mine = in[blockIdx.x];
  mine.a += smem_address(tile) >> 4;  // the descriptors count from the image's first byte
  mine.b += smem_address(tile) >> 4;
  wgmma_fence_operand(d);
  wgmma_fence();
  if constexpr (SS)
    wgmma<T, A, B, U, 1, 1, Saturate>(d, mine.a, mine.b, mine.accumulate);
  else
    wgmma<T, B, U, 1, 1, Saturate>(d, a, mine.b, mine.accumulate);
  wgmma_commit();
  wgmma_wait<0>();
  wgmma_fence_operand(d);
#pragma unroll
  for (int i = 0; i < R; ++i) out[me * R + i] = d[i];
}

enum class Fill { integers, normal, wide };
template <class T>
T number(Fill how) {
  if constexpr (is_integer_operand<T>) return static_cast<T>(generator());
  const int small = static_cast<int>(generator() % 9) - 4;
  if (how == Fill::integers) return T(static_cast<float>(small));
  if (how == Fill::normal) return T(std::normal_distribution<float>()(generator));
  return T((generator() % 2 ? 1.0f : -1.0f) * std::exp2(std::uniform_real_distribution<float>(-6, 6)(generator)));
}
template <class T>
void fill(unsigned char* bytes, unsigned count, Fill how) {
  for (unsigned i = 0; i + sizeof(T) <= count; i += sizeof(T)) {
    const T x = number<T>(how);
    std::memcpy(bytes + i, static_cast<const void*>(&x), sizeof(T));
  }
}

// Strides as tiles have them, once packed and once with room between the atoms.
uint64_t descriptor(bool mn_major, unsigned at, unsigned swizzle, unsigned variant) {
  const unsigned span = 16u << swizzle;
  const auto mode = static_cast<SwizzleMode>(swizzle);
  if (!mn_major) {
    if (swizzle == 0) return smem_descriptor_bits(at, variant ? 4096 : 128, variant ? 128 : 256, mode);
    return smem_descriptor_bits(at, 0, 8 * span * (1 + variant % 2), mode);
  }
  if (swizzle == 0) return smem_descriptor_bits(at, variant ? 4096 : 128, variant ? 128 : 256, mode);
  return smem_descriptor_bits(at, 16 * span * (1 + variant % 2), 8 * span, mode);
}

// The host's side knows a row by its types; N and the forms are values, so that little is compiled for each
// row.
template <class D>
struct Form {
  std::string name;
  int n, registers;
  bool from_smem, a_mn, b_mn;
  void (*launch)(const uint4*, const Input*, const uint32_t (*)[4], const D*, D*);
};

template <class T, class U, class D, int R, bool SS, Major A, Major B, bool Saturate>
void launch(const uint4* image, const Input* in, const uint32_t (*ra)[4], const D* c, D* out) {
  auto* kernel = gmma_kernel<T, U, D, R, SS, A, B, Saturate>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, image_bytes), "shared memory");
  kernel<<<trials, 128, image_bytes>>>(image, in, ra, c, out);
}

template <class T, class U, class D, bool Saturate>
[[gnu::noinline]] void prove(const Form<D>& form) {
  using Number = typename wgmma_number<D>::type;
  constexpr int K = 32 / sizeof(T), per = 4 / sizeof(T);
  const int N = form.n, R = form.registers, values = N / 2;
  const std::string& name = form.name;
  const Instruction& row = *find_instruction(name.substr(0, name.find('<')));
  const bool a_mn = form.a_mn, b_mn = form.b_mn, SS = form.from_smem;
  static Buffer<uint4> device_image(image_bytes / 16);
  std::vector<unsigned char> image(image_bytes);
  std::vector<Input> in(trials);
  std::vector<D> c(trials * 128 * R);
  struct Registers {
    uint32_t r[4];
  };
  std::vector<Registers> ra(trials * 128);
  Comparison comparison;
  for (int how = 0; how < 3; ++how) {
    const Fill draw = static_cast<Fill>(how);
    fill<T>(image.data(), b_at, draw);
    fill<U>(image.data() + b_at, image_bytes - b_at, draw);
    fill<Number>(reinterpret_cast<unsigned char*>(c.data()), static_cast<unsigned>(c.size() * sizeof(D)), draw);
    if (sizeof(T) == 1 && is_integer_operand<T> && how == 2)
      for (D& x : c) x = static_cast<D>(generator() % 2 ? 0x7fffff00 : 0x80000100);  // near the ends
    fill<T>(reinterpret_cast<unsigned char*>(ra.data()), static_cast<unsigned>(ra.size() * 16), draw);
    for (int t = 0; t < trials; ++t) {
      const unsigned swizzle = t % 4, variant = N > 128 && swizzle == 3 ? 0 : t / 4 % 2;
      [[maybe_unused]] const unsigned steps = !a_mn && swizzle ? (16u << swizzle) / 32 : 1;  // k steps within a line
      in[t].a = advance(descriptor(a_mn, 0, swizzle, variant), 32 * (t / 8 % steps));
      in[t].b = descriptor(b_mn, b_at, swizzle, variant);
      if (!b_mn && swizzle) in[t].b = advance(in[t].b, 32 * (t / 8 % ((16u << swizzle) / 32)));
      in[t].accumulate = t % 5 != 0;
    }
    check(cudaMemcpy(device_image.data, image.data(), image_bytes, cudaMemcpyHostToDevice), "image");
    const Buffer device_in(in);
    const Buffer device_ra(ra);
    const Buffer device_c(c);
    const Buffer<D> device_out(c.size());
    form.launch(device_image.data, device_in.data, reinterpret_cast<const uint32_t(*)[4]>(device_ra.data),
                device_c.data, device_out.data);
    check(cudaGetLastError(), name.c_str());
    const auto out = device_out.get();
    for (int t = 0; t < trials; ++t) {
      std::vector<T> a(64 * K);
      std::vector<U> b(N * K);
      for (int m = 0; m < 64; ++m)
        for (int k = 0; k < K; ++k)
          std::memcpy(static_cast<void*>(&a[m * K + k]), &image[gmma_address(in[t].a, a_mn, sizeof(T), m, k)],
                      sizeof(T));
      if (!SS)
        for (int i = 0; i < 128; ++i)
          for (int r = 0; r < 4; ++r)
            for (int e = 0; e < per; ++e) {
              const auto [row, column] = wgmma_operand_element(i, r, e, per);
              std::memcpy(static_cast<void*>(&a[row * K + column]),
                          reinterpret_cast<const unsigned char*>(&ra[t * 128 + i].r[r]) + e * sizeof(T), sizeof(T));
            }
      for (int n = 0; n < N; ++n)
        for (int k = 0; k < K; ++k)
          std::memcpy(static_cast<void*>(&b[n * K + k]), &image[gmma_address(in[t].b, b_mn, sizeof(U), n, k)],
                      sizeof(U));
      std::vector<D> want(128 * R);
      const void* before[128];
      void* after[128];
      for (int i = 0; i < 128; ++i) before[i] = &c[(t * 128 + i) * R], after[i] = &want[i * R];
      // The body's reading of registers is checked against the figures of wgmma_elements.hpp.
      const void *first[128] = {a.data()}, *const second[] = {b.data()};
      for (int i = 0; !SS && i < 128; ++i) first[i] = ra[t * 128 + i].r;
      row.body(row, {first, second, in[t].accumulate ? before : nullptr, after});
      for (int i = 0; i < 128; ++i) {
        for (int v = 0; v < values; ++v) {
          Number got, expected, start;
          std::memcpy(static_cast<void*>(&got), reinterpret_cast<const Number*>(&out[(t * 128 + i) * R]) + v,
                      sizeof(got));
          std::memcpy(static_cast<void*>(&expected), reinterpret_cast<const Number*>(after[i]) + v, sizeof(got));
          std::memcpy(static_cast<void*>(&start), static_cast<const Number*>(before[i]) + v, sizeof(got));
          const auto [row, column] = wgmma_element(i, v);
          double addend = in[t].accumulate ? std::fabs(static_cast<double>(start)) : 0;
          for (int k = 0; k < K; ++k)
            addend = std::fmax(addend,
                               std::fabs(static_cast<double>(a[row * K + k]) * static_cast<double>(b[column * K + k])));
          // 8-bit floats: products are aligned to the largest and keep 13 bits below its first.
          const double slack = sizeof(T) == 1 ? 0x1p-13 : 0x1p-22;
          double bound = (K + 1) * slack * addend;
          if (sizeof(Number) == 2) bound += 0x1p-10 * std::fabs(static_cast<double>(expected)) + 0x1p-24;
          if (draw == Fill::integers || is_integer_operand<T>) bound = 0;
          comparison.add(static_cast<double>(got), static_cast<double>(expected), addend, bound, sizeof(Number) == 2,
                         name + " trial " + std::to_string(t) + " draw " + std::to_string(how) + " swizzle " +
                             std::to_string(t % 4) + " thread " + std::to_string(i) + " value " + std::to_string(v));
        }
      }
    }
  }
  comparison.report(name);
}

template <class T, class U, class D, int R, bool SS, Major A, Major B, bool Saturate = false>
void prove_form(const std::string& name) {
  prove<T, U, D, Saturate>({name, 2 * R * wgmma_type<T, U, D>::packed, R, SS, A == Major::MN, B == Major::MN,
                            launch<T, U, D, R, SS, A, B, Saturate>});
}

// The rows of one N.
template <class T, class U, class D, int N, bool Transposable, bool Saturates>
void prove_n(const std::string& types) {
  constexpr int R = N / 2 / wgmma_type<T, U, D>::packed;
  const std::string name =
      "SM90::GMMA::MMA_64x" + std::to_string(N) + "x" + std::to_string(32 / sizeof(T)) + "_" + types;
  constexpr Major K = Major::K, MN = Major::MN;
  if constexpr (Transposable) {
    prove_form<T, U, D, R, true, K, K>(name + "_SS<K,K>");
    prove_form<T, U, D, R, true, K, MN>(name + "_SS<K,MN>");
    prove_form<T, U, D, R, true, MN, K>(name + "_SS<MN,K>");
    prove_form<T, U, D, R, true, MN, MN>(name + "_SS<MN,MN>");
    prove_form<T, U, D, R, false, K, K>(name + "_RS<K,K>");
    prove_form<T, U, D, R, false, K, MN>(name + "_RS<K,MN>");
  } else {
    prove_form<T, U, D, R, true, K, K>(name + "_SS_TN");
    prove_form<T, U, D, R, false, K, K>(name + "_RS_TN");
    if constexpr (Saturates) {
      prove_form<T, U, D, R, true, K, K, true>(name + "_SS_TN_SATURATE");
      prove_form<T, U, D, R, false, K, K, true>(name + "_RS_TN_SATURATE");
    }
  }
}
template <class T, class U, class D, bool Transposable = false, bool Saturates = false, int N = 8>
void prove_all(const std::string& types) {
  if constexpr (!Saturates || N == 8 || N == 24 || N % 16 == 0) prove_n<T, U, D, N, Transposable, Saturates>(types);
  if constexpr (N < 256) prove_all<T, U, D, Transposable, Saturates, N + 8>(types);
}

}  // namespace
}  // namespace zellige

#if !defined(PART)
#define PART -1
#endif

int main() {
  using namespace zellige;
  constexpr int part = PART;
  print_head("hardware_gmma");
  if constexpr (part == -1 || part == 0) prove_all<half_t, half_t, float, true>("F32F16F16");
  if constexpr (part == -1 || part == 1) prove_all<half_t, half_t, uint32_t, true>("F16F16F16");
  if constexpr (part == -1 || part == 2) prove_all<bfloat16_t, bfloat16_t, float, true>("F32BF16BF16");
  if constexpr (part == -1 || part == 3) {
    prove_all<tfloat32_t, tfloat32_t, float>("F32TF32TF32");
    prove_all<float_e4m3_t, float_e4m3_t, float>("F32E4M3E4M3");
  }
  if constexpr (part == -1 || part == 4) {
    prove_all<float_e4m3_t, float_e5m2_t, float>("F32E4M3E5M2");
    prove_all<float_e5m2_t, float_e4m3_t, float>("F32E5M2E4M3");
    prove_all<float_e5m2_t, float_e5m2_t, float>("F32E5M2E5M2");
  }
  if constexpr (part == -1 || part == 5) {
    prove_all<float_e4m3_t, float_e4m3_t, uint32_t>("F16E4M3E4M3");
    prove_all<float_e4m3_t, float_e5m2_t, uint32_t>("F16E4M3E5M2");
    prove_all<float_e5m2_t, float_e4m3_t, uint32_t>("F16E5M2E4M3");
    prove_all<float_e5m2_t, float_e5m2_t, uint32_t>("F16E5M2E5M2");
  }
  if constexpr (part == -1 || part == 6) {
    prove_all<int8_t, int8_t, int32_t, false, true>("S32S8S8");
    prove_all<int8_t, uint8_t, int32_t, false, true>("S32S8U8");
    prove_all<uint8_t, int8_t, int32_t, false, true>("S32U8S8");
    prove_all<uint8_t, uint8_t, int32_t, false, true>("S32U8U8");
  }
  const long rows = static_cast<long>(proved.size());  // each has used all three
  for (const char* row : {"SM90_WGMMA_FENCE", "SM90_WGMMA_COMMIT_GROUP", "SM90_WGMMA_WAIT_GROUP"})
    report(row, rows, all_hold ? rows : 0, 0, 0, all_hold);
  std::printf("\n%zu rows: %s\n", proved.size(), all_hold ? "all hold" : "FAILED");
  return all_hold ? 0 : 1;
}
