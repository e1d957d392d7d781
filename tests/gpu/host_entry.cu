// The emitted host entries, compiled by nvcc: launched on a stream, captured in a CUDA graph and replayed,
// with and without PDL overlap, and compared; on every GPU of the machine, one after another in one process.
//   nvcc -std=c++20 -arch=sm_90a -I include -include out/lora_0.cu tests/gpu/host_entry.cu -o host_entry
#include <cstdio>
#include <tuple>
#include <vector>

#define CHECK(call)                                        \
  if (cudaError_t e = (call); e != cudaSuccess) {          \
    std::printf("%s: %s\n", #call, cudaGetErrorString(e)); \
    return 1;                                              \
  }

int on_this_device() {
  const int sizes[] = {16 * 256, 256 * 4096, 256 * 16, 16 * 4096};  // X, W, A, B of LoRA
  std::vector<void*> inputs;
  for (int size : sizes) {
    std::vector<unsigned short> host(size);
    for (int i = 0; i < size; ++i) host[i] = half_t(float((i * 2654435761u >> 16) % 2001) / 4000 - 0.25f).bits;
    void* device;
    CHECK(cudaMalloc(&device, size * 2));
    CHECK(cudaMemcpy(device, host.data(), size * 2, cudaMemcpyHostToDevice));
    inputs.push_back(device);
  }
  constexpr int bytes = 16 * 4096 * 2, results = 3;  // direct, replayed, overlapping and replayed
  void* out[results];
  for (void*& o : out) {
    CHECK(cudaMalloc(&o, bytes));
    CHECK(cudaMemset(o, 0xff, bytes));
  }
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  // Captured before its first ordinary launch: setting attributes once must not disturb a capture.
  for (const auto& [entry, times, to] : {std::tuple{ordered_lora_0, 1, out[1]}, std::tuple{launch_lora_0, 8, out[2]}}) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < times; ++i) CHECK(entry(inputs.data(), &to, nullptr, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, stream));
  }
  CHECK(ordered_lora_0(inputs.data(), &out[0], nullptr, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<std::vector<unsigned short>> found(results, std::vector<unsigned short>(bytes / 2));
  for (int r = 0; r < results; ++r) CHECK(cudaMemcpy(found[r].data(), out[r], bytes, cudaMemcpyDeviceToHost));
  int different = 0, poisoned = 0;
  for (const auto& f : found)
    for (std::size_t i = 0; i < f.size(); ++i) different += f[i] != found[0][i], poisoned += f[i] == 0xffff;
  std::printf("host entry: captured, overlapping and direct launches differ in %d of %d elements, %d unwritten\n",
              different, results * bytes / 2, poisoned);
  return different + poisoned > 0;
}

int main() {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    if (on_this_device()) return 1;
  }
  return 0;
}
