// The host's calls: memory of two and three dimensions, pools, graphs, occupancy, pointers, streams, arrays, textures, surfaces.
#include <cuda_runtime.h>
#include <helper_cuda.h>
#include <helper_timer.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int wrong = 0;
#define EXPECT(condition) \
  if (!(condition)) ++wrong, printf("line %d is wrong\n", __LINE__)

__global__ void add_one(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += 1;
}
__global__ void rows(cudaPitchedPtr p, int width, int height) {
  for (int z = 0; z < 2; ++z)
    for (int y = threadIdx.x; y < height; y += blockDim.x) {
      float* row = (float*)((char*)p.ptr + (z * height + y) * p.pitch);
      for (int x = 0; x < width; ++x) row[x] = row[x] + 100 * z + 10 * y + x;
    }
}
__global__ void sample(cudaTextureObject_t linear, cudaTextureObject_t point, cudaTextureObject_t bytes, float* out) {
  out[0] = tex2D<float>(linear, 1.0f, 0.5f);   // half way between elements 0 and 1 of row 0
  out[1] = tex2D<float>(point, 2.7f, 1.2f);    // element 2 of row 1
  out[2] = tex2D<float>(point, -5.0f, 99.0f);  // clamped: element 0 of the last row
  out[3] = tex2D<float>(linear, 2.0f, 1.0f);   // the mean of four
  out[4] = tex1Dfetch<uchar4>(bytes, 1).y;
}
__global__ void invert(cudaSurfaceObject_t s, int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y;
  if (x >= width || y >= height) return;
  float v;
  surf2Dread(&v, s, x * sizeof(float), y);
  surf2Dwrite(-v, s, x * sizeof(float), y);
}
__device__ float table[8];

