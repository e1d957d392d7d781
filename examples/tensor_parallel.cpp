// An MLP that is divided over GPUs: rank r has some columns of `up` and the same rows of `down`, and the ranks add up what they
// have. Without GPUs it runs on the emulator.
//
//   torchrun --nproc-per-node 2 --no-python ./tensor_parallel      one process a GPU
//   mpirun -n 2 ./tensor_parallel
//   ./tensor_parallel --processes 2                                the same, by fork
//   ./tensor_parallel --threads 2                                  one thread a GPU
//   ./tensor_parallel --processes 3 --dies 1                       rank 1 ends before the others
//
//   c++ -std=c++17 tensor_parallel.cpp -lzellige -ldl -lpthread -o tensor_parallel
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <zellige/ranks.hpp>

namespace {

constexpr int rows = 4, hidden = 64, inner = 192;  // of the whole MLP

std::string mlp(int ranks) {
  const auto tensor = [](const char* name, int m, int n) {
    return std::string(R"({"name": ")") + name + R"(", "dtype": "f32", "shape": [)" + std::to_string(m) + ", " +
           std::to_string(n) + "]}";
  };
  const int part = inner / ranks;
  return R"({"zellige_graph": 1, "name": "mlp", "ranks": )" + std::to_string(ranks) + R"(, "inputs": [)" +
         tensor("x", rows, hidden) + ", " + tensor("up", hidden, part) + ", " + tensor("down", part, hidden) +
         R"(], "operators": [{"op": "matmul", "inputs": ["x", "up"], "outputs": ["h"]},
  {"op": "relu", "inputs": ["h"], "outputs": ["a"]}, {"op": "matmul", "inputs": ["a", "down"], "outputs": ["p"]},
  {"op": "all_reduce", "inputs": ["p"], "outputs": ["s"]}, {"op": "add", "inputs": ["s", "x"], "outputs": ["y"]}],
  "outputs": ["y"]})";
}

/// The values of the whole tensors: any, the same on all ranks.
float value(int tensor, int i, int j) { return static_cast<float>((i * 37 + j * 11 + tensor * 5) % 17 - 8) / 32; }
std::vector<float> part_of(int tensor, int first_row, int m, int first_column, int n) {
  std::vector<float> x;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) x.push_back(value(tensor, first_row + i, first_column + j));
  return x;
}

/// Returns what all ranks expect of the whole MLP.
std::vector<double> expected() {
  std::vector<double> a(rows * inner), y(rows * hidden);
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < inner; ++k) {
      for (int j = 0; j < hidden; ++j) a[i * inner + k] += double(value(0, i, j)) * value(1, j, k);
      a[i * inner + k] = std::max(a[i * inner + k], 0.0);
    }
    for (int j = 0; j < hidden; ++j) {
      for (int k = 0; k < inner; ++k) y[i * hidden + j] += a[i * inner + k] * value(2, k, j);
      y[i * hidden + j] += value(0, i, j);
    }
  }
  return y;
}

/// Throws ProgramError if a call of CUDA's driver failed.
void check(int status, const char* doing) {
  if (status != 0) throw zellige::ProgramError(std::string("CUDA: ") + doing + ": status " + std::to_string(status));
}

/// Memory of a rank: on its GPU, by CUDA's driver, or the host's. A program of CUDA calls cudaMalloc and cudaMemcpy.
class Memory {
 public:
  Memory(int device, std::vector<float> x) : device_(device), host_(std::move(x)), at_(host_.data()) {
    if (device_ < 0) return;
    unsigned long long made = 0;
    check(call<int(unsigned long long*, std::size_t)>("cuMemAlloc_v2")(&made, bytes()), "memory");
    at_ = reinterpret_cast<void*>(made);
    check(call<int(unsigned long long, const void*, std::size_t)>("cuMemcpyHtoD_v2")(made, host_.data(), bytes()),
          "copy");
  }
  ~Memory() {
    if (device_ >= 0) call<int(unsigned long long)>("cuMemFree_v2")(reinterpret_cast<unsigned long long>(at_));
  }
  Memory(const Memory&) = delete;
  void* at() const { return at_; }
  const std::vector<float>& values() {
    if (device_ >= 0)
      check(call<int(void*, unsigned long long, std::size_t)>("cuMemcpyDtoH_v2")(
                host_.data(), reinterpret_cast<unsigned long long>(at_), bytes()),
            "copy");
    return host_;
  }

