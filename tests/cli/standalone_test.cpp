// The output of transpile --standalone: compiled as in docs/reference/cli-run.md, without a warning; and its
// host part, by the host compiler against a fake CUDA runtime, on several devices and threads.
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "../all_cases.hpp"
#include "command.hpp"
#include "system/files.hpp"

namespace {

using zellige::system::find_program;
using zellige::system::read_whole;
using zellige::system::write_whole;

const char* const examples[] = {"attention", "lora", "mlp", "rmsnorm"};

struct Standalone : Command {
  /// The file that transpile writes for an example.
  std::string write(const std::string& example, const std::string& target) {
    const auto f = run({"transpile", std::string(ZELLIGE_SOURCE_DIR) + "/examples/" + example + ".json", "-o",
                        path(target), "--standalone", "--target", target});
    EXPECT_EQ(f.status, 0) << f.output;
    return f.output.substr(0, f.output.find('\n'));
  }
};

TEST_F(Standalone, CompilesAsTheDocsSay) {
  const std::string docs = read_whole(ZELLIGE_SOURCE_DIR "/docs/reference/cli-run.md"),
                    command =
                        "nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -Xcompiler -Wall,-Wextra -c lora_0.cu";
  EXPECT_NE(docs.find("\n" + command + "\n"), docs.npos);
  auto nvcc = find_program("nvcc");
  if (!nvcc) nvcc = find_program("/usr/local/cuda/bin/nvcc");
  if (!nvcc) GTEST_SKIP() << "no nvcc on PATH or in /usr/local/cuda";
  for (const std::string target : {"sm_80", "sm_90a"}) {
    std::vector<std::string> all(std::begin(examples), std::end(examples));
    if (target == "sm_90a") all.push_back("layers/gpt_mlp");  // with warpgroups and tensor maps
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string& example = all[i];
      if (!zellige::test::all_cases() && i % 2 == (target == "sm_80")) continue;  // nvcc takes seconds for each
      std::string words =
          std::regex_replace(command.substr(command.find(' ')), std::regex("_90a"), "_" + target.substr(3));
      words.replace(words.find("lora_0.cu"), 9, write(example, target));
      const auto f = zellige::system::run_process({"sh", "-c", *nvcc + words + " -o " + path("out.o")});
      EXPECT_EQ(f.status, 0);
      EXPECT_EQ(f.output, "") << example << " for " << target;
    }
  }
}

// The runtime functions that an entry calls. A launch needs its function's attribute on its device.
constexpr const char* runtime = R"(
#pragma once
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct dim3 { dim3(unsigned = 1, unsigned = 1, unsigned = 1) {} };
using cudaStream_t = void*;
enum { cudaLaunchAttributeClusterDimension, cudaLaunchAttributeProgrammaticStreamSerialization };
struct cudaLaunchAttribute {
  int id;
  struct { struct { unsigned x, y, z; } clusterDim; int programmaticStreamSerializationAllowed; } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  unsigned dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
namespace zellige { struct half_t {}; struct bfloat16_t {}; }
using namespace zellige;
inline thread_local int current = 0;
inline thread_local cudaError_t last = cudaSuccess;
inline std::mutex mutex;
inline std::map<std::pair<int, std::string>, int> attribute;
inline int calls = 0;
inline cudaError_t cudaGetDevice(int* device) { return *device = current, cudaSuccess; }
inline cudaError_t cudaGetLastError() { return last; }
inline cudaError_t cudaFuncSetAttribute(const char* kernel, int, int bytes) {
  const std::lock_guard hold(mutex);
  ++calls;
  attribute[{current, kernel}] = bytes;
  return cudaSuccess;
}
inline std::map<std::string, std::set<bool>> early;  // by kernel: whether it was launched so
template <class... Pointers>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* launch, const char* kernel, Pointers...) {
  const std::lock_guard hold(mutex);
  const int shared = static_cast<int>(launch->dynamicSmemBytes);
  bool is_early = false;
  for (unsigned i = 0; i < launch->numAttrs; ++i)
    is_early = is_early || (launch->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                            launch->attrs[i].val.programmaticStreamSerializationAllowed == 1);
  early[kernel].insert(is_early);
  return shared > 48 * 1024 && attribute[{current, kernel}] < shared ? cudaErrorInvalidValue : cudaSuccess;
}
)";

TEST_F(Standalone, EveryDeviceGetsItsAttributes) {
  write_whole(path("cuda_runtime.h"), runtime);
  int large = 0;
  for (const char* example : examples) {
    const std::string file = write(example, "sm_90a"), text = read_whole(file);
    const auto manifest = nlohmann::json::parse(read_whole(file.substr(0, file.size() - 3) + ".manifest.json"));
    const std::size_t begin = text.find("#include", text.rfind("#elif !defined(__CUDACC_RTC__)")),
                      end = text.rfind("#endif");
    ASSERT_LT(begin, end);
    int asking = 0;
    std::string host = "#include <cuda_runtime.h>\n";
    for (const auto& k : manifest.at("kernels")) {
      host += "static const char* const " + k.at("name").get<std::string>() + " = \"" +
              k.at("name").get<std::string>() + "\";\n";
      asking += k.at("shared_bytes") > 48 * 1024;
    }
    large += asking;
    host += text.substr(begin, end - begin);
    host += R"(
int main() {
  void* pointers[64] = {};
  const auto launch_on = [&](int devices) {
    for (current = 0; current < devices; ++current)
      if (ENTRY(pointers, pointers, pointers, nullptr) != cudaSuccess) std::exit(1);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(launch_on, 70);
  for (std::thread& t : threads) t.join();
  const int before = calls;
  launch_on(64);  // known by now
  std::printf("%d", calls - before);
  // Kernels start while the one before them runs, or where that is asked for when it has ended.
  for (const auto& [kernel, how] : early)
    if (how != std::set<bool>{true}) return 2;
  early.clear();
  if (ORDERED(pointers, pointers, pointers, nullptr) != cudaSuccess) return 3;
  for (const auto& [kernel, how] : early)
    if (how != std::set<bool>{false}) return 4;
  return calls < 70 * ASKING;
}
)";
    write_whole(path("host.cpp"), host);
    const auto f = zellige::system::run_process({"sh", "-c",
                                                 "g++ -std=c++20 -Wall -Wextra -Werror -pthread -I " + path("") +
                                                     " -DENTRY=launch_" + manifest.at("name").get<std::string>() +
                                                     " -DORDERED=ordered_" + manifest.at("name").get<std::string>() +
                                                     " -DASKING=" + std::to_string(asking) + " -o " + path("host") +
                                                     " " + path("host.cpp") + " && " + path("host")});
    EXPECT_EQ(f.status, 0) << example;
    EXPECT_EQ(f.output, "0") << example;
  }
  EXPECT_GE(large, 2) << "examples with more than 48 KB of shared memory";
}

}  // namespace
