// Runs a program on the emulator: compiles its source code with the host compiler, then runs its kernels on
// the CPU, where every memory access is checked.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.hpp"
#include "emulate/buffer.hpp"
#include "emulate/engine.hpp"
#include "run/storage.hpp"
#include "system/files.hpp"
#include "toolchain/host_compiler.hpp"

namespace zellige::run {

/// Result of one kernel launch on the emulator.
struct EmulatedKernel {
  std::string name;
  emulate::Counters counters;
  double run_ms = 0;
};

/// Result of running a program on the emulator.
struct EmulatedRun {
  std::vector<EmulatedKernel> kernels;
  std::vector<emulate::Finding> findings;
  // false: a launch was ended by a finding such as a deadlock, and the later launches did not run
  bool complete = true;
  toolchain::HostLibrary library;  // how the program was compiled
  double run_ms = 0;
};

/// Returns the emulator's argument for the launch's argument with index `argument`: the tensor in `buffer`, a TMA
/// descriptor of the tensor if the kernel uses one, or a constant, for which `buffer` is null. Throws Error if the tensor's type or box is not valid for TMA.
emulate::LaunchParameter parameter(const manifest::Manifest&, const manifest::KernelLaunch&, std::size_t argument,
                                   emulate::Buffer* buffer);

/// The compiled library of a program on the emulator; unloaded when destroyed.
class EmulatedLibrary {
 public:
  explicit EmulatedLibrary(const std::filesystem::path&);
  ~EmulatedLibrary();
  EmulatedLibrary(const EmulatedLibrary&) = delete;
  /// Returns the entry function of a kernel in the library. Throws Fault if there is none.
  void (*entry(const std::string& kernel) const)(emulate::Launch&);

 private:
  const system::PrivateFile
      file_;  // must exist as long as the library is loaded: the emulator reads source lines from it
  void* handle_;
};
/// Returns the launch of a kernel without its parameters. `source`: the file whose lines findings name.
emulate::LaunchConfig launch_config(const manifest::KernelLaunch&, const std::string& source);

/// Compiles a program for the emulator and runs each of its kernels once, with `workers` host threads (0: one per
/// core). `storage` has the bytes of each of the manifest's tensors, before and after the run. Before the run, only
/// inputs count as initialized. Throws Error if there is no compiler, and Fault if the source code does not compile.
EmulatedRun run_emulated(const emit::EmittedProgram&, std::vector<Bytes>& storage, const toolchain::Cache&,
                         int workers = 0);
/// The same for a program's source and a manifest of it: of a program with sizes, that of a launch (manifest/launch_sizes.hpp).
EmulatedRun run_emulated(const std::string& source, const manifest::Manifest&, std::vector<Bytes>& storage,
                         const toolchain::Cache&, int workers = 0);

/// Returns the nonzero event counters, with their names.
std::vector<std::pair<std::string, std::uint64_t>> named(const emulate::Counters&);

}  // namespace zellige::run