  /// Makes a GPU the one in use on this thread, as cudaSetDevice does.
  static void use(int device) {
    void* context = nullptr;
    check(call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device), "context");
    check(call<int(void*)>("cuCtxSetCurrent")(context), "context");
  }

 private:
  template <class Function>
  static Function* call(const char* name) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return reinterpret_cast<Function*>(dlsym(driver, name));
  }
  std::size_t bytes() const { return host_.size() * sizeof(float); }

  int device_;
  std::vector<float> host_;
  void* at_;
};

/// Runs one rank twice. Returns whether its result is right. Rank number `dies` ends after the first time.
bool run(const zellige::Ranks& ranks, int dies) {
  const int r = ranks.rank(), count = ranks.count(), part = inner / count, device = ranks.device();
  zellige::ProgramOptions options;
  options.workers = 1;
  zellige::ProgramOverRanks program(zellige::Graph::from_json(mlp(count)), ranks, options);
  if (device >= 0) Memory::use(device);
  Memory x(device, part_of(0, 0, rows, 0, hidden)), up(device, part_of(1, 0, hidden, r * part, part)),
      down(device, part_of(2, r * part, part, 0, hidden)), y(device, std::vector<float>(rows * hidden));
  for (int i = 0; i < 2; ++i) {
    if (i == 1 && r == dies) std::_Exit(7);
    program.launch({x.at(), up.at(), down.at()}, {y.at()});
    program.wait();
  }
  double error = 0;
  const std::vector<double> right = expected();
  for (std::size_t i = 0; i < right.size(); ++i) error = std::max(error, std::fabs(y.values()[i] - right[i]));
  const bool is_right = error < 1e-3;
  const std::string where = device < 0 ? "the emulator" : "GPU " + std::to_string(device);
  std::printf("rank %d of %d on %s: %s, largest error %.1e\n", r, count, where.c_str(), is_right ? "right" : "WRONG",
              error);
  if (r == 0) std::printf("%s", program.text(ZELLIGE_NOTES).c_str());
  return is_right;
}

/// Runs a rank. Returns the process's exit status, after the sentence of an error.
int guarded(const std::function<bool()>& run_rank) {
  try {
    return run_rank() ? 0 : 1;
  } catch (const zellige::ProgramError& e) {
    std::fprintf(stderr, "tensor_parallel: %s\n", e.what());
    return 1;
  }
}

int in_threads(int count) {
  std::vector<int> status(static_cast<std::size_t>(count), 1);
  return guarded([&] {
    std::vector<zellige::Ranks> ranks = zellige::Ranks::of_threads(count);
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      threads.emplace_back([&, r] { status[r] = guarded([&] { return run(ranks[r], -1); }); });
    for (std::thread& t : threads) t.join();
    return std::all_of(status.begin(), status.end(), [](int s) { return s == 0; });
  });
}

/// What torchrun does: starts a process per rank, and tells each its number in the environment.
int in_processes(int count, int dies) {
  for (int r = 0; r < count; ++r)
    if (fork() == 0) {
      setenv("WORLD_SIZE", std::to_string(count).c_str(), 1), setenv("RANK", std::to_string(r).c_str(), 1);
      setenv("LOCAL_RANK", std::to_string(r).c_str(), 1);
      const int status = guarded([&] { return run(zellige::Ranks::of_environment(), dies); });
      std::fflush(stdout);
      std::_Exit(status);
    }
  int worst = 0;
  for (int r = 0, status = 0; r < count; ++r) {
    wait(&status);
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](const char* option, int otherwise) {
    for (int i = 1; i + 1 < argc; ++i)
      if (!std::strcmp(argv[i], option)) return std::atoi(argv[i + 1]);
    return otherwise;
  };
  if (const int threads = number("--threads", 0)) return in_threads(threads);
  const int dies = number("--dies", -1);
  if (const int processes = number("--processes", 0)) return in_processes(processes, dies);
  return guarded([&] { return run(zellige::Ranks::of_environment(), dies); });
}
