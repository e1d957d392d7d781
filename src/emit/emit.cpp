#include "emit/emit.hpp"

#include <algorithm>
#include <span>

#include "emit/host_text.hpp"
#include "emit/launch_text.hpp"
#include "emit/parameters.hpp"
#include "emit/sized_manifest.hpp"
#include "kernel/launches.hpp"
#include "manifest/launch_sizes.hpp"
#include "manifest/variants.hpp"

namespace zellige::emit {
namespace {

/// Returns the launch of a kernel without its parameters: name, grid, block and shared memory. A kernel may run
/// several tile programs, each in some of its blocks; its grid has the blocks of all `programs` together.
manifest::KernelLaunch launch_of(std::span<const kernel::Kernel> programs) {
  const kernel::Kernel& k = programs[0];
  manifest::KernelLaunch launch{.name = k.program.name, .grid = k.program.grid, .block = k.program.block};
  if (k.blocks > 0) launch.grid = {k.blocks, 1, 1};
  if (k.warp_specialized()) launch.block = {k.threads, 1, 1};
  launch.cluster = k.cluster;
  launch.programmatic = true;
  if (programs.size() > 1) launch.grid = {0, 1, 1};
  for (const kernel::Kernel& of : programs) {
    launch.shared_bytes = std::max(launch.shared_bytes, of.shared_bytes);
    launch.programmatic = launch.programmatic && of.programmatic;
    if (programs.size() > 1) launch.grid.x += of.program.grid.count();
  }
  return launch;
}

/// Returns the manifest of a plan; the caller sets its tilings and the names of its kernels' functions.
manifest::Manifest manifest_of(const plan::Plan& plan, const predict::CostEstimate& cost) {
  const tile::TilePrograms& p = plan.program;
  manifest::Manifest m{.name = p.name, .target = plan.target, .buffer_size = plan.device.total};
  std::vector<std::pair<manifest::Role, int>> role(p.tensors.size(), {manifest::Role::intermediate, -1});
  for (std::size_t i = 0; i < p.inputs.size(); ++i) role[p.inputs[i]] = {manifest::Role::input, static_cast<int>(i)};
  for (std::size_t i = 0; i < p.outputs.size(); ++i) role[p.outputs[i]] = {manifest::Role::output, static_cast<int>(i)};
  std::vector<int> index(p.tensors.size(), -1);  // index in the manifest, which contains no views
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const bool taken = role[t].first == manifest::Role::output && p.tensors[t].memory >= 0;
    if (p.views.count(static_cast<int>(t)) && !taken) continue;
    if (plan.device.bytes[t] == 0 && !taken) continue;  // no kernel accesses it, and it is no argument
    index[t] = static_cast<int>(m.tensors.size());
    const graph::KernelTensor& tensor = p.tensors[t];
    m.tensors.push_back({.name = tensor.name,
                         .dtype = tensor.dtype,
                         .shape = tensor.shape,
                         .strides = tensor.strides,
                         .role = role[t].first,
                         .position = role[t].second,
                         .offset = plan.device.offset[t],
                         .bytes = plan.device.bytes[p.memory_of(static_cast<int>(t))],
                         .constant = tensor.constant});
  }
  for (std::size_t t = 0; t < p.tensors.size(); ++t)
    if (index[t] >= 0 && p.tensors[t].memory >= 0) m.tensors[index[t]].memory = index[p.memory_of(static_cast<int>(t))];
  for (const kernel::LaunchGroup& l : kernel::launches(plan.kernels)) {
    const kernel::Kernel& k = plan.kernels[l.first];
    manifest::KernelLaunch launch = launch_of(std::span(&k, l.count()));
    launch.cost = cost.kernels[m.kernels.size()];
    const std::vector<Parameter> list = l.count() > 1 ? parameters(std::span(&k, l.count()), p) : parameters(k, p);
    for (const Parameter& parameter : list) {
      if (parameter.size >= 0) {
        const auto width = static_cast<std::size_t>(bytes_of_size(p, parameter.size));
        launch.constants[static_cast<int>(launch.tensors.size())] =
            manifest::bytes_of(p.sizes[parameter.size].high, width);
        launch.tensors.push_back(-1), launch.writes.push_back(false);
        continue;
      }
      if (parameter.node >= 0)
        launch.maps[static_cast<int>(launch.tensors.size())] = kernel::tensor_map(k, p, parameter.node);
      launch.tensors.push_back(index[p.memory_of(parameter.tensor)]), launch.writes.push_back(parameter.writes);
    }
    m.kernels.push_back(std::move(launch));
  }
  if (!p.sizes.empty()) add_sizes(m, plan, index);
  return m;
}

/// The headers besides block/tile.hpp, each with the text of a source that needs it. No others are included, because
/// parsing headers is half of NVRTC's time for a small program.
constexpr std::pair<std::string_view, std::string_view> headers[] = {
    {"roles(", "block/warpgroups.hpp"},
    {"TensorProducts<", "block/tensor_memory.hpp"},
    {"ProductSets<", "block/product_sets.hpp"},
    {"Fragment<", "block/fragment.hpp"},
    {"multiply<", "block/multiply.hpp"},
    {"addressed_run<", "block/store_matrix.hpp"},
    {"OuterProduct<", "block/multiply_outer.hpp"},
    {"_lanes<", "block/reduce.hpp"},
    {"raise_max(", "block/reduce.hpp"},
    {"LoadAnywhere<", "block/load_anywhere.hpp"},
    {"strided_tile<", "block/strided_tile.hpp"},
    {"begin_exchange(", "block/symmetric.hpp"},
    {"griddep_", "atom/griddepcontrol.hpp"},
    {"LogSum ", "block/log_sum.hpp"},
    {"LogSumOf<", "block/log_sum.hpp"},
    {"SM89_", "atom/mma_traits/names.hpp"},
    {"Unpacked<", "atom/mma_traits/names.hpp"},
    {"multiply_widened<", "block/multiply_widened.hpp"},
    {"WidenedRows<", "block/widened_rows.hpp"},
    {"_packed, ", "atom/unpack.hpp"},
};

/// Writes the source of a program that has its plan and its manifest, with the kernels of its variants.
void write_source(EmittedProgram& program) {
  std::vector<const plan::Plan*> plans{&program.plan};
  for (const EmittedProgram& v : program.variants) plans.push_back(&v.plan);
  const KernelSources kernels = kernel_sources(plans);
  std::size_t launches = 0;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    manifest::Manifest& m = p == 0 ? program.manifest : program.manifest.variants[p - 1];
    for (std::size_t k = 0; k < kernels.names[p].size(); ++k) m.kernels[k].name = kernels.names[p][k];
    launches += kernels.names[p].size();
  }
  Text out;
  out.line(
      "// {}, for {}: {} kernel{}{}. Generated by Zellige; compiles with nvcc, NVRTC, and on the emulator "
      "with g++.",
      printable(program.graph.name), program.plan.target, launches, launches == 1 ? "" : "s",
      kernels.kernels < launches ? fmt::format(", {} of them different", kernels.kernels) : "");
  const auto calls = [&](std::string_view name) { return kernels.text.find(name) != std::string::npos; };
  out.line("#include <zellige/block/tile.hpp>");
  std::string_view last;
  for (const auto& [call, header] : headers)  // two of them include block/fragment.hpp
    if (header != last && calls(call) && (call != "Fragment<" || !(calls("roles(") || calls("multiply<"))))
      out.line("#include <zellige/{}>", last = header);
  out.line("");
  out.line("using namespace zellige;");
  out.raw(kernels.text);
  host_entry(program.manifest, out);
  program.source = out.str();
}

}  // namespace

