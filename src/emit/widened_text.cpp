// Emits matmuls that widen an operand of 4 or 8 bits in registers (kernel/widened.hpp).
#include <algorithm>

#include "emit/kernel_text.hpp"
#include "kernel/widened.hpp"
#include "selection/copies.hpp"

namespace zellige::emit {

/// Emits a matmul by mma.sync whose step widens its B in registers.
void KernelText::widened_product(const Work& work, const kernel::WidenedOperand& widened) {
  const Node& n = block_.nodes[work.node];
  const Context& c = plan_.layout_of(work);
  const kernel::MatmulChoice& m = work.matmul;
  if (c.repeats() != 1)
    fail("{}: %{} is computed slice by slice, and its operand is widened in registers", block_.name, work.node);
  const auto numbers = [&](int load) { return load < 0 ? "NoNumbers{}" : tile_at(plan_.tensor_of(load)); };
  out_.line("// {} = {} x {}: {}x{}x{} on mma.sync, widened in registers, K over {}",
            n.name.empty() ? fmt::format("%{}", work.node) : printable(n.name), printable(block_.nodes[n.in[0]].name),
            printable(block_.nodes[widened.bytes].name), m.m, m.n, m.k, m.warps.k);
  const bool some = open_threads(c);
  out_.line("multiply_widened<{}, {}, {}, {}, {}{}>(acc{}, {}, {}, {}, {}, warp, lane);",
            type_name(block_.nodes[n.in[1]].dtype), type_name(widened.packed), m.k, widened.scale_run, widened.zero_run,
            widened.added ? ", true" : "", work.node, operand_tile(work, 0), tile_at(plan_.tensor_of(widened.bytes)),
            numbers(widened.scale), numbers(widened.zero));
  if (some) out_.close();
}

/// Emits what the threads of a product by wgmma hold of the weights that they widen, and the loads of the first iteration.
void KernelText::start_widened(const Work& work, const kernel::WidenedOperand& widened) {
  const std::int64_t k = work.matmul.k;
  const auto run = [&](int load, std::int64_t of) { return load < 0 ? k : of; };
  // A function of a row of the tile of `load`, and of a number along K, that returns where the element is in iteration `i`. Rows
  // beyond the tensor are its last one.
  const auto place = [&](int load) -> std::string {
    if (load < 0) return "NoNumbers{}";
    const Node& n = block_.nodes[load];
    Index iteration = Index::named("i");
    if (plan_.split_k && n.view.iterates())
      iteration = iteration + Index::named("block_rank") * plan_.iterations_per_block();
    std::vector<Index> at = position(n, iteration, {Index::named("n"), Index::named("k")});
    if (n.view.predicated(0)) at[0] = at_most(at[0], global_end(n.view.along(0, block_)).constant() - 1);
    return fmt::format("[&]([[maybe_unused]] int n, [[maybe_unused]] int k) {{ return {}({}); }}", global(n.tensor),
                       fmt::join(at, ", "));
  };
  out_.line("WidenedRows<{}, {}, {}, {}, {}, {}, {}> rows{};", type_name(block_.nodes[widened.round].dtype),
            type_name(widened.packed), fragment_type(plan_.layout_of(work)), k, plan_.in_place(widened.bytes)->vector,
            run(widened.scale, widened.scale_run), run(widened.zero, widened.zero_run), work.node);
  out_.open("const auto load{} = [&]([[maybe_unused]] int i) {{", work.node);
  out_.line("rows{}.load({},", work.node, place(widened.bytes));
  out_.line("{},", place(widened.scale));
  out_.line("{}, warp, lane);", place(widened.zero));
  out_.close("};");
  out_.line("int next{} = 0;", work.node);
  out_.line("load{}(0);", work.node);
}

}  // namespace zellige::emit
