// An emitted program on the emulator: compiled by the host compiler, every block and thread run and checked.
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
  bool complete = true;  // false: a launch was given up at a divergence; what comes after it did not run
  double compile_ms = 0;
  bool compile_cached = false;
  std::string note;  // of the cache: HostLibrary::note
  double run_ms = 0;
};

/// Runs every launch of the manifest once, with `workers` threads of the host (0: one a core). `storage`
/// holds the bytes of each of the manifest's tensors, and the bytes after the run on return. Inputs count as
/// initialised; all else as poison that nobody may read.
EmulatedRun run_emulated(const emit::Program&, std::vector<Bytes>& storage, const Cache&, int workers = 0);

/// Counters that are not zero, by name.
std::vector<std::pair<std::string, std::uint64_t>> named(const emulate::Counters&);

}  // namespace zellige::run