EmittedProgram from_plan(plan::Plan plan, const std::string& graph, retile::Tiling tiling, bool decomposed) {
  EmittedProgram program;
  program.cost = plan::estimate_cost(plan, target::find(plan.target));
  program.plan = std::move(plan);
  program.graph.name = graph;
  program.manifest = manifest_of(program.plan, program.cost);
  program.manifest.tiling = std::move(tiling);
  program.manifest.decomposed = decomposed;
  write_source(program);
  return program;
}

EmittedProgram with_variants(EmittedProgram whole, std::vector<EmittedProgram> variants) {
  order_tensors(whole.manifest);
  for (EmittedProgram& v : variants) {
    order_tensors(v.manifest);
    whole.manifest.variants.push_back(v.manifest);
    v.source.clear();
  }
  whole.variants = std::move(variants);
  check_variants(whole.manifest);
  write_source(whole);
  return whole;
}

EmittedProgram alone(const EmittedProgram& whole, const manifest::Manifest& variant) {
  const bool all = &variant == &whole.manifest;
  const EmittedProgram& of =
      all ? whole : whole.variants[static_cast<std::size_t>(&variant - whole.manifest.variants.data())];
  EmittedProgram one = from_plan(of.plan, whole.graph.name, variant.tiling, variant.decomposed);
  one.graph = of.graph, one.graph.name = whole.graph.name, one.extents = of.extents;
  one.manifest.name = whole.manifest.name;
  return one;
}

}  // namespace zellige::emit
