// Transposes a matrix by tiles in shared memory. Faults: 1 no barrier, 2 rows and columns confused where the tile is
// written, 3 tiles at the edge without a comparison, 4 (no fault, but slow) a tile without padding: bank conflicts.
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int TILE = 32, ROWS = 8;

template <int PAD>
__global__ void transpose(float* out, const float* in, int width, int height, int fault) {
  __shared__ float tile[TILE][TILE + PAD];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (fault == 3 || (x < width && y + j < height)) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  if (fault != 1) __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < height && y + j < width)
      out[fault == 2 ? x * height + y + j : (y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, width = 70, height = 50;
  std::vector<float> in(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) in[i] = i;
  float *d_in, *d_out;
  cudaMalloc(&d_in, in.size() * sizeof(float));
  cudaMalloc(&d_out, in.size() * sizeof(float));
  cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, ROWS);
  if (fault == 4)
    transpose<0><<<grid, block>>>(d_out, d_in, width, height, 0);
  else
    transpose<1><<<grid, block>>>(d_out, d_in, width, height, fault);
  cudaMemcpy(out.data(), d_out, in.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int y = 0; y < height && (fault == 0 || fault == 4); ++y)
    for (int x = 0; x < width; ++x)
      if (out[x * height + y] != in[y * width + x]) return printf("wrong at %d %d\n", x, y), 1;
  printf("right\n");
}
