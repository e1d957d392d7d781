#include "emit/kernel_text.hpp"

#include <algorithm>

#include "kernel/index_width.hpp"

namespace zellige::emit {
namespace {

/// Returns whether lanes read the buffer as operand of a product of their warp.
bool read_by_lanes(const kernel::Kernel& kernel, int buffer) {
  return kernel::find_step(kernel, [&](const kernel::Step& step) {
    return step.work.kind == kernel::WorkKind::mma && !step.work.matmul.asynchronous() &&
           std::ranges::count(step.reads, buffer, &kernel::Access::tensor) > 0;
  });
}

}  // namespace

KernelText::KernelText(const kernel::Kernel& kernel, const tile::TilePrograms& program, Names& names, Text& out)
    : plan_(kernel),
      program_(program),
      block_(kernel.program),
      names_(names),
      out_(out),
      uses_(kernel.program.nodes.size(), 0) {
  std::set<std::string> taken;
  for (const SmemTensor& b : kernel.tensors) {
    std::string name = b.name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", b.name, i);
    tiles_.push_back(names.shared(name));
  }
  for (const Node& n : block_.nodes)
    for (int in : n.in) ++uses_[in];
}

void KernelText::emit(const std::string& part) {
  part_ = !part.empty();
  columns_ = kernel::tensor_columns(plan_);
  const std::vector<tile::SymbolicNumber> grid = block_.grid_of(program_.sizes);
  out_.line("// Grid {} x {} x {}, {} bytes of shared memory{}.", grid[0].text(), grid[1].text(), grid[2].text(),
            plan_.shared_bytes,
            block_.loop > 1 ? fmt::format(", {} iterations, {} stage{}", plan_.iterations_per_block(), plan_.stages(),
                                          plan_.stages() > 1 ? "s" : "")
                            : "");
  if (part_)  // ptxas takes seconds for dozens of inlined calls of one function
    out_.open(
        "static __device__ __attribute__((noinline)) void {}({}, [[maybe_unused]] int block, [[maybe_unused]] "
        "int part_begin) {{",
        part, parameter_list());
  else
    out_.open("extern \"C\" __global__ void __launch_bounds__({}{}) {}({}) {{", plan_.threads,
              plan_.together > 0 ? fmt::format(", {}", plan_.together)
              : !columns_.none() ? ", 1"  // else ptxas spills accumulators that it loads from tensor memory
                                 : "",
              block_.name, parameter_list());
  declarations();
  if (plan_.warp_specialized())
    roles();
  else
    run(plan_.agents.at(0).steps), end_exchange_of_ranks();
  out_.close();
}

/// Returns the function's parameters: TMA descriptors, then pointers, then sizes.
std::string KernelText::parameter_list() const {
  std::string list;
  for (const Parameter& p : parameters(plan_, program_)) {
    list += list.empty() ? "" : ", ";
    list += p.node >= 0 ? fmt::format("const __grid_constant__ TmaDescriptor {}", map_name(p.node))
                        : parameter_text(p, program_, names_);
  }
  return list;
}

/// Returns the expression of the thread's number in the block.
std::string KernelText::thread_index() const {
  std::string text = "threadIdx.x";
  if (columns_.together > 1 && !columns_.none())
    return fmt::format("TensorProducts<{}, {}, {}>::thread()", columns_.groups, columns_.count, columns_.together);
  if (plan_.warp_specialized()) return text;
  if (block_.block.y > 1) text += fmt::format(" + {} * threadIdx.y", block_.block.x);
  if (block_.block.z > 1) text += fmt::format(" + {} * threadIdx.z", block_.block.x * block_.block.y);
  return text;
}

/// Returns the expression of the block's coordinate along a grid axis (0: x, 1: y, 2: z). In a launch of several
/// tile programs, each of which some of the blocks run, the grid has one dimension: the coordinate is computed
/// from the block's number within its program.
std::string KernelText::block_index(int axis) const {
  if (!part_) return fmt::format("blockIdx.{}", "xyz"[axis]);
  std::int64_t before = 1, trailing = 1;
  for (int a = 0; a < 3; ++a)
    if (a != axis) (a < axis ? before : trailing) *= block_.grid[a];
  return digit(Index::named("block"), before, block_.grid[axis], trailing == 1).str();
}

/// Emits the declarations of coordinates, tensors and buffers.
void KernelText::declarations() {
  out_.line("const int tid = {};", thread_index());
  out_.line("[[maybe_unused]] const int warp = tid / 32, lane = tid % 32;");
  std::set<int> axes, tensors;
  for (const Node& n : block_.nodes) {
    for (int d = 0; d < n.view.rank(); ++d)
      if (n.view.axis(d) >= 0) axes.insert(n.view.axis(d));
    const int i = static_cast<int>(&n - block_.nodes.data());
    if (tile::accesses(n) && (!plan_.uses_tma(i) || (plan_.loop_bounds && plan_.loop_bounds->reads(i))))
      tensors.insert(n.tensor);
  }
  if (plan_.cluster > 1) out_.line("const int block_rank = cluster_ctarank();");
  if (plan_.blocks == 0)  // persistent blocks declare the coordinates per tile
    for (int a : axes) out_.line("const int b{} = {};", "xyz"[a], block_index(a));
  const bool reads_first = plan_.loop_bounds && plan_.loop_bounds->starts >= 0;
  if (plan_.blocks == 0 && !reads_first) declare_first_iteration();
  if (block_.has_sized_loop() && !plan_.loop_bounds) declare_trips();
  begin_exchange_of_ranks();
  const std::set<int> wide = kernel::wide_tensors(plan_, program_);
  for (int t : tensors) {
    const auto& tensor = program_.tensors[t];
    if (const tile::Windows* w = program_.windows(t)) {
      declare_windows(t, *w, wide.contains(t));
      continue;
    }
    if (program_.strides.contains(t)) {
      std::string strides;
      for (int d = 0; d < static_cast<int>(tensor.shape.size()); ++d)
        strides += ", " + number(program_.stride(t, d), wide.contains(t)).str();
      out_.line("const auto {} = strided_tile<{}>({}{});", global(t), wide.contains(t) ? "long long" : "int", base(t),
                strides);
      continue;
    }
    out_.line("const auto {} = global_tile<{}{}>({});", global(t),
              layout_text(kernel::strided(tensor.shape, tensor.strides)), wide.count(t) ? ", long long" : "", base(t));
  }
  if (plan_.blocks == 0 && reads_first) declare_first_iteration();
  has_trips_ = plan_.loop_bounds && plan_.loop_bounds->reads() && !plan_.warp_specialized() && plan_.blocks == 0;
  if (has_trips_) declare_masked_trips();
  for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
    const SmemTensor& b = plan_.tensors[i];
    if (kernel::exchange_of(plan_, static_cast<int>(i)) >= 0) continue;
    if (in_ring(static_cast<int>(i)) && !read_by_lanes(plan_, static_cast<int>(i))) continue;
    const std::string kind = b.stages > 1     ? fmt::format("ring<{}, {}", type_name(b.dtype), b.stages)
                             : b.partials > 1 ? fmt::format("sums<{}, {}", type_name(b.dtype), b.partials)
                                              : fmt::format("tile<{}", type_name(b.dtype));
    out_.line("const auto {} = shared_{}, {}>(\"{}\", {}, {});", tiles_[i], kind, buffer_layout(b), in_literal(b.name),
              b.offset, graph::elements_in(b.bytes(), b.dtype));
  }
}

