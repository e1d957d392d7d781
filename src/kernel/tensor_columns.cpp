#include "kernel/tensor_columns.hpp"

#include "kernel/fragments.hpp"
#include "target/products.hpp"

namespace zellige::kernel {

std::int64_t TensorColumns::of(const MatmulChoice& m) const {
  const std::int64_t rows = std::int64_t{m.row->m} * together;
  return (m.m + rows - 1) / rows * m.row->n;
}

TensorColumns tensor_columns(const std::map<int, MatmulChoice>& products) {
  constexpr int step = 16;  // between the columns that instructions of 128 rows have; 8 with 64 rows
  TensorColumns all;
  all.together = 2;
  for (const auto& [node, m] : products) {
    if (!m.row || !target::in_tensor_memory(*m.row)) continue;
    all.first.emplace(node, 0);
    all.groups = m.warps.m / warps_of(*m.row);
    if (all.groups % 2 != 0 || m.row->n % step != 0) all.together = 1;
  }
  for (auto& [node, column] : all.first) column = std::exchange(all.count, all.count + all.of(products.at(node)));
  return all;
}

TensorColumns tensor_columns(const Kernel& k) {
  std::map<int, MatmulChoice> products;
  if (k.warp_specialized())
    for (const Work& w : works(k))
      if (w.kind == WorkKind::mma) products.emplace(w.node, w.matmul);
  TensorColumns all = tensor_columns(products);
  for (const Channel& c : k.channels)
    if (in_columns(c) && !all.none()) all.sets = c.stages;
  return all;
}

std::int64_t shared_bytes_of_channels(const Kernel& k) { return k.shared_bytes - tensor_columns(k).shared_bytes(); }

}  // namespace zellige::kernel
