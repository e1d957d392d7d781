// An emitted program on the GPU, by the driver API.
#pragma once
#include <string>
#include <vector>

#include "emit/manifest.hpp"
#include "run/nvrtc.hpp"
#include "run/storage.hpp"

namespace zellige::run {

struct GpuKernel {
  std::string name;
  int registers = 0, local_bytes = 0;
};

struct GpuRun {
  std::vector<GpuKernel> kernels;
  double run_ms = 0;               // upload, first launch of everything, download
  std::vector<double> samples_us;  // of the whole program, hot; empty unless asked for
};

/// Runs every launch of the manifest once. `storage` holds the bytes of each of its tensors, and the bytes
/// after the run on return, an intermediate's as the last kernel that writes it left them. Outputs and
/// workspace start as `storage` has them (poisoned), shared memory as NaN. Fails where a kernel wrote past a
/// tensor's end. With `time`, then 20 launches to warm up and 200 that are timed by events, one set of
/// buffers.
GpuRun run_on_gpu(const emit::Manifest&, const Cubin&, std::vector<Bytes>& storage, bool time);

}  // namespace zellige::run
