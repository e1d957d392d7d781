// Attention of one head in f16: K and V by cp.async in two stages, products by ldmatrix and mma.sync, softmax online. Faults:
// 1 no wait for the copies, 2 no barrier after the wait, 3 a stage is filled again while it is read, 4 a row of ldmatrix
// that is not aligned, 5 a shuffle whose mask leaves lanes out, 6 V's rows beyond its tile, 7 the copy of K beyond the
// tensor, 8 a lane that leaves before ldmatrix.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int D = 32, BQ = 32, BK = 32, PITCH = D + 8, WARPS = BQ / 16;

#define LDMATRIX_X4(R0, R1, R2, R3, addr)                                           \
  asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n" \
               : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                             \
               : "r"(addr))
#define LDMATRIX_X2(R0, R1, addr) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(addr))
#define MMA(D0, D1, D2, D3, A, B0, B1)                                                            \
  asm volatile(                                                                                   \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, " \
      "{%0,%1,%2,%3};\n"                                                                          \
      : "+f"(D0), "+f"(D1), "+f"(D2), "+f"(D3)                                                    \
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B0), "r"(B1))
#define CP_ASYNC(dst, src) asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(dst), "l"(src))
#define CP_ASYNC_COMMIT() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))

__device__ uint32_t pack(float a, float b) {
  uint32_t x;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(b), "f"(a));
  return x;
}

__device__ void load_tile(half (*to)[PITCH], const half* from, int rows) {
  for (int i = threadIdx.x; i < rows * D / 8; i += blockDim.x) {
    const int r = i / (D / 8), c = i % (D / 8) * 8;
    CP_ASYNC(static_cast<uint32_t>(__cvta_generic_to_shared(&to[r][c])), from + r * D + c);
  }
}

