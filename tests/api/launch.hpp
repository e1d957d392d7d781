// Shared by the tests of launches: the recording driver, and a fixture that resets it.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "fake_gpu.hpp"
#include "refused.hpp"

using zellige::Graph;
using zellige::Program;

constexpr const char* two_kernels = R"({"zellige_graph": 1, "name": "two",
  "inputs": [{"name": "X", "dtype": "f32", "shape": [4, 8]}],
  "operators": [{"op": "softmax", "inputs": ["X"], "dim": 0, "outputs": ["T"]},
                {"op": "softmax", "inputs": ["T"], "dim": 1, "outputs": [{"name": "Y", "strides": [8, 1]}]}],
  "outputs": ["Y"]})";

template <class F>
F* driver(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(library, name));
}
inline FakeGpu& gpu() { return *driver<FakeGpu*()>("fake_gpu")(); }
inline std::string compiled() { return *driver<const std::string*()>("fake_cubin")(); }
inline void set_context(void* context) { driver<int(void*)>("cuCtxSetCurrent")(context); }
inline void* context() {
  void* now = nullptr;
  driver<int(void**)>("cuCtxGetCurrent")(&now);
  return now;
}
inline void* address(std::uintptr_t at) { return reinterpret_cast<void*>(at); }
inline void* const first = address(0x100);
inline void* const second = address(0x101);

inline zellige_tensor on_gpu(std::uintptr_t at, int device) {
  static const std::int64_t shape[] = {4, 8};
  return {address(at), 2, device, 2, 2, 32, 1, shape, nullptr, 0};
}

class Launch : public testing::Test {
 protected:
  void SetUp() override { gpu() = {}, set_context(nullptr); }
  void TearDown() override { EXPECT_EQ(gpu().wrong, std::vector<std::string>{}); }
};
