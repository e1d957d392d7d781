// An emitted program on the GPU, by the driver API.
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
  std::string
      fault;    // where the program as one unit writes other outputs than its kernels one by one; "" else
  Times times;  // of the whole program, if asked for
};

/// Runs every launch of the manifest once, each when the one before has ended, then the program twice as one unit, captured in
/// a CUDA graph, where its kernels may overlap. `storage` holds the bytes of each of its tensors, and the bytes after
/// the first run on return, an intermediate's as the last kernel that writes it left them. Outputs and
/// workspace start as `storage` has them (poisoned), shared memory as NaN. Fails where a kernel wrote past a
/// tensor's end.
GpuRun run_on_gpu(const emit::Manifest&, const Cubin&, std::vector<Bytes>& storage, Timing = Timing::off);

/// Microseconds of an evaluation, a sample a round, as tuning compares them: Timing::rotated, briefly, and nothing else.
std::vector<double> measure_on_gpu(const emit::Manifest&, const Cubin&, std::vector<Bytes>& storage);

}  // namespace zellige::run
