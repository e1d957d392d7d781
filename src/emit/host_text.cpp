#include "emit/host_text.hpp"

#include <algorithm>
#include <set>

#include "emit/names.hpp"
#include "emit/size_text.hpp"
#include "manifest/variants.hpp"
#include "target/target.hpp"

namespace zellige::emit {
namespace {

// asks(k) returns whether kernel `k` uses more than 48 KB of dynamic shared memory, which a program must
// allow by cudaFuncSetAttribute. asks(m) returns whether any kernel of the program does.
bool asks(const manifest::KernelLaunch& k) { return k.shared_bytes > target::shared_without_asking; }
bool asks(const manifest::Manifest& m) {
  return std::ranges::any_of(m.kernels, [](const manifest::KernelLaunch& k) { return asks(k); });
}

/// Returns whether `holds` is true of the program or one of its variants.
bool any_program(const manifest::Manifest& m, bool (*holds)(const manifest::Manifest&)) {
  return std::ranges::any_of(programs_of(m), [&](const manifest::Manifest* of) { return holds(*of); });
}

/// Returns whether a kernel may start before the preceding one has ended (programmatic dependent launch).
bool starts_early(const manifest::Manifest& m) {
  return std::ranges::any_of(m.kernels, &manifest::KernelLaunch::programmatic);
}

/// Returns whether `k` is the program's first launch of its __global__ function.
bool is_first(const manifest::Manifest& m, const manifest::KernelLaunch& k) {
  return &*std::ranges::find(m.kernels, k.name, &manifest::KernelLaunch::name) == &k;
}

/// Returns whether any kernel of the program has a TMA descriptor.
bool maps(const manifest::Manifest& m) {
  return std::ranges::any_of(m.kernels, [](const manifest::KernelLaunch& k) { return !k.maps.empty(); });
}

/// Returns the source of a list of numbers, whose entry i is the field with `at` i.
std::string numbers_text(const manifest::Manifest& m, manifest::SizedField field,
                         const std::vector<std::int64_t>& largest) {
  std::string list;
  for (field.at = 0; field.at < static_cast<int>(largest.size()); ++field.at)
    list += (field.at ? ", " : "") + number_text(m, field, largest[static_cast<std::size_t>(field.at)]);
  return list;
}

/// Returns the source of the arguments of make_tma_descriptor() for parameter `argument` of kernel `k`.
std::string tensor_text(const manifest::Manifest& m, int k, int argument, const kernel::TensorMap& map) {
  const manifest::TensorPlace& t = m.tensors[m.kernels[k].tensors[argument]];
  return fmt::format(
      "{{.name = \"{}\", .element = TmaElement::{}, .rank = {}, .extent = {{{}}}, .stride = {{{}}}, .box = "
      "{{{}}}, .swizzle = SwizzleMode::{}}}",
      in_literal(t.name), graph::bits(map.dtype) <= 8 ? "u8" : graph::name(map.dtype), map.extent.size(),
      numbers_text(m, {manifest::SizedField::map_extent, k, argument}, map.extent),
      numbers_text(m, {manifest::SizedField::map_stride, k, argument}, map.stride), fmt::join(map.box, ", "),
      map.swizzle_bytes ? fmt::format("b{}", map.swizzle_bytes) : "none");
}

// Emits the code that allows more than 48 KB of dynamic shared memory (cudaFuncSetAttribute). This is needed once per
// function and device, so the code runs at the first launch on each device, whichever thread launches.
void ask(const manifest::Manifest& m, Text& out) {
  out.line("static std::atomic<bool> prepared[64];  // by device");
  out.line("int device = 0;");
  out.line("if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;");
  out.open("if (device >= 64 || !prepared[device].load(std::memory_order_acquire)) {{");
  out.line("cudaError_t error = cudaSuccess;");
  for (const manifest::KernelLaunch& k : m.kernels)
    if (asks(k) && is_first(m, k))
      out.line("if (!error) error = cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});", k.name,
               k.shared_bytes);
  out.line("if (error != cudaSuccess) return error;");
  out.line("if (device < 64) prepared[device].store(true, std::memory_order_release);");
  out.close();
}

/// Returns the parameters of the host entry.
std::string parameters_text(const manifest::Manifest& m) {
  return size_parameters(m) + "void* const* inputs, void* const* outputs, void* workspace, cudaStream_t stream";
}

/// Returns the expression of a tensor's address in the source of the host code.
std::string address(const manifest::Manifest& m, int tensor) {
  const manifest::TensorPlace& t = m.tensors[tensor];
  if (t.role == manifest::Role::intermediate)
    return fmt::format("(static_cast<char*>(workspace) + {})",
                       number_text(m, {manifest::SizedField::offset, tensor}, t.offset));
  return fmt::format("{}[{}]", t.role == manifest::Role::input ? "inputs" : "outputs", t.position);
}

/// Emits the TMA descriptors of a kernel and returns its argument list.
std::string arguments(const manifest::Manifest& m, const manifest::KernelLaunch& k, Text& out) {
  std::string list;
  const int index = static_cast<int>(&k - m.kernels.data());
  for (int i = 0; i < static_cast<int>(k.tensors.size()); ++i) {
    list += i ? ", " : "";
    if (const auto scalar = k.constants.find(i); scalar != k.constants.end()) {
      list += fmt::format("static_cast<{}>({})", scalar->second.size() == 4 ? "int" : "long long",
                          number_text(m, {manifest::SizedField::scalar, index, i}, 0));
      continue;
    }
    const auto map = k.maps.find(i);
    const std::string at = address(m, k.tensors[i]);
    if (map == k.maps.end()) {
      // Kernels load weights of 4 bits as bytes (lower/packed.hpp).
      const graph::DType dtype = m.tensors[k.tensors[i]].dtype;
      list += fmt::format("({}{}*){}", k.writes[i] ? "" : "const ",
                          type_name(graph::is_weight_only(dtype) ? graph::DType::int8 : dtype), at);
      continue;
    }
    const std::string name = fmt::format("map{}_{}", index, i);
    out.line("static thread_local TmaDescriptorAt {};", name);
    list += fmt::format("{}({}, {})", name, tensor_text(m, index, i, map->second), at);
  }
  return list;
}

/// Returns the condition under which a kernel has blocks; "" if it always has.
std::string some_blocks(const manifest::Manifest& m, int kernel) {
  std::string all;
  std::vector<std::int64_t> minimum;
  for (const tile::Size& s : m.sizes) minimum.push_back(s.low);
  for (int axis = 0; axis < 3; ++axis)
    if (const auto grid = m.sized.find({manifest::SizedField::grid, kernel, 0, axis});
        grid != m.sized.end() && grid->second.at(minimum) == 0)
      all += (all.empty() ? "" : " && ") + number_text(m, grid->first, 0) + " > 0";
  return all;
}

/// Emits, for a program with variants, the calls of those whose range has the launch's sizes.
void call_variants(const manifest::Manifest& m, bool early, Text& out) {
  for (const manifest::Manifest& v : m.variants)
    out.line("if ({}) return {}({}inputs, outputs, workspace, stream{});", variant_condition(m, v),
             Names::start(v.name), size_arguments(v), early ? ", overlapping" : "");
}

/// Emits all launches of the program, in order, with error checks. `early`: the function has a parameter `overlapping`.
void launches(const manifest::Manifest& m, bool early, Text& out) {
  if (!m.variants.empty()) {
    out.line("if ({}) return cudaErrorInvalidValue;", sizes_wrong(m));
    call_variants(m, early, out);
  }
  if (early && !starts_early(m)) out.line("(void)overlapping;");
  if (maps(m)) out.open("try {{");
  if (asks(m)) ask(m, out);
  out.line("(void)inputs, (void)outputs, (void)workspace;");
  if (const std::string wrong = sizes_wrong(m); !wrong.empty() && m.variants.empty())
    out.line("if ({}) return cudaErrorInvalidValue;", wrong);
  for (const manifest::KernelLaunch& k : m.kernels) {
    const std::string list = arguments(m, k, out);
    const std::string grid = fmt::format(
                          "dim3({})",
                          numbers_text(m, {manifest::SizedField::grid, static_cast<int>(&k - m.kernels.data())},
                                       {k.grid.x, k.grid.y, k.grid.z})),
                      block = fmt::format("dim3({}, {}, {})", k.block.x, k.block.y, k.block.z);
    const std::string some = some_blocks(m, static_cast<int>(&k - m.kernels.data()));
    if (!some.empty()) out.open("if ({}) {{", some);
    if (!k.programmatic) {
      out.line("{}<<<{}, {}, {}, stream>>>({});", k.name, grid, block, k.shared_bytes, list);
      out.line("if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;");
      if (!some.empty()) out.close();
      continue;
    }
    out.line(
        "if (const cudaError_t error = launch({}, {{.grid = {}, .block = {}, .shared_bytes = {}{}, "
        ".programmatic = {}}}, stream, {});",
        k.name, grid, block, k.shared_bytes, k.cluster > 1 ? fmt::format(", .cluster = {}", k.cluster) : "",
        "overlapping", list);
    out.line("    error != cudaSuccess) return error;");
    if (!some.empty()) out.close();
  }
  out.line("return cudaSuccess;");
  if (maps(m)) {
    out.close("} catch (const std::runtime_error&) {  // a pointer that TMA cannot address, or no driver");
    out.line("  return cudaErrorInvalidValue;");
    out.line("}}");
  }
}

/// Emits the functions that launch the program's variants.
void variants(const manifest::Manifest& m, bool early, Text& out) {
  for (const manifest::Manifest& v : m.variants) {
    out.line("");
    out.line("/// Of {}.", printable(manifest::text_of(v.range)));
    out.open("static cudaError_t {}({}{}) {{", Names::start(v.name), parameters_text(v),
             early ? ", bool overlapping" : "");
    launches(v, early, out);
    out.close();
  }
}

}  // namespace

void host_entry(const manifest::Manifest& m, Text& out) {
  out.line("");
  out.line("#if defined(ZELLIGE_EMULATE)");
  std::set<std::string_view> emulated;
  for (const manifest::Manifest* of : programs_of(m))
    for (const manifest::KernelLaunch& k : of->kernels)
      if (emulated.insert(k.name).second)
        out.line("extern \"C\" void {}(emulate::Launch& launch) {{ emulate::call(launch, {}); }}",
                 Names::emulated(k.name), k.name);
  out.line("#elif !defined(__CUDACC_RTC__)");
  out.line("#include <cuda_runtime.h>");
  if (any_program(m, asks)) out.line("#include <atomic>");
  if (!m.sizes.empty()) out.raw(sizes_prologue(m));
  if (any_program(m, maps)) out.line("#include <zellige/atom/make_tma_descriptor.hpp>");
  const bool early = any_program(m, starts_early);
  if (early) out.line("#include <zellige/block/launch.hpp>");
  variants(m, early, out);
  if (early) {
    out.line("");
    out.open("static cudaError_t {}({}, bool overlapping) {{", Names::start(m.name), parameters_text(m));
    launches(m, early, out);
    out.close();
  }
  out.raw(fmt::format(R"(
/// Launches on `stream` and returns the first error. inputs and outputs are device pointers in the graph's order;
/// workspace has {} bytes, aligned to 256. Nothing is allocated and nothing waits: it may be captured in a graph.
)",
                      workspace_text(m)));
  for (const tile::Size& s : m.sizes) out.line("/// {}", size_comment(s));
  for (const manifest::TensorPlace& t : m.tensors)
    if (t.memory >= 0)
      out.line("/// Output {} is input {}, changed; outputs[{}] is not looked at.", printable(t.name),
               printable(m.tensors[t.memory].name), t.position);
  if (early) {
    out.line(
        "/// Kernels start while the one before them on the stream ends, and wait for its end before they "
        "touch anything but");
    out.line("/// constant inputs.");
  }
  out.open("extern \"C\" cudaError_t {}({}) {{", Names::entry(m.name), parameters_text(m));
  if (early)
    out.line("return {}({}inputs, outputs, workspace, stream, true);", Names::start(m.name), size_arguments(m));
  else
    launches(m, early, out);
  out.close();
  if (early) {
    out.line("");
    out.line("/// The same, and each kernel starts when all before it on `stream` has ended.");
    out.open("extern \"C\" cudaError_t {}({}) {{", Names::ordered(m.name), parameters_text(m));
    out.line("return {}({}inputs, outputs, workspace, stream, false);", Names::start(m.name), size_arguments(m));
    out.close();
  }
  out.line("#endif");
}

}  // namespace zellige::emit