/// Emits the variable `trips`: the number of iterations, which a size decides. Of blocks that divide the loop each has those of its
/// part that begin before the end, and one at least.
void KernelText::declare_trips() {
  const tile::SymbolicNumber iterations = block_.iterations(program_.sizes);
  if (!iterations.is_constant()) return out_.line("const int trips = {};", number(iterations));
  for (const Node& n : block_.nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      const tile::Interval along = n.view.along(d, block_);
      if (!n.view.iterates(d) || along.size() < 0 || along.axis() < 0) continue;
      const Index all = number(ceil_div(tile::SymbolicNumber::of(program_.sizes, along.size()), n.view.tile(d)));
      const Index left = all - tile_number(along) * block_.loop;
      return out_.line("const int trips = {} < 1 ? 1 : at_most({}, {});", left, left, block_.loop);
    }
}

/// Emits the variable `begin`: the first iteration in which the mask keeps an element for this block. Emits
/// nothing if all blocks begin with iteration 0. Requires that the block's coordinates have been emitted.
void KernelText::declare_first_iteration() {
  if (!plan_.loop_bounds || !plan_.loop_bounds->begins_later()) return;
  const kernel::MaskedLoopBounds& t = *plan_.loop_bounds;
  if (t.starts >= 0) {
    if (plan_.programmatic) out_.line("griddep_wait();");
    declare_of_rows("start", t.starts, "min");
    const Index all = number(block_.iterations(program_.sizes));
    return out_.line("const int begin = at_most(start / {}, {});  // the sequences of all rows begin at it or later",
                     t.each, all - 1);
  }
  const Index first = global_start(t.rows, false, 0) + bound(*t.from, block_.nodes[t.mask].triu_size);
  out_.line("const int begin = {} > 0 ? ({}) / {} : 0;  // a mask leaves nothing of the iterations before", first,
            first, t.each);
}

}  // namespace zellige::emit
