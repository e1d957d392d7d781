// Emits the exchange of ranks at the start of a kernel, in the words of block/symmetric.hpp.
#include "emit/tensor_index.hpp"
#include "verify/symmetric.hpp"

namespace zellige::emit {

/// Emits what the kernel's blocks do before all else, if ranks exchange tiles there. Requires that the block's coordinates have been emitted.
void exchange_with_symmetric(const KernelText& k) {
  if (!k.plan.symmetric) return;
  const kernel::SymmetricExchange& m = *k.plan.symmetric;
  const Node& n = k.block.nodes[verify::published_tile(k.plan)];
  const graph::KernelTensor& tensor = k.program.tensors[m.published];
  const auto pointer = [&](int t) { return k.names.pointer(k.program.tensors[t].name); };
  const std::int64_t vector = verify::published_vector(k.plan, k.program);
  const int inner = n.view.rank() - 1;
  const graph::Dim3& grid = k.block.grid;
  k.out.line("// The block's part of {} goes to its rank's window; then it waits for those of the others.",
             printable(tensor.name));
  k.out.line("const int symmetric_block = blockIdx.x + {} * (blockIdx.y + {} * blockIdx.z);", grid.x, grid.y);
  k.out.line("const SymmetricEpoch epoch = begin_exchange({}, symmetric_block);", pointer(m.state));
  k.out.line("const int half = epoch.half({});", verify::half_window(tensor));
  std::int64_t below = 1;  // chunks of the dimensions after this one
  Index at;
  std::vector<Index> digits(static_cast<std::size_t>(n.view.rank()));
  for (int d = inner; d >= 0; --d) {
    const std::int64_t extent = d == inner ? n.view.tile(d) / vector : n.view.tile(d);
    if (extent > 1) digits[d] = digit(Index::named("c"), below, extent, false);
    if (d == inner) digits[d] = digits[d] * vector;
    below *= extent;
  }
  const std::int64_t iterations = n.view.iterates() ? k.block.loop : 1;
  const Index iteration = iterations > 1 ? digit(Index::named("c"), below, iterations, true) : Index(0);
  Condition inside;
  for (int d = 0; d < n.view.rank(); ++d) {
    const Index here = global_start(k, n, d, iteration) + digits[d];
    if (n.view.predicated(d)) check(k, inside, n.view.along(d, k.block), here);
    at = at + Index::named(fmt::format("({})", here)) * tensor.strides[d];
  }
  const std::string place = inside.empty() ? at.str() : fmt::format("{} ? {} : -1", text(inside), at);
  k.out.line("publish<{}, {}, {}, {}>({}, {} + half, tid, [=](int c) {{ return {}; }});", vector, below * iterations,
             k.threads(), type_name(tensor.dtype), pointer(m.published), pointer(m.window), place);
  std::string flags;
  for (int t : m.flags) flags += ", " + pointer(t);
  k.out.line("synchronize_symmetric(epoch, tid, symmetric_block, {}, {}{});", grid.count(), pointer(m.state), flags);
}

/// Returns the expression of the pointer to a tensor: in a window, to the half that the launch uses.
std::string base(const KernelText& k, int tensor) {
  const std::string pointer = k.names.pointer(k.program.tensors[tensor].name);
  return k.plan.symmetric && std::ranges::find(k.plan.symmetric->windows, tensor) != k.plan.symmetric->windows.end()
             ? pointer + " + half"
             : pointer;
}

}  // namespace zellige::emit