void arrays() {
  const int width = 4, height = 3;
  std::vector<float> image(width * height), back(width * height);
  for (int i = 0; i < width * height; ++i) image[i] = (float)i;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  EXPECT(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindFloat);
  EXPECT(cudaCreateChannelDesc<uchar4>().w == 8 && cudaCreateChannelDesc<int2>().f == cudaChannelFormatKindSigned);
  cudaArray_t array;
  checkCudaErrors(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  checkCudaErrors(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height,
                                      cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t linear, point, bytes;
  checkCudaErrors(cudaCreateTextureObject(&linear, &resource, &how, nullptr));
  how.filterMode = cudaFilterModePoint;
  checkCudaErrors(cudaCreateTextureObject(&point, &resource, &how, nullptr));
  uchar4 pixels[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, *pixels_d;
  cudaMalloc(&pixels_d, sizeof(pixels));
  cudaMemcpy(pixels_d, pixels, sizeof(pixels), cudaMemcpyHostToDevice);
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = pixels_d;
  memory.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  memory.res.linear.sizeInBytes = sizeof(pixels);
  cudaTextureDesc plain = {};
  checkCudaErrors(cudaCreateTextureObject(&bytes, &memory, &plain, nullptr));
  float *out, found[5];
  cudaMalloc(&out, sizeof(found));
  sample<<<1, 1>>>(linear, point, bytes, out);
  cudaMemcpy(found, out, sizeof(found), cudaMemcpyDeviceToHost);
  EXPECT(found[0] == 0.5f && found[1] == 6.0f && found[2] == 8.0f && found[3] == 3.5f && found[4] == 6.0f);
  cudaSurfaceObject_t surface;
  checkCudaErrors(cudaCreateSurfaceObject(&surface, &resource));
  invert<<<1, dim3(8, 8)>>>(surface, width, height);
  cudaMemcpy2DFromArray(back.data(), width * sizeof(float), array, 0, 0, width * sizeof(float), height,
                        cudaMemcpyDeviceToHost);
  EXPECT(back[5] == -5.0f && back[11] == -11.0f);
  cudaDestroyTextureObject(linear), cudaDestroyTextureObject(point), cudaDestroySurfaceObject(surface),
      cudaFreeArray(array);
}

void three_dimensions() {
  const cudaExtent extent = make_cudaExtent(5 * sizeof(float), 3, 2);
  cudaPitchedPtr volume;
  checkCudaErrors(cudaMalloc3D(&volume, extent));
  checkCudaErrors(cudaMemset3D(volume, 0, extent));
  rows<<<1, 32>>>(volume, 5, 3);
  std::vector<float> back(30);
  cudaMemcpy3DParms copy = {0};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(back.data(), 5 * sizeof(float), 5, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  checkCudaErrors(cudaMemcpy3D(&copy));
  EXPECT(back[15 + 5 + 4] == 114.0f && back[14] == 24.0f);
  float* pitched;
  size_t pitch;
  checkCudaErrors(cudaMallocPitch(&pitched, &pitch, 40, 4));
  checkCudaErrors(cudaMemset2D(pitched, pitch, 0, 40, 4));
  checkCudaErrors(cudaMemcpy2D(back.data(), 40, pitched, pitch, 40, 3, cudaMemcpyDeviceToHost));
  EXPECT(back[29] == 0.0f);
  cudaFree(pitched), cudaFree(volume.ptr);
}

void graphs() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const int n = 256;
  float *p, host = 0;
  cudaMallocAsync(&p, n * sizeof(float), stream);
  cudaMemsetAsync(p, 0, n * sizeof(float), stream);
  cudaGraph_t graph;
  cudaGraphExec_t made;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 3; ++i) add_one<<<2, 128, 0, stream>>>(p, n);
  cudaMemcpyAsync(&host, p + 255, sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamEndCapture(stream, &graph);
  EXPECT(host == 0);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  EXPECT(nodes == 4);
  checkCudaErrors(cudaGraphInstantiate(&made, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 5; ++i) cudaGraphLaunch(made, stream);
  cudaStreamSynchronize(stream);
  EXPECT(host == 15);
  cudaGraphExecDestroy(made), cudaGraphDestroy(graph), cudaFreeAsync(p, stream), cudaStreamDestroy(stream);
}

void queries(int argc, char** argv) {
  const int device = findCudaDevice(argc, (const char**)argv);
  cudaDeviceProp p;
  checkCudaErrors(cudaGetDeviceProperties(&p, device));
  EXPECT(p.major == 9 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.totalGlobalMem > 0);
  int value = 0, grid = 0, block = 0, blocks = 0;
  checkCudaErrors(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  EXPECT(value == p.multiProcessorCount);
  checkCudaErrors(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add_one, 0, 0));
  checkCudaErrors(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, block, 0));
  EXPECT(grid > 0 && block % 32 == 0 && blocks > 0);
  cudaFuncAttributes attributes;
  checkCudaErrors(cudaFuncGetAttributes(&attributes, add_one));
  EXPECT(attributes.maxThreadsPerBlock == 1024);
  float *managed, *pinned, *on_device, *host = new float[4];
  checkCudaErrors(cudaMallocManaged(&managed, 16));
  checkCudaErrors(cudaHostAlloc(&pinned, 16, cudaHostAllocMapped));
  checkCudaErrors(cudaMalloc(&on_device, 16));
  cudaPointerAttributes a;
  cudaPointerGetAttributes(&a, on_device);
  EXPECT(a.type == cudaMemoryTypeDevice && a.devicePointer == on_device);
  cudaPointerGetAttributes(&a, managed);
  EXPECT(a.type == cudaMemoryTypeManaged);
  cudaPointerGetAttributes(&a, host);
  EXPECT(a.type == cudaMemoryTypeUnregistered);
  managed[0] = 41;
  add_one<<<1, 1>>>(managed, 1);
  cudaDeviceSynchronize();
  EXPECT(managed[0] == 42);
  size_t bytes = 0;
  cudaGetSymbolSize(&bytes, table);
  EXPECT(bytes == sizeof(table));
  EXPECT(cudaGetErrorName(cudaErrorNotReady) == std::string("cudaErrorNotReady"));
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  unsigned long long keep = ~0ull;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  cudaEvent_t from, to;
  cudaEventCreate(&from), cudaEventCreate(&to);
  cudaEventRecord(from), cudaEventRecord(to), cudaEventSynchronize(to);
  float ms = -1;
  cudaEventElapsedTime(&ms, from, to);
  EXPECT(ms >= 0);
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer), sdkStartTimer(&timer), sdkStopTimer(&timer);
  EXPECT(sdkGetTimerValue(&timer) >= 0);
  sdkDeleteTimer(&timer);
  cudaFree(managed), cudaFreeHost(pinned), cudaFree(on_device);
  delete[] host;
}

int main(int argc, char** argv) {
  queries(argc, argv);
  arrays();
  three_dimensions();
  graphs();
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong != 0;
}
