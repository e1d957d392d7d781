#include "emit/kernel_text.hpp"

#include <algorithm>
#include <set>

#include "emit/parameters.hpp"
#include "emit/steps_text.hpp"
#include "emit/tensor_index.hpp"
#include "kernel/index_width.hpp"

namespace zellige::emit {
namespace {

/// Returns what the source calls the buffers of a kernel.
std::vector<std::string> tile_names(const kernel::Kernel& kernel, Names& names) {
  std::vector<std::string> tiles;
  std::set<std::string> taken;
  for (const SmemTensor& b : kernel.tensors) {
    std::string name = b.name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", b.name, i);
    tiles.push_back(names.shared(name));
  }
  return tiles;
}

/// Returns by node how often it is an operand.
std::vector<int> uses_of(const tile::TileProgram& program) {
  std::vector<int> uses(program.nodes.size(), 0);
  for (const Node& n : program.nodes)
    for (int in : n.in) ++uses[static_cast<std::size_t>(in)];
  return uses;
}

/// Returns whether lanes read the buffer as operand of a product of their warp.
bool read_by_lanes(const kernel::Kernel& kernel, int buffer) {
  return kernel::find_step(kernel, [&](const kernel::Step& step) {
    return step.work.kind == kernel::WorkKind::mma && !step.work.matmul.asynchronous() &&
           std::ranges::count(step.reads, buffer, &kernel::Access::tensor) > 0;
  });
}

/// Returns the function's parameters: TMA descriptors, then pointers, then sizes.
std::string parameter_list(const KernelText& k) {
  std::string list;
  for (const Parameter& p : parameters(k.plan, k.program)) {
    list += list.empty() ? "" : ", ";
    list += p.node >= 0 ? fmt::format("const __grid_constant__ TmaDescriptor {}", map_name(k, p.node))
                        : parameter_text(p, k.program, k.names);
  }
  return list;
}

/// Returns the expression of the thread's number in the block.
std::string thread_index(const KernelText& k) {
  std::string text = "threadIdx.x";
  if (k.columns.together > 1 && !k.columns.none())
    return fmt::format("TensorProducts<{}, {}, {}>::thread()", k.columns.groups, k.columns.count, k.columns.together);
  if (k.plan.warp_specialized()) return text;
  if (k.block.block.y > 1) text += fmt::format(" + {} * threadIdx.y", k.block.block.x);
  if (k.block.block.z > 1) text += fmt::format(" + {} * threadIdx.z", k.block.block.x * k.block.block.y);
  return text;
}

/// Returns the expression of the block's coordinate along a grid axis (0: x, 1: y, 2: z). In a launch of several
/// tile programs, each of which some of the blocks run, the grid has one dimension: the coordinate is computed
/// from the block's number within its program.
std::string block_index(const KernelText& k, int axis) {
  if (!k.is_part()) return fmt::format("blockIdx.{}", "xyz"[axis]);
  std::int64_t before = 1, trailing = 1;
  for (int a = 0; a < 3; ++a)
    if (a != axis) (a < axis ? before : trailing) *= k.block.grid[a];
  return digit(Index::named("block"), before, k.block.grid[axis], trailing == 1).str();
}

/// Emits the variable `trips`: the number of iterations, which a size decides. Of blocks that divide the loop each has those of its
/// part that begin before the end, and one at least.
void declare_trips(const KernelText& k) {
  const tile::SymbolicNumber iterations = k.block.iterations(k.program.sizes);
  if (!iterations.is_constant()) return k.out.line("const int trips = {};", number(k, iterations));
  for (const Node& n : k.block.nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      const tile::Interval along = n.view.along(d, k.block);
      if (!n.view.iterates(d) || along.size() < 0 || along.axis() < 0) continue;
      const Index all = number(k, ceil_div(tile::SymbolicNumber::of(k.program.sizes, along.size()), n.view.tile(d)));
      const Index left = all - tile_number(along) * k.block.loop;
      return k.out.line("const int trips = {} < 1 ? 1 : at_most({}, {});", left, left, k.block.loop);
    }
}

/// Emits the declarations of coordinates, tensors and buffers.
void declarations(const KernelText& k) {
  k.out.line("const int tid = {};", thread_index(k));
  k.out.line("[[maybe_unused]] const int warp = tid / 32, lane = tid % 32;");
  std::set<int> axes, tensors;
  for (const Node& n : k.block.nodes) {
    for (int d = 0; d < n.view.rank(); ++d)
      if (n.view.axis(d) >= 0) axes.insert(n.view.axis(d));
    const int i = static_cast<int>(&n - k.block.nodes.data());
    if (tile::accesses(n) && (!k.plan.uses_tma(i) || (k.plan.loop_bounds && k.plan.loop_bounds->reads(i))))
      tensors.insert(n.tensor);
  }
  if (k.plan.cluster > 1) k.out.line("const int block_rank = cluster_ctarank();");
  const bool gathers = k.plan.symmetric && k.plan.symmetric->gathers;
  if (gathers) declare_gathering_block(k, axes);
  if (k.plan.blocks == 0 && !gathers)  // persistent blocks declare the coordinates per tile
    for (int a : axes) k.out.line("const int b{} = {};", "xyz"[a], block_index(k, a));
  const bool reads_first = k.plan.loop_bounds && k.plan.loop_bounds->starts >= 0;
  if (k.plan.blocks == 0 && !reads_first) declare_first_iteration(k);
  if (k.block.has_sized_loop() && !k.plan.loop_bounds) declare_trips(k);
  begin_exchange_of_ranks(k);
  const std::set<int> wide = kernel::wide_tensors(k.plan, k.program);
  for (int t : tensors) {
    const auto& tensor = k.program.tensors[t];
    if (const tile::Windows* w = k.program.windows(t)) {
      declare_windows(k, t, *w, wide.contains(t));
      continue;
    }
    if (k.program.strides.contains(t)) {
      std::string strides;
      for (int d = 0; d < static_cast<int>(tensor.shape.size()); ++d)
        strides += ", " + number(k, k.program.stride(t, d), wide.contains(t)).str();
      k.out.line("const auto {} = strided_tile<{}>({}{});", k.global(t), wide.contains(t) ? "long long" : "int",
                 base(k, t), strides);
      continue;
    }
    k.out.line("const auto {} = global_tile<{}{}>({});", k.global(t),
               layout_text(kernel::strided(tensor.shape, tensor.strides)), wide.count(t) ? ", long long" : "",
               base(k, t));
  }
  if (k.plan.blocks == 0 && reads_first) declare_first_iteration(k);
  if (reads_trips_first(k.plan)) declare_masked_trips(k);
  for (std::size_t i = 0; i < k.plan.tensors.size(); ++i) {
    const SmemTensor& b = k.plan.tensors[i];
    if (kernel::exchange_of(k.plan, static_cast<int>(i)) >= 0) continue;
    if (in_ring(k, static_cast<int>(i)) && !read_by_lanes(k.plan, static_cast<int>(i))) continue;
    const std::string kind = b.stages > 1     ? fmt::format("ring<{}, {}", type_name(b.dtype), b.stages)
                             : b.partials > 1 ? fmt::format("sums<{}, {}", type_name(b.dtype), b.partials)
                                              : fmt::format("tile<{}", type_name(b.dtype));
    k.out.line("const auto {} = shared_{}, {}>(\"{}\", {}, {});", k.tiles[i], kind, buffer_layout(b),
               in_literal(b.name), b.offset, graph::elements_in(b.bytes(), b.dtype));
  }
}

}  // namespace

KernelText::KernelText(const kernel::Kernel& kernel, const tile::TilePrograms& of, Names& identifiers, Text& text,
                       const std::string& name)
    : plan(kernel),
      program(of),
      block(kernel.program),
      names(identifiers),
      out(text),
      function(name),
      tiles(tile_names(kernel, identifiers)),
      uses(uses_of(kernel.program)),
      columns(kernel::tensor_columns(kernel)) {}

void write_kernel(const KernelText& k) {
  const std::vector<tile::SymbolicNumber> grid = k.block.grid_of(k.program.sizes);
  k.out.line("// Grid {} x {} x {}, {} bytes of shared memory{}.", grid[0].text(), grid[1].text(), grid[2].text(),
             k.plan.shared_bytes,
             k.block.loop > 1 ? fmt::format(", {} iterations, {} stage{}", k.plan.iterations_per_block(),
                                            k.plan.stages(), k.plan.stages() > 1 ? "s" : "")
                              : "");
  if (k.is_part())  // ptxas takes seconds for dozens of inlined calls of one function
    k.out.open(
        "static __device__ __attribute__((noinline)) void {}({}, [[maybe_unused]] int block, [[maybe_unused]] "
        "int part_begin) {{",
        k.function, parameter_list(k));
  else
    k.out.open("extern \"C\" __global__ void __launch_bounds__({}{}) {}({}) {{", k.plan.threads,
               k.plan.together > 0 ? fmt::format(", {}", k.plan.together)
               : !k.columns.none() ? ", 1"  // else ptxas spills accumulators that it loads from tensor memory
                                   : "",
               k.block.name, parameter_list(k));
  declarations(k);
  if (k.plan.warp_specialized())
    roles(k);
  else
    run(k, StepPlace(), k.plan.agents.at(0).steps), end_exchange_of_ranks(k);
  k.out.close();
}

/// Emits the variable `begin`: the first iteration in which the mask keeps an element for this block. Emits
/// nothing if all blocks begin with iteration 0. Requires that the block's coordinates have been emitted.
void declare_first_iteration(const KernelText& k) {
  if (!k.plan.loop_bounds || !k.plan.loop_bounds->begins_later()) return;
  const kernel::MaskedLoopBounds& t = *k.plan.loop_bounds;
  if (t.starts >= 0) {
    if (k.plan.programmatic) k.out.line("griddep_wait();");
    declare_of_rows(k, "start", t.starts, false);
    const Index all = number(k, k.block.iterations(k.program.sizes));
    return k.out.line("const int begin = at_most(start / {}, {});  // the sequences of all rows begin at it or later",
                      t.each, all - 1);
  }
  const Index first = global_start(k, t.rows, false, 0) + bound(k, *t.from, k.block.nodes[t.mask].triu_size);
  k.out.line("const int begin = {} > 0 ? ({}) / {} : 0;  // a mask leaves nothing of the iterations before", first,
             first, t.each);
}

}  // namespace zellige::emit
