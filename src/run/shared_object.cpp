#include "run/shared_object.hpp"

#include "emit/host_text.hpp"
#include "graph/error.hpp"
#include "run/files.hpp"
#include "run/host_compiler.hpp"
#include "run/process.hpp"

namespace zellige::run {
namespace {

/// A temporary file, deleted by the destructor.
struct Scratch {
  explicit Scratch(fs::path p) : path(std::move(p)) {}
  ~Scratch() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  const fs::path path;
};

}  // namespace

std::string shared_object(const emit::Manifest& m, const std::string& cubin, const Cache& cache) {
  const std::string compiler = host_compiler("shared object of " + m.name);
  const Scratch kernels(cache.scratch("cubin")), text(cache.scratch("c")), made(cache.scratch("so"));
  // Returns a path relative to the cache's folder, in which the compiler runs, so that the folder's path is
  // not in the shared object.
  const auto below = [&](const fs::path& file) { return file.lexically_relative(cache.root()).string(); };
  write_whole(kernels.path, cubin, 0600);
  write_whole(text.path, emit::c_library(m, below(kernels.path)), 0600);
  // Links the C library only; by default g++ would add those of C++. -s strips the name of the source file,
  // which differs from call to call.
  const Finished f =
      run_process({compiler, "-x", "c", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden",
                   "-shared", "-Wl,-soname," + m.name + ".so", "-Wl,--build-id=none", "-s", "-nodefaultlibs",
                   below(text.path), "-o", below(made.path), "-lc"},
                  cache.root().string());
  if (const std::string_view what = short_of(f); !what.empty())
    fail(
        "shared object of {}: this machine has too little {} for {} to compile it ({}); give it more, or less to do at "
        "once:\n{}",
        m.name, what, compiler, ended(f.status), f.output.substr(0, 2000));
  if (f.status != 0 || !f.output.empty())
    fault("shared object of {}: {} does not compile it ({}):\n{}", m.name, compiler, ended(f.status),
          f.output.substr(0, 2000));
  return read_whole(made.path);
}

}  // namespace zellige::run
