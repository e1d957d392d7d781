#include "reference/blas.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <limits>
#include <mutex>
#include <vector>

#include "graph/error.hpp"
#include "reference/mix.hpp"

namespace zellige::reference {
namespace {

constexpr int row_major = 101, no_transpose = 111;  // values of cblas.h
using Dgemm = void(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);

/// The BLAS library that this process loaded, if any. Throws Error if $ZELLIGE_BLAS names one that cannot be used.
struct LoadedBlas {
  bool usable = false;
  std::string description;

  LoadedBlas() {
    const char* named = std::getenv("ZELLIGE_BLAS");
    const bool asked = named && *named;
    const std::string file = asked ? named : "libopenblas.so.0";
    const std::string why = file == "none" ? "ZELLIGE_BLAS is none" : load(file);
    if (!why.empty() && file != "none" && asked) fail("ZELLIGE_BLAS: {}", why);
    usable = why.empty() && multiplies_integers();
    if (!why.empty())
      description = "no BLAS: " + why;
    else if (!usable)
      description = fmt::format("no BLAS: {} ({}) multiplies integers wrongly here", file, description);
  }

  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
                std::int64_t ldb, double* c, std::int64_t ldc) const {
    static std::mutex guard;
    std::unique_lock lock(guard, std::defer_lock);
    if (one_at_a_time_) lock.lock();
    const auto at = [](std::int64_t v) { return static_cast<int>(v); };
    dgemm_(row_major, no_transpose, no_transpose, at(m), at(n), at(k), 1, a, at(lda), b, at(ldb), 0, c, at(ldc));
  }

 private:
  /// Returns whether the library multiplies integer matrices exactly. Tries shapes that are multiples of common
  /// kernel tiles and shapes that are not.
  bool multiplies_integers() const {
    constexpr std::int64_t shapes[][3] = {{128, 96, 64}, {131, 97, 259}, {5, 481, 300}, {67, 3, 1031}, {1, 50, 700}};
    for (const auto& [m, n, k] : shapes) {
      std::vector<double> x(m * k), y(k * n), c(m * n, std::numeric_limits<double>::quiet_NaN());
      std::uint64_t state = 1;
      for (double& v : x) v = static_cast<double>(mix(state += mix_step) % 33) - 16;
      for (double& v : y) v = static_cast<double>(mix(state += mix_step) % 33) - 16;
      multiply(m, n, k, x.data(), k, y.data(), n, c.data(), n);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t p = 0; p < k; ++p) sum += x[i * k + p] * y[p * n + j];
          if (c[i * n + j] != sum) return false;
        }
    }
    return true;
  }

  /// Loads the library and its functions. Returns "", or the reason why the library cannot be used.
  std::string load(const std::string& file) {
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return ::dlerror();
    dgemm_ = reinterpret_cast<Dgemm*>(::dlsym(library, "cblas_dgemm"));
    if (!dgemm_) return file + " has no cblas_dgemm";
    // Limits the library to one thread per call, because the reference calls it from several threads. With
    // more threads per call, results could depend on the number of threads.
    using Threads = void(int);
    if (auto* threads = reinterpret_cast<Threads*>(::dlsym(library, "openblas_set_num_threads"))) threads(1);
    using Config = char*();
    auto* config = reinterpret_cast<Config*>(::dlsym(library, "openblas_get_config"));
    description = config ? config() : file;
    // A library that is built single-threaded allocates buffers without a lock, so concurrent calls could get
    // the same buffer. multiply() then serializes the calls.
    using Parallel = int();
    auto* parallel = reinterpret_cast<Parallel*>(::dlsym(library, "openblas_get_parallel"));
    one_at_a_time_ = parallel && parallel() == 0;
    return "";
  }

  Dgemm* dgemm_ = nullptr;
  bool one_at_a_time_ = false;
};

const LoadedBlas& loaded() {
  static const LoadedBlas the;
  return the;
}

}  // namespace

bool has_blas() { return loaded().usable; }

void blas_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
               std::int64_t ldb, double* c, std::int64_t ldc) {
  loaded().multiply(m, n, k, a, lda, b, ldb, c, ldc);
}

std::string describe_blas() { return loaded().description; }

}  // namespace zellige::reference
