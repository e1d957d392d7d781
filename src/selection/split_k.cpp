#include "selection/split_k.hpp"

namespace zellige::selection {
namespace {

/// Returns whether the loop can be divided between `cluster` blocks, each of which makes two iterations at least. The last
/// one may run beyond the loop's end: all that the loop loads must end there, so that TMA fills those tiles with zeros.
bool divides(const tile::TileProgram& p, int cluster) {
  const std::int64_t each = tile::ceil_div(p.loop, cluster);
  if (each < 2 || each * (cluster - 1) >= p.loop) return false;
  return each * cluster == p.loop ||
         std::ranges::all_of(p.nodes, [&](const tile::Node& n) { return n.view.ends_with_loop(p); });
}

/// Returns whether all stores are elementwise functions of loads and of the result of the matmul `product`,
/// so that each of the cluster's blocks can evaluate them for its own columns.
bool by_elements(const tile::TileProgram& p, int product) {
  const std::vector<bool> needed = p.needed();
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
    const tile::Node& n = p.nodes[i];
    const bool elementwise = tile::accesses(n) || n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::round;
    if (needed[i] && i != product && !elementwise) return false;
  }
  return true;
}

/// Returns whether each thread has, in order, as many accumulators in the columns of one block as in those of another. A
/// thread with several tiles along M or several batches has all columns of the first before those of the second.
bool in_order_of_columns(const kernel::Context& sums) {
  if (!sums.row || sums.rank() < 2) return false;
  const kernel::WarpLayout w = kernel::warps(sums);
  const std::int64_t rows = sums.domain[sums.rank() - 2], all = graph::size(sums.domain) / sums.domain.back();
  return rows == all && rows <= static_cast<std::int64_t>(w.m / kernel::warps_of(*sums.row)) * sums.row->m && w.n == 1;
}

/// Returns the buffer into which the other blocks of the cluster write their partial results for this block's
/// columns, with 4 floats per access and thread. `sums` is the layout of the matmul's accumulators.
kernel::SmemTensor partial_sums(const tile::Node& product, const kernel::Context& sums, int cluster) {
  const std::int64_t threads = sums.threads(), values = sums.values() / cluster;
  kernel::SmemTensor b;
  b.name = "partial", b.dtype = graph::DType::f32;
  b.shape = b.padded = {cluster - 1, values / 4, threads, 4};
  b.inner = 3;
  b.layout = kernel::strided(b.padded, {values * threads, 4 * threads, 4, 1});
  b.part_step = b.stage_step = graph::bytes_of(graph::size(b.shape), b.dtype);
  b.swizzle_reason = fmt::format("accumulators of {} as their threads hold them", graph::to_string(product.shape));
  return b;
}

}  // namespace

bool split_k(kernel::Kernel& kernel, Tasks& tasks, int cluster) {
  const tile::TileProgram& p = kernel.program;
  if (!divides(p, cluster)) return false;
  int product = -1;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (tasks[t].kind == kernel::WorkKind::mma) product = product < 0 ? static_cast<int>(t) : -2;
  if (product < 0) return false;
  const WorkItem sum = tasks[product];
  const kernel::Context& sums = kernel.layout_of(sum);
  if (sums.values() % (4 * cluster) != 0 || !in_order_of_columns(sums)) return false;
  if (!by_elements(p, sum.node)) return false;
  for (WorkItem& t : tasks) {
    if (t.kind != kernel::WorkKind::to_global) continue;
    const tile::Node& n = p.nodes[t.node];
    if (t.tensor < 0 || !t.copy.by_tensor_map() || n.shape != p.nodes[sum.node].shape) return false;
    const int last = static_cast<int>(n.shape.size()) - 1;
    if (n.shape[last] % cluster != 0) return false;
    const std::int64_t columns = n.shape[last] / cluster;
    if (kernel.tensors[t.tensor].inner == last && graph::bytes_of(columns, n.dtype) % kernel::chunk_bytes != 0)
      return false;
    t.part = last;
  }
  kernel.split_k = true, kernel.cluster = cluster;
  kernel.tensors.push_back(partial_sums(p.nodes[sum.node], sums, cluster));
  const int buffer = static_cast<int>(kernel.tensors.size()) - 1;
  for (kernel::WorkKind kind : {kernel::WorkKind::to_cluster, kernel::WorkKind::from_cluster}) {
    WorkItem t{{.kind = kind, .node = sum.node, .context = sum.context}, {}, {}, {}};
    if (kind == kernel::WorkKind::to_cluster)
      t.tensor = buffer;
    else
      t.reads = {{.tensor = buffer}};
    tasks.push_back(std::move(t));
  }
  return true;
}

}  // namespace zellige::selection
