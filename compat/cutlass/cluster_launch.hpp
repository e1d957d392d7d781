// CUTLASS's launches of kernels with thread block clusters.
//
//   cutlass::ClusterLaunchParams params{grid, block, cluster, shared_bytes, stream};
//   cutlass::Status status = cutlass::launch_kernel_on_cluster(params, (void const*)&kernel<...>,
//   arguments...);
//
// A launch error is printed to standard error and returned as Status::kInvalid. Arguments must have exactly
// the types of the kernel's parameters, because the runtime receives only their addresses.
#pragma once
#if __has_include_next(<cutlass/cluster_launch.hpp>)
#include_next <cutlass/cluster_launch.hpp>
#else
#include <cutlass/arch/config.h>
#include <cutlass/cutlass.h>
#include <cutlass/trace.h>

#include <cute/arch/cluster_sm90.hpp>

#if !defined(__CUDACC_RTC__)
#include <cuda_runtime_api.h>

#include <cstdio>
#include <memory>                   // addressof

namespace cutlass {

/// Launches kernels with clusters; the functions return a Status.
struct ClusterLauncher {
  static constexpr int MaxClusterSize = 32;

  /// A launch configuration with its attributes; copies refer to their own attributes.
  struct LaunchConfig {
    cudaLaunchConfig_t launch_config{};
    cudaLaunchAttribute launch_attribute[2]{};
    LaunchConfig() = default;
    LaunchConfig(LaunchConfig const& other) { *this = other; }
    LaunchConfig& operator=(LaunchConfig const& other) {
      launch_config = other.launch_config;
      for (int i = 0; i < 2; ++i) launch_attribute[i] = other.launch_attribute[i];
      launch_config.attrs = launch_attribute;  // the copy's own attributes
      return *this;
    }
    dim3 gridDim() const { return launch_config.gridDim; }
    dim3 blockDim() const { return launch_config.blockDim; }
  };

  /// Returns kInvalid, with a message, unless the cluster has 1 to 32 blocks and divides the grid.
  static Status check_cluster_dims(dim3 grid, dim3 cluster) {
    unsigned const size = cluster.x * cluster.y * cluster.z;
    if (size == 0 || size > unsigned(MaxClusterSize)) {
      std::fprintf(stderr, "ClusterLauncher: a cluster of %u x %u x %u blocks; it has 1 to %d\n", cluster.x, cluster.y,
                   cluster.z, MaxClusterSize);
      return Status::kInvalid;
    }
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z) {
      std::fprintf(stderr, "ClusterLauncher: a grid of (%u, %u, %u) blocks is not made of clusters of (%u, %u, %u)\n",
                   grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
      return Status::kInvalid;
    }
    return Status::kSuccess;
  }

  /// Allows the kernel to use clusters of more than 8 blocks.
  static Status init(void const* kernel) {
    return status_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                     "cudaFuncSetAttribute");
  }

  /// Returns the configuration of a launch, with programmatic dependent launch if launch_with_pdl.
  static LaunchConfig make_cluster_launch_config(dim3 grid, dim3 cluster, dim3 block, size_t shared_bytes = 0,
                                                 cudaStream_t stream = nullptr, bool launch_with_pdl = false) {
    LaunchConfig c;
    c.launch_attribute[0].id = cudaLaunchAttributeClusterDimension;
    c.launch_attribute[0].val.clusterDim.x = cluster.x;
    c.launch_attribute[0].val.clusterDim.y = cluster.y;
    c.launch_attribute[0].val.clusterDim.z = cluster.z;
    c.launch_attribute[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    c.launch_attribute[1].val.programmaticStreamSerializationAllowed = 1;
    c.launch_config.gridDim = grid;
    c.launch_config.blockDim = block;
    c.launch_config.dynamicSmemBytes = shared_bytes;
    c.launch_config.stream = stream;
    c.launch_config.attrs = c.launch_attribute;
    c.launch_config.numAttrs = launch_with_pdl ? 2 : 1;
    return c;
  }

  /// Checks the cluster and launches the kernel; `arguments` are pointers to the kernel's arguments.
  static Status launch(dim3 grid, dim3 cluster, dim3 block, size_t shared_bytes, cudaStream_t stream,
                       void const* kernel, void** arguments, bool launch_with_pdl = false) {
    if (Status s = check_cluster_dims(grid, cluster); s != Status::kSuccess) return s;
    if (Status s = init(kernel); s != Status::kSuccess) return s;
    LaunchConfig c = make_cluster_launch_config(grid, cluster, block, shared_bytes, stream, launch_with_pdl);
    return status_of(cudaLaunchKernelExC(&c.launch_config, kernel, arguments), "cudaLaunchKernelExC");
  }

 private:
  static Status status_of(cudaError_t e, char const* call) {
    if (e == cudaSuccess) return Status::kSuccess;
    std::fprintf(stderr, "ClusterLauncher: %s gave %s: %s\n", call, cudaGetErrorName(e), cudaGetErrorString(e));
    return Status::kInvalid;
  }
};

struct ClusterLaunchParams {
  dim3 grid_dims{1, 1, 1};
  dim3 block_dims{1, 1, 1};
  dim3 cluster_dims{1, 1, 1};
  int smem_size_in_bytes = 0;
  cudaStream_t cuda_stream = nullptr;
};

/// Launches a kernel with clusters. The arguments must have exactly the types of the kernel's parameters.
template <class... Args>
Status launch_kernel_on_cluster(ClusterLaunchParams const& params, void const* kernel, Args&&... args) {
#if defined(ZELLIGE_CUDA_EMULATED)  // `zellige emulate` calls the kernel as a function
  auto const typed = reinterpret_cast<void (*)(std::decay_t<Args>...)>(const_cast<void*>(kernel));
  ClusterLauncher::LaunchConfig c = ClusterLauncher::make_cluster_launch_config(
      params.grid_dims, params.cluster_dims, params.block_dims, size_t(params.smem_size_in_bytes), params.cuda_stream);
  return cudaLaunchKernelEx(&c.launch_config, typed, args...) == cudaSuccess ? Status::kSuccess : Status::kInvalid;
#else
  void* pointers[sizeof...(Args) + 1] = {const_cast<void*>(static_cast<void const*>(std::addressof(args)))..., nullptr};
  return ClusterLauncher::launch(params.grid_dims, params.cluster_dims, params.block_dims,
                                 size_t(params.smem_size_in_bytes), params.cuda_stream, kernel, pointers);
#endif
}

}  // namespace cutlass
#endif
#endif
