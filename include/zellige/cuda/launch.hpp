// Kernel launches. `zellige emulate` writes kernel<<<grid, block>>>(x, n) as
//
//   ::zellige::cuda::launch("kernel", [=](auto... p) { kernel(p...); }, ::zellige::cuda::Configuration(grid, block), x, n)
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "zellige/cuda/occupancy.hpp"

namespace zellige::cuda {

/// What stands between <<< and >>>.
struct Configuration {
  dim3 grid, block, cluster{};
  std::size_t shared_bytes;
  bool cooperative = false;
  Configuration(dim3 g, dim3 b, std::size_t shared = 0, cudaStream_t = nullptr)
      : grid(g), block(b), shared_bytes(shared) {}
};

/// Whether a kernel of the program has `__cluster_dims__`; and whether a launch asks a kernel for its dims.
inline bool uses_clusters = false, asks_for_cluster = false;
/// The first statement of each kernel of a program that has `__cluster_dims__`.
inline void kernel_starts(unsigned x = 1, unsigned y = 1, unsigned z = 1) {
  if (asks_for_cluster) throw dim3(x, y, z);
}
/// Returns the cluster of a kernel. `call` calls it, which then throws its dims.
template <class Call>
dim3 cluster_of(const Call& call) {
  if (!uses_clusters) return {};
  asks_for_cluster = true;
  dim3 dims;
  try {
    call();
  } catch (const dim3& found) {
    dims = found;
  }
  asks_for_cluster = false;
  return dims;
}

/// Launches a kernel at once. `call`: calls it with its arguments.
template <class Call>
__attribute__((always_inline)) inline void launch_at_once(const char* name, const Call& call, const Configuration& c) {
  KernelCall k;
  k.kernel = name;
  k.grid = {c.grid.x, c.grid.y, c.grid.z};
  k.block = {c.block.x, c.block.y, c.block.z};
  const dim3 cluster = c.cluster.x * c.cluster.y * c.cluster.z > 1 ? c.cluster : cluster_of(call);
  k.cluster = {cluster.x, cluster.y, cluster.z};
  k.shared_bytes = c.shared_bytes;
  k.cooperative = c.cooperative;
  k.closure = &call;
  k.closure_bytes = sizeof(Call);
  k.run = [](const void* closure) { (*static_cast<const Call*>(closure))(); };
  host->launch(k);
}

/// Launches a kernel. `name`: as the source has it. `body`: calls the kernel with the arguments that it is given.
template <class Body, class... Arguments>
__attribute__((always_inline)) inline void launch(const char* name, Body body, const Configuration& c,
                                                  const Arguments&... arguments) {
  auto call = [body, all = std::tuple<std::decay_t<const Arguments&>...>(arguments...)] { std::apply(body, all); };
  using Call = decltype(call);
  if (recording) {
    recording->steps.emplace_back([name, call, c] {
      const Call on_stack = call;  // where the emulator looks for a launch's arguments
      launch_at_once(name, on_stack, c);
    });
    return;
  }
  launch_at_once(name, call, c);
}

/// Launches a kernel whose arguments are given by their addresses.
template <class... Parameters, std::size_t... I>
__attribute__((always_inline)) inline void launch_at(const char* name, void (*kernel)(Parameters...),
                                                     const Configuration& c, void** p, std::index_sequence<I...>) {
  launch(name, kernel, c, *static_cast<std::remove_cv_t<Parameters>*>(p[I])...);
}
/// cudaLaunchKernel and cudaLaunchCooperativeKernel; `zellige emulate` adds the kernel's name.
template <class... Parameters>
cudaError_t launch_array(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                         std::size_t shared = 0, cudaStream_t stream = nullptr) {
  launch_at(name, kernel, Configuration(grid, block, shared, stream), arguments,
            std::index_sequence_for<Parameters...>());
  return cudaPeekAtLastError();
}
template <class... Parameters>
cudaError_t launch_together(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                            std::size_t shared = 0, cudaStream_t stream = nullptr) {
  Configuration c(grid, block, shared, stream);
  c.cooperative = true;
  launch_at(name, kernel, c, arguments, std::index_sequence_for<Parameters...>());
  return cudaPeekAtLastError();
}

/// cudaLaunchKernelEx; `zellige emulate` adds the kernel's name.
template <class... Parameters, class... Arguments>
__attribute__((always_inline)) inline cudaError_t launch_ex(const char* name, const cudaLaunchConfig_t* config,
                                                            void (*kernel)(Parameters...), Arguments&&... arguments) {
  Configuration c(config->zellige_gridDim, config->zellige_blockDim, config->dynamicSmemBytes, config->stream);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& a = config->attrs[i];
    if (a.id == cudaLaunchAttributeClusterDimension)
      c.cluster = dim3(a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z);
    if (a.id == cudaLaunchAttributeCooperative) c.cooperative = a.val.cooperative != 0;
  }
  launch(name, kernel, c, static_cast<std::decay_t<Parameters>>(arguments)...);
  return cudaPeekAtLastError();
}
/// cudaLaunchKernelExC.
template <class... Parameters>
cudaError_t launch_ex_array(const char* name, const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                            void** p) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return launch_ex(name, config, kernel, *static_cast<std::remove_cv_t<Parameters>*>(p[I])...);
  }
  (std::index_sequence_for<Parameters...>());
}

/// A kernel whose parameters' types are not known: its arguments cannot be read.
inline cudaError_t launch_ex_array(const char*, const cudaLaunchConfig_t*, const void*, void**) {
  return done(cudaErrorNotSupported);
}

/// A `__shared__` variable of type T, of which each block has one. Tag: a type of the declaration's own.
template <class Tag>
struct SharedSlot {
  static inline Declaration declaration{nullptr, sizeof(Tag), alignof(Tag), MemoryKind::shared, Tag::zellige_name()};
};

/// Tells the emulator of a `__device__`, `__constant__` or `__managed__` variable. One that is const is like any constant.
struct DeviceVariable {
  template <class T>
  DeviceVariable(T& variable, MemoryKind kind, const char* name) {
    if constexpr (!std::is_const_v<std::remove_all_extents_t<T>>)
      new Declaration(const_cast<char*>(reinterpret_cast<const volatile char*>(&variable)), sizeof(T), alignof(T), kind,
                      name);
  }
};

/// Returns the running block's variable.
template <class Tag>
__attribute__((always_inline)) inline Tag& shared_variable() {
  return *static_cast<Tag*>(host->static_shared(SharedSlot<Tag>::declaration));
}

/// Returns the block's dynamic shared memory. `name`: the program's name of it.
template <class T>
__attribute__((always_inline)) inline T* dynamic_shared(const char* name) {
  return static_cast<T*>(host->dynamic_shared(name));
}

}  // namespace zellige::cuda
