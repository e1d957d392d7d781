// Runs a program on the GPU, and measures its time.
#pragma once
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "run/storage.hpp"
#include "run/timing.hpp"
#include "system/files.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::run {

/// Waits for the lock that keeps other processes with this cache off the GPU while times are measured. Returns the lock,
/// which ends with the result.
system::OpenFile lock_gpu(const toolchain::Cache&);

/// A kernel's registers and local memory (spills) per thread.
struct GpuKernel {
  std::string name;
  int registers = 0, local_bytes = 0;
};

/// Result of running a program on the GPU.
struct GpuRun {
  std::vector<GpuKernel> kernels;
  double run_ms = 0;  // upload, first launch of all kernels, download
  // how the outputs differ if the kernels overlap, as one unit, from the outputs of kernels run one by one;
  // "" if they are equal
  std::string fault;
  Times times;  // of the whole program, if timing is requested
};

/// Runs a program in two ways:
/// 1. Every kernel once, each after the previous one has ended. Before this run, outputs and workspace have
///    the bytes of `storage` (poison), and shared memory is NaN.
/// 2. If some kernel uses programmatic dependent launch: the program twice (once if it updates an input in
///    place) in one CUDA graph, in which its kernels may overlap. The outputs must be those of the first run;
///    GpuRun::fault says if they are not.
///
/// `storage` has the bytes of each of the manifest's tensors; on return it has the results of the first run.
/// Throws Fault if a kernel has written beyond the end of a tensor.
GpuRun run_on_gpu(const manifest::Manifest&, const toolchain::Cubin&, std::vector<Bytes>& storage,
                  Timing = Timing::off);

/// Returns the microseconds per evaluation of the program, one sample per round, for tuning. Measures with a
/// cold L2 as Timing::rotated does, with fewer rounds, and does not check results.
std::vector<double> measure_on_gpu(const manifest::Manifest&, const toolchain::Cubin&, std::vector<Bytes>& storage);

}  // namespace zellige::run
