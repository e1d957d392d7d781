#include "emit/host_text.hpp"

#include <algorithm>

#include "emit/names.hpp"

namespace zellige::emit {

namespace {

// More than 48 KB of dynamic shared memory has to be asked for.
bool asks(const KernelLaunch& k) { return k.shared_bytes > 48 * 1024; }
bool asks(const Manifest& m) {
  return std::any_of(m.kernels.begin(), m.kernels.end(), [](const KernelLaunch& k) { return asks(k); });
}

bool maps(const Manifest& m) {
  return std::any_of(m.kernels.begin(), m.kernels.end(),
                     [](const KernelLaunch& k) { return !k.maps.empty(); });
}

/// What make_tma_descriptor is to be told, as an expression.
std::string tensor_text(const TensorPlace& t, const plan::TensorMap& map) {
  return fmt::format(
      "{{.name = \"{}\", .element = TmaElement::{}, .rank = {}, .extent = {{{}}}, .stride = {{{}}}, .box = "
      "{{{}}}, "
      ".swizzle = SwizzleMode::{}}}",
      printable(t.name), graph::name(map.dtype), map.extent.size(), fmt::join(map.extent, ", "),
      fmt::join(map.stride, ", "), fmt::join(map.box, ", "), map.swizzle_bytes ? "b128" : "none");
}

// The attribute belongs to a function on one device: each device that a thread launches on gets it once, whichever
// thread comes first.
void ask(const Manifest& m, Text& out) {
  out.line("static std::atomic<bool> prepared[64];  // by device");
  out.line("int device = 0;");
  out.line("if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;");
  out.open("if (device >= 64 || !prepared[device].load(std::memory_order_acquire)) {{");
  out.line("cudaError_t error = cudaSuccess;");
  for (const KernelLaunch& k : m.kernels) {
    if (asks(k))
      out.line(
          "if (!error) error = cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});",
          k.name, k.shared_bytes);
  }
  out.line("if (error != cudaSuccess) return error;");
  out.line("if (device < 64) prepared[device].store(true, std::memory_order_release);");
  out.close();
}

/// A launch of clusters.
void clustered(const KernelLaunch& k, const std::string& arguments, Text& out) {
  out.open("{{");
  out.line("cudaLaunchAttribute cluster{{}};");
  out.line("cluster.id = cudaLaunchAttributeClusterDimension;");
  out.line("cluster.val.clusterDim.x = {}, cluster.val.clusterDim.y = 1, cluster.val.clusterDim.z = 1;",
           k.cluster);
  out.line("cudaLaunchConfig_t launch{{}};");
  out.line("launch.gridDim = dim3({}, {}, {}), launch.blockDim = dim3({}, {}, {});", k.grid.x, k.grid.y,
           k.grid.z, k.block.x, k.block.y, k.block.z);
  out.line(
      "launch.dynamicSmemBytes = {}, launch.stream = stream, launch.attrs = &cluster, launch.numAttrs = 1;",
      k.shared_bytes);
  out.line(
      "if (const cudaError_t error = cudaLaunchKernelEx(&launch, {}, {}); error != cudaSuccess) return "
      "error;",
      k.name, arguments);
  out.close();
}

}  // namespace

void host_entry(const Manifest& m, Text& out) {
  out.line("");
  out.line("#if defined(ZELLIGE_EMULATE)");
  for (const KernelLaunch& k : m.kernels)
    out.line("extern \"C\" void {}(emulate::Launch& launch) {{ emulate::call(launch, {}); }}",
             Names::emulated(k.name), k.name);
  out.line("#elif !defined(__CUDACC_RTC__)");
  out.line("#include <cuda_runtime.h>");
  if (asks(m)) out.line("#include <atomic>");
  if (maps(m)) out.line("#include <zellige/atom/make_tma_descriptor.hpp>");
  out.line("");
  out.line(
      "/// Launches on `stream` and returns the first error. inputs and outputs are device pointers in the "
      "graph's order;");
  out.line(
      "/// workspace has {} bytes, aligned to 256. Nothing is allocated and nothing waits: it may be "
      "captured in a graph.",
      m.buffer_size);
  for (const TensorPlace& t : m.tensors)
    if (t.memory >= 0)
      out.line("/// Output {} is input {}, changed; outputs[{}] is not looked at.", printable(t.name),
               printable(m.tensors[static_cast<std::size_t>(t.memory)].name), t.position);
  out.open(
      "extern \"C\" cudaError_t {}(void* const* inputs, void* const* outputs, void* workspace, cudaStream_t "
      "stream) {{",
      Names::entry(m.name));
  if (maps(m)) out.open("try {{");
  if (asks(m)) ask(m, out);
  out.line("(void)inputs, (void)outputs, (void)workspace;");
  for (const KernelLaunch& k : m.kernels) {
    std::string arguments;
    for (std::size_t i = 0; i < k.tensors.size(); ++i) {
      const TensorPlace& t = m.tensors[k.tensors[i]];
      std::string from;
      switch (t.role) {
        case Role::input:
          from = fmt::format("inputs[{}]", t.position);
          break;
        case Role::output:
          from = fmt::format("outputs[{}]", t.position);
          break;
        case Role::intermediate:
          from = fmt::format("(static_cast<char*>(workspace) + {})", t.offset);
          break;
      }
      if (const auto map = k.maps.find(static_cast<int>(i)); map != k.maps.end()) {
        const std::string name = fmt::format("map{}_{}", &k - m.kernels.data(), i);
        out.line("const TmaDescriptor {} = make_tma_descriptor({}, {});", name, tensor_text(t, map->second),
                 from);
        arguments += (i ? ", " : "") + name;
        continue;
      }
      arguments +=
          fmt::format("{}({}{}*){}", i ? ", " : "", k.writes[i] ? "" : "const ", type_name(t.dtype), from);
    }
    if (k.cluster > 1) {
      clustered(k, arguments, out);
      continue;
    }
    out.line("{}<<<dim3({}, {}, {}), dim3({}, {}, {}), {}, stream>>>({});", k.name, k.grid.x, k.grid.y,
             k.grid.z, k.block.x, k.block.y, k.block.z, k.shared_bytes, arguments);
    out.line("if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;");
  }
  out.line("return cudaSuccess;");
  if (maps(m)) {
    out.close("} catch (const std::runtime_error&) {  // a pointer that TMA cannot address, or no driver");
    out.open_again();
    out.line("return cudaErrorInvalidValue;");
    out.close();
  }
  out.close();
  out.line("#endif");
}

}  // namespace zellige::emit
