// Emits the exchange of ranks at the start of a kernel, in the words of block/symmetric.hpp.
#include "emit/kernel_text.hpp"
#include "verify/symmetric.hpp"

namespace zellige::emit {

/// Emits what the kernel's blocks do before all else, if ranks exchange tiles there. Requires that the block's coordinates have been emitted.
void KernelText::exchange_with_symmetric() {
  if (!plan_.symmetric) return;
  const kernel::SymmetricExchange& m = *plan_.symmetric;
  const Node& n = block_.nodes[verify::published_tile(plan_)];
  const graph::KernelTensor& tensor = program_.tensors[m.published];
  const auto pointer = [&](int t) { return names_.pointer(program_.tensors[t].name); };
  const std::int64_t vector = verify::published_vector(plan_, program_);
  const int inner = n.view.rank() - 1;
  const graph::Dim3& grid = block_.grid;
  out_.line("// The block's part of {} goes to its rank's window; then it waits for those of the others.",
            printable(tensor.name));
  out_.line("const int symmetric_block = blockIdx.x + {} * (blockIdx.y + {} * blockIdx.z);", grid.x, grid.y);
  out_.line("const SymmetricEpoch epoch = begin_exchange({}, symmetric_block);", pointer(m.state));
  out_.line("const int half = epoch.half({});", verify::half_window(tensor));
  std::int64_t below = 1;  // chunks of the dimensions after this one
  Index at;
  std::vector<Index> digits(static_cast<std::size_t>(n.view.rank()));
  for (int d = inner; d >= 0; --d) {
    const std::int64_t extent = d == inner ? n.view.tile(d) / vector : n.view.tile(d);
    if (extent > 1) digits[d] = digit(Index::named("c"), below, extent, false);
    if (d == inner) digits[d] = digits[d] * vector;
    below *= extent;
  }
  const std::int64_t iterations = n.view.iterates() ? block_.loop : 1;
  const Index iteration = iterations > 1 ? digit(Index::named("c"), below, iterations, true) : Index(0);
  Condition inside;
  for (int d = 0; d < n.view.rank(); ++d) {
    const Index here = global_start(n, d, iteration) + digits[d];
    if (n.view.predicated(d)) check(inside, n.view.along(d, block_), here);
    at = at + Index::named(fmt::format("({})", here)) * tensor.strides[d];
  }
  const std::string place = inside.empty() ? at.str() : fmt::format("{} ? {} : -1", text(inside), at);
  out_.line("publish<{}, {}, {}, {}>({}, {} + half, tid, [=](int c) {{ return {}; }});", vector, below * iterations,
            threads(), type_name(tensor.dtype), pointer(m.published), pointer(m.window), place);
  std::string flags;
  for (int t : m.flags) flags += ", " + pointer(t);
  out_.line("synchronize_symmetric(epoch, tid, symmetric_block, {}, {}{});", grid.count(), pointer(m.state), flags);
}

/// Returns the expression of the pointer to a tensor: in a window, to the half that the launch uses.
std::string KernelText::base(int tensor) const {
  const std::string pointer = names_.pointer(program_.tensors[tensor].name);
  return plan_.symmetric && std::ranges::find(plan_.symmetric->windows, tensor) != plan_.symmetric->windows.end()
             ? pointer + " + half"
             : pointer;
}

}  // namespace zellige::emit
