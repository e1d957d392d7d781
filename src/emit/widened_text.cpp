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
  k.out.line("multiply_widened<{}, {}, {}, {}, {}>(acc{}, {}, {}, {}, {}, warp, lane);",
             type_name(k.block.nodes[n.in[1]].dtype), type_name(widened.packed), m.k, widened.scale_run,
             widened.zero_run, work.node, operand_tile(k, place, work, 0), tile_at(k, k.plan.tensor_of(widened.bytes)),
             numbers(widened.scale), numbers(widened.zero));
  if (some) k.out.close();
}

/// Emits what the threads of a product by wgmma hold of the weights that they widen, and the loads of the first iteration.
void start_widened(const KernelText& k, const Work& work, const kernel::WidenedOperand& widened) {
  const std::int64_t depth = work.matmul.k;
  const auto run_of = [&](int load, std::int64_t of) { return load < 0 ? depth : of; };
  // A function of a row of the tile of `load`, and of a number along K, that returns where the element is in iteration `i`. Rows
  // beyond the tensor are its last one.
  const auto place = [&](int load) -> std::string {
    if (load < 0) return "NoNumbers{}";
    const Node& n = k.block.nodes[load];
    Index iteration = Index::named("i");
    if (k.plan.split_k && n.view.iterates())
      iteration = iteration + Index::named("block_rank") * k.plan.iterations_per_block();
    std::vector<Index> at = position(k, n, iteration, {Index::named("n"), Index::named("k")});
    if (n.view.predicated(0)) at[0] = at_most(at[0], global_end(k, n.view.along(0, k.block)).constant() - 1);
    return fmt::format("[&]([[maybe_unused]] int n, [[maybe_unused]] int k) {{ return {}({}); }}", k.global(n.tensor),
                       fmt::join(at, ", "));
  };
  k.out.line("WidenedRows<{}, {}, {}, {}, {}, {}, {}> rows{};", type_name(k.block.nodes[widened.round].dtype),
             type_name(widened.packed), fragment_type(k.plan.layout_of(work)), depth,
             k.plan.in_place(widened.bytes)->vector, run_of(widened.scale, widened.scale_run),
             run_of(widened.zero, widened.zero_run), work.node);
  k.out.open("const auto load{} = [&]([[maybe_unused]] int i) {{", work.node);
  k.out.line("rows{}.load({},", work.node, place(widened.bytes));
  k.out.line("{},", place(widened.scale));
  k.out.line("{}, warp, lane);", place(widened.zero));
  k.out.close("};");
  k.out.line("int next{} = 0;", work.node);
  k.out.line("load{}(0);", work.node);
}

}  // namespace zellige::emit
