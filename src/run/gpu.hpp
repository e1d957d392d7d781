// Runs an emitted program on the GPU through the driver API.
#pragma once
#include <string>
#include <vector>

#include "emit/manifest.hpp"
#include "run/nvrtc.hpp"
#include "run/storage.hpp"
#include "run/timing.hpp"

namespace zellige::run {

struct GpuKernel {
  std::string name;
  int registers = 0, local_bytes = 0;
};

struct GpuRun {
  std::vector<GpuKernel> kernels;
  double run_ms = 0;  // upload, first launch of everything, download
  // how the outputs of the program as one unit differ from those of its kernels one by one; else ""
  std::string fault;
  Times times;  // of the whole program, if requested
};

/// Runs every launch of the manifest once, each after the previous one has ended; then the program twice as
/// one unit, captured in a CUDA graph, in which its kernels may overlap. `storage` holds the bytes of each
/// tensor, and on return those after the first run; an intermediate's are those left by the last kernel that
/// writes it. Outputs and workspace start as in `storage` (poisoned), shared memory as NaN. Throws if a
/// kernel wrote beyond a tensor's end.
GpuRun run_on_gpu(const emit::Manifest&, const Cubin&, std::vector<Bytes>& storage, Timing = Timing::off);

/// Microseconds per evaluation, one sample per round, for tuning: Timing::rotated, shortened, without any
/// checks.
std::vector<double> measure_on_gpu(const emit::Manifest&, const Cubin&, std::vector<Bytes>& storage);

}  // namespace zellige::run
