// A server loop: one program, several threads, requests with their own memory. Here the memory is on the
// host, where the program runs on the emulator; on a GPU the same program takes device addresses:
// program.launch({q, k, v}, {y}, stream).
//
//   c++ -std=c++17 serve.cpp -lzellige -o serve && ./serve attention.json
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <zellige/program.hpp>

namespace {

/// Memory for an input or output of the program.
class Array {
 public:
  explicit Array(const zellige_tensor_info& t) : info_(t), data_(std::aligned_alloc(64, (t.bytes + 63) / 64 * 64)) {
    for (std::int64_t i = 0; i < t.bytes; ++i)
      static_cast<unsigned char*>(data_)[i] = i % 2 ? 0x34 : 0x00;  // f16: 0.25
  }
  ~Array() { std::free(data_); }
  Array(const Array&) = delete;
  zellige_tensor tensor() const {
    zellige_tensor t{};
    t.data = data_, t.device_type = 1, t.rank = info_.rank;
    t.dtype_code = 2, t.dtype_bits = 16, t.dtype_lanes = 1;  // f16
    t.shape = info_.shape, t.strides = info_.strides;
    return t;
  }

 private:
  zellige_tensor_info info_;
  void* data_;
};

}  // namespace

int main(int argc, char** argv) try {
  zellige::Program program(zellige::Graph::from_file(argc > 1 ? argv[1] : "attention.json"), {ZELLIGE_ON_EMULATOR});
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      std::vector<std::unique_ptr<Array>> arrays;
      std::vector<zellige_tensor> inputs, outputs;
      for (const zellige_tensor_info& i : program.inputs()) {
        arrays.push_back(std::make_unique<Array>(i));
        inputs.push_back(arrays.back()->tensor());
      }
      for (const zellige_tensor_info& o : program.outputs()) {
        arrays.push_back(std::make_unique<Array>(o));
        outputs.push_back(arrays.back()->tensor());
      }
      for (int request = 0; request < 2; ++request) program.call(inputs, outputs), ++served;
    });
  for (std::thread& t : threads) t.join();
  std::printf("%d requests served by %zu threads; expected on %s: %.1f us each\n", served.load(), threads.size(),
              program.text(ZELLIGE_TARGET).c_str(), program.price());
  return 0;
} catch (const zellige::ProgramError& e) {
  std::fprintf(stderr, "serve: %s\n", e.what());
  return 1;
}