__global__ void attention(const half* Q, const half* K, const half* V, float* O, int n, float scale, int fault) {
  __shared__ alignas(16) half q[BQ][PITCH], k[2][BK][PITCH], v[2][BK][PITCH];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = n / BK;
  load_tile(q, Q + blockIdx.x * BQ * D, BQ);
  load_tile(k[0], K + (fault == 7 ? n * D - 8 : 0), BK);
  load_tile(v[0], V, BK);
  CP_ASYNC_COMMIT();
  if (fault == 8 && lane == 3) return;
  uint32_t a[D / 16][4];
  float o[D / 8][4] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    const int s = tile % 2;
    if (tile + 1 < tiles) {
      load_tile(k[1 - s], K + (tile + 1) * BK * D, BK);
      load_tile(v[1 - s], V + (tile + 1) * BK * D, BK);
    }
    CP_ASYNC_COMMIT();
    if (fault != 1) CP_ASYNC_WAIT(1);
    if (fault != 2) __syncthreads();
    if (tile == 0)
      for (int i = 0; i < D / 16; ++i) {
        const uint32_t at = static_cast<uint32_t>(
            __cvta_generic_to_shared(&q[warp * 16 + lane % 16][i * 16 + lane / 16 * 8 + (fault == 4 ? 1 : 0)]));
        LDMATRIX_X4(a[i][0], a[i][1], a[i][2], a[i][3], at);
      }
    float p[BK / 8][4] = {};
    for (int j = 0; j < BK / 8; ++j)
      for (int i = 0; i < D / 16; ++i) {
        uint32_t b0, b1;
        LDMATRIX_X2(
            b0, b1,
            static_cast<uint32_t>(__cvta_generic_to_shared(&k[s][j * 8 + lane % 8][i * 16 + lane / 8 % 2 * 8])));
        MMA(p[j][0], p[j][1], p[j][2], p[j][3], a[i], b0, b1);
      }
    for (int h = 0; h < 2; ++h) {
      float top = m[h];
      for (int j = 0; j < BK / 8; ++j) top = fmaxf(top, fmaxf(p[j][2 * h], p[j][2 * h + 1]) * scale);
      for (int x = 1; x < 4; x *= 2) top = fmaxf(top, __shfl_xor_sync(fault == 5 ? 0x0000ffff : 0xffffffff, top, x));
      const float shrink = __expf(m[h] - top);
      l[h] *= shrink;
      for (int j = 0; j < D / 8; ++j) o[j][2 * h] *= shrink, o[j][2 * h + 1] *= shrink;
      for (int j = 0; j < BK / 8; ++j)
        for (int e = 0; e < 2; ++e) {
          float& x = p[j][2 * h + e];
          x = __expf(x * scale - top);
          l[h] += x;
        }
      m[h] = top;
    }
    for (int i = 0; i < BK / 16; ++i) {
      const uint32_t w[4] = {pack(p[2 * i][0], p[2 * i][1]), pack(p[2 * i][2], p[2 * i][3]),
                             pack(p[2 * i + 1][0], p[2 * i + 1][1]), pack(p[2 * i + 1][2], p[2 * i + 1][3])};
      for (int j = 0; j < D / 8; ++j) {
        uint32_t b0, b1;
        const half* const row = &v[s][0][0] + (i * 16 + lane % 16 + (fault == 6 ? 2 * BK : 0)) * PITCH + j * 8;
        LDMATRIX_X2_T(b0, b1, static_cast<uint32_t>(__cvta_generic_to_shared(row)));
        MMA(o[j][0], o[j][1], o[j][2], o[j][3], w, b0, b1);
      }
    }
    if (fault != 3) __syncthreads();
  }
  for (int h = 0; h < 2; ++h) {
    l[h] += __shfl_xor_sync(0xffffffff, l[h], 1);
    l[h] += __shfl_xor_sync(0xffffffff, l[h], 2);
    const int row = blockIdx.x * BQ + warp * 16 + lane / 4 + 8 * h;
    for (int j = 0; j < D / 8; ++j)
      *reinterpret_cast<float2*>(&O[row * D + j * 8 + lane % 4 * 2]) =
          make_float2(o[j][2 * h] / l[h], o[j][2 * h + 1] / l[h]);
  }
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 96, queries = BQ;
  std::vector<half> q(queries * D), k(n * D), v(n * D);
  std::vector<float> o(queries * D);
  for (int i = 0; i < queries * D; ++i) q[i] = float((i * 37) % 19 - 9) / 16;
  for (int i = 0; i < n * D; ++i) k[i] = float((i * 29) % 23 - 11) / 16, v[i] = float((i * 31) % 17 - 8) / 8;
  half *d_q, *d_k, *d_v;
  float* d_o;
  cudaMalloc(&d_q, q.size() * sizeof(half));
  cudaMalloc(&d_k, k.size() * sizeof(half));
  cudaMalloc(&d_v, v.size() * sizeof(half));
  cudaMalloc(&d_o, o.size() * sizeof(float));
  cudaMemcpy(d_q, q.data(), q.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(d_k, k.data(), k.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(d_v, v.data(), v.size() * sizeof(half), cudaMemcpyHostToDevice);
  const float scale = 1 / sqrtf(D);
  attention<<<queries / BQ, 32 * WARPS>>>(d_q, d_k, d_v, d_o, n, scale, fault);
  cudaMemcpy(o.data(), d_o, o.size() * sizeof(float), cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int i = 0; i < queries; ++i) {
    std::vector<double> w(n);
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      double x = 0;
      for (int c = 0; c < D; ++c) x += double(float(q[i * D + c])) * float(k[j * D + c]);
      sum += w[j] = std::exp(x * scale);
    }
    for (int c = 0; c < D; ++c) {
      double x = 0;
      for (int j = 0; j < n; ++j) x += w[j] / sum * float(v[j * D + c]);
      worst = std::fmax(worst, std::fabs(x - o[i * D + c]));
    }
  }
  puts(worst < 2e-3 ? "right" : "wrong");
}
