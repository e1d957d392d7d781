// Runs an emitted program on the emulator: compiles it with the host compiler, then runs and checks every
// block and thread.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.hpp"
#include "emulate/engine.hpp"
#include "run/cache.hpp"
#include "run/storage.hpp"

namespace zellige::run {

struct EmulatedKernel {
  std::string name;
  emulate::Counters counters;
  double run_ms = 0;
};

struct EmulatedRun {
  std::vector<EmulatedKernel> kernels;
  std::vector<emulate::Finding> findings;
  bool complete = true;  // false: a launch was aborted at a divergence, and the later ones did not run
  double compile_ms = 0;
  bool compile_cached = false;
  std::string note;  // on the cache: HostLibrary::note
  double run_ms = 0;
};

/// Runs every launch of the manifest once, with `workers` host threads (0: one per core). `storage` holds the
/// bytes of each of the manifest's tensors before and after the run. Inputs count as initialized; everything
/// else is poison, which must not be read.
EmulatedRun run_emulated(const emit::Program&, std::vector<Bytes>& storage, const Cache&, int workers = 0);

/// Nonzero counters, by name.
std::vector<std::pair<std::string, std::uint64_t>> named(const emulate::Counters&);

}  // namespace zellige::run
