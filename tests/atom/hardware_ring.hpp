// Shared by the parts of hardware_ring.cu: a form and its verdict, GPU memory, launches, and the runner of
// all forms, each in a separate process.
#pragma once
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>
#include <zellige/block/launch.hpp>

namespace zellige {

using Bytes = std::vector<unsigned char>;

/// One form in which emitted code uses an instruction. `run` launches it and returns the error in its result,
/// or "".
struct Form {
  std::string name;
  std::function<std::string()> run;
};
inline std::vector<Form> forms;

inline constexpr unsigned seed = 20;         // of each form's data
inline constexpr int trip_count = 37;        // of each loop; kernels get it as an argument
inline constexpr int untouched = 0xEE;       // what outputs hold before a kernel writes them
inline constexpr unsigned max_seconds = 60;  // of a form; then it counts as a fault
inline std::mt19937 generator(seed);

/// The CUDA runtime's error.
struct Fault {
  std::string what;
};
inline void must(cudaError_t status) {
  if (status != cudaSuccess) throw Fault{cudaGetErrorString(status)};
}

/// Memory of the GPU, until the process ends.
struct Memory {
  unsigned char* data = nullptr;
  std::size_t count;
  explicit Memory(const Bytes& host) : count(host.size()) {
    must(cudaMalloc(&data, count));
    must(cudaMemcpy(data, host.data(), count, cudaMemcpyHostToDevice));
  }
  Bytes get() const {
    Bytes host(count);
    must(cudaMemcpy(host.data(), data, count, cudaMemcpyDeviceToHost));
    return host;
  }
};

inline Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  for (unsigned char& b : bytes) b = static_cast<unsigned char>(generator());
  return bytes;
}

/// Launches and waits; then the context must still allocate and copy.
template <class Kernel, class... Arguments>
void run_kernel(Kernel* kernel, const LaunchShape& shape, const Arguments&... arguments) {
  must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes)));
  must(launch(kernel, shape, nullptr, arguments...));
  must(cudaDeviceSynchronize());
  const Bytes some(64, 1);
  if (Memory(some).get() != some) throw Fault{"after the kernel a copy to the GPU and back differs"};
}

/// The first difference of two results, as the offset in an iteration's `each` bytes; "" if they are equal.
inline std::string difference(const Bytes& got, const Bytes& want, std::size_t each) {
  if (got.size() != want.size()) return "sizes differ";
  std::size_t first = got.size(), differ = 0;
  for (std::size_t i = got.size(); i-- > 0;)
    if (got[i] != want[i]) first = i, ++differ;
  if (differ == 0) return "";
  char text[160];
  std::snprintf(text, sizeof(text), "%zu of %zu bytes differ, first byte %zu of iteration %zu: %02x, not %02x", differ,
                got.size(), first % each, first / each, got[first], want[first]);
  return text;
}

/// Runs `body` in a child process. Its exit status; -n where signal n ended it.
template <class Body>
int in_child(Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(max_seconds);
    const int status = body();
    std::fflush(stdout);
    _exit(status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 127;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

enum Verdict { ok, wrong, fault };

/// In a process that has not used the GPU yet. Prints the form's line.
inline int judge(const Form& form) {
  try {
    const std::string what = form.run();
    if (what.empty())
      std::printf("ok %s\n", form.name.c_str());
    else
      std::printf("WRONG %s: %s\n", form.name.c_str(), what.c_str());
    return what.empty() ? ok : wrong;
  } catch (const Fault& f) {
    std::printf("FAULT %s: %s\n", form.name.c_str(), f.what.c_str());
  } catch (const std::exception& e) {
    std::printf("FAULT %s: %s\n", form.name.c_str(), e.what());
  }
  return fault;
}

inline int print_device() {
  cudaDeviceProp device;
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver), cudaRuntimeGetVersion(&runtime);
  if (const cudaError_t error = cudaGetDeviceProperties(&device, 0); error != cudaSuccess) {
    std::printf("no GPU: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("%s, compute capability %d.%d, driver %d, runtime %d, seed %u, %d iterations\n", device.name,
              device.major, device.minor, driver, runtime, seed, trip_count);
  return 0;
}

/// The exit status of the program: 0 if all that were run are ok, 1 if not, 2 if none could be.
inline int run_forms(int argc, char** argv) {
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--list")) {
      for (const Form& form : forms) std::printf("%s\n", form.name.c_str());
      return 0;
    }
    if (std::strcmp(argv[i], "--only") != 0 || ++i == argc)
      return std::fprintf(stderr, "usage: %s [--list] [--only NAME]\n", argv[0]), 2;
    only = argv[i];
  }
  if (in_child(print_device) != 0) return 2;
  int count[3] = {}, all = 0;
  for (const Form& form : forms) {
    if (!only.empty() && form.name != only) continue;
    const int status = in_child([&] { return judge(form); });
    const bool judged = status >= ok && status <= fault;
    if (!judged && status == -SIGALRM)
      std::printf("FAULT %s: not at its end after %u s\n", form.name.c_str(), max_seconds);
    else if (!judged && status < 0)
      std::printf("FAULT %s: its process ended by signal %d\n", form.name.c_str(), -status);
    else if (!judged)
      std::printf("FAULT %s: its process ended with %d\n", form.name.c_str(), status);
    ++count[judged ? status : fault], ++all;
  }
  if (all == 0) return std::fprintf(stderr, "no form is named %s\n", only.c_str()), 2;
  std::printf("%d forms: %d ok, %d wrong, %d faults\n", all, count[ok], count[wrong], count[fault]);
  return count[ok] == all ? 0 : 1;
}

}  // namespace zellige
