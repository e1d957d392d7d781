// Emits matmuls that widen an operand of 4 or 8 bits in registers (kernel/widened.hpp).
#include <algorithm>

#include "emit/nest_text.hpp"
#include "emit/steps_text.hpp"
#include "emit/tensor_index.hpp"
#include "selection/copies.hpp"

namespace zellige::emit {

/// Emits a matmul by mma.sync whose step widens its B in registers.
void widened_product(const KernelText& k, const StepPlace& place, const Work& work,
                     const kernel::WidenedOperand& widened) {
  const Node& n = k.block.nodes[work.node];
  const Context& c = k.plan.layout_of(work);
  const kernel::MatmulChoice& m = work.matmul;
  if (c.repeats() != 1)
    fail("{}: %{} is computed slice by slice, and its operand is widened in registers", k.block.name, work.node);
  const auto numbers = [&](int load) { return load < 0 ? "NoNumbers{}" : tile_at(k, k.plan.tensor_of(load)); };
  k.out.line("// {} = {} x {}: {}x{}x{} on mma.sync, widened in registers, K over {}",
             n.name.empty() ? fmt::format("%{}", work.node) : printable(n.name), printable(k.block.nodes[n.in[0]].name),
             printable(k.block.nodes[widened.bytes].name), m.m, m.n, m.k, m.warps.k);
  const bool some = open_threads(k, c);
  k.out.line("multiply_widened<{}, {}, {}, {}, {}{}>(acc{}, {}, {}, {}, {}, warp, lane);",
             type_name(k.block.nodes[n.in[1]].dtype), type_name(widened.packed), m.k, widened.scale_run,
             widened.zero_run, widened.added ? ", true" : "", work.node, operand_tile(k, place, work, 0),
             tile_at(k, k.plan.tensor_of(widened.bytes)), numbers(widened.scale), numbers(widened.zero));
  if (some) k.out.close();
}

/// Emits the declaration of the registers with an operand's bytes, scales and zero points.
void bytes_declaration(const KernelText& k, const Work& work, const kernel::WidenedOperand& widened) {
  const auto run_of = [&](int load, std::int64_t of) { return load < 0 ? k.block.nodes[work.node].shape[1] : of; };
  k.out.line("WidenedRows<{}, {}, {}, {}, {}> rows{};", type_name(k.block.nodes[work.node].dtype),
             type_name(widened.packed), fragment_type(k.plan.layout_of(work)), run_of(widened.scale, widened.scale_run),
             run_of(widened.zero, widened.zero_run), work.node);
}

/// Emits a part of the work that widens an operand into the A registers of a product by wgmma. Its bytes are in a stage of the producer's ring.
void widened_rows(const KernelText& k, const StepPlace& place, const Work& work,
                  const kernel::WidenedOperand& widened) {
  if (work.part == kernel::makes_operand)
    return k.out.line("rows{}.widen<{}, {}, {}>(op{});", work.node, widened.scale >= 0, widened.zero >= 0,
                      widened.added, work.node);
  const int buffer = k.plan.tensor_of(widened.bytes);
  const SmemTensor& b = k.plan.tensors[buffer];
  // A function of a row of the tile of `load`, and of a number along K, that returns where the element is. Rows beyond the tensor are its
  // last one.
  const auto numbers = [&](int load) -> std::string {
    if (load < 0) return "NoNumbers{}";
    const Node& n = k.block.nodes[load];
    Index iteration = place.iteration;
    if (k.plan.split_k && n.view.iterates())
      iteration = iteration + Index::named("block_rank") * k.plan.iterations_per_block();
    std::vector<Index> at = position(k, n, iteration, {Index::named("n"), Index::named("k")});
    if (n.view.predicated(0)) at[0] = at_most(at[0], global_end(k, n.view.along(0, k.block)).constant() - 1);
    return fmt::format("[&](int n, [[maybe_unused]] int k) {{ return {}({}); }}", k.global(n.tensor),
                       fmt::join(at, ", "));
  };
  k.out.line("// {} {}: bytes of {}", printable(k.block.nodes[widened.bytes].name),
             graph::to_string(k.block.nodes[work.node].shape), graph::name(widened.packed));
  k.out.line("rows{}.load([&](int n, int i) {{ return {} + swizzled(SwizzleMode::b{}, n * {} + i); }},", work.node,
             ring_tile(k, buffer), b.span(), b.span());
  k.out.line("  {},", numbers(widened.scale));
  k.out.line("  {}, warp, lane);", numbers(widened.zero));
}

}  // namespace zellige::emit
