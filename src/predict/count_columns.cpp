#include "predict/count_columns.hpp"

namespace zellige::predict {
namespace {

using emulate::Counter;

constexpr int warps_of_group = 4;

}  // namespace

Counts counts_of_columns(const kernel::TensorColumns& columns) {
  const auto barriers = static_cast<std::uint64_t>(columns.barriers()),
             warps = static_cast<std::uint64_t>(warps_of_group * columns.groups),
             alone = std::uint64_t{columns.sets > 0};  // the thread that multiplies reads the address, too
  return {{Counter::shared_store_8, barriers},
          {Counter::shared_store_wavefronts, barriers},
          {Counter::shared_store_wavefronts_ideal, barriers},
          {Counter::shared_load_4, 32 * warps + alone},
          {Counter::shared_load_wavefronts, warps + alone},
          {Counter::shared_load_wavefronts_ideal, warps + alone},
          {Counter::barrier, 1}};
}

Counts counts_of_load(const kernel::TensorColumns& columns, const kernel::MatmulChoice& m) {
  constexpr int at_a_time = 8;
  return {
      {Counter::tmem_load, static_cast<std::uint64_t>(columns.of(m) / at_a_time * warps_of_group * columns.together)},
      {Counter::barrier, columns.sets > 0 ? 0 : static_cast<std::uint64_t>(columns.groups / columns.together)}};
}

Counts counts_of_set(const kernel::TensorColumns& columns, const kernel::Kernel& kernel) {
  Counts all;
  for (const auto& [product, first] : columns.first)
    for (const auto& [counter, n] : counts_of_load(columns, kernel.product_of(product)->matmul)) all[counter] += n;
  return all;
}

Counts counts_of_step(const kernel::TensorColumns& columns, const kernel::MatmulChoice& m) {
  const bool by_wgmma = columns.none();
  const std::int64_t rows = std::int64_t{m.row->m} * (by_wgmma ? 1 : columns.together);
  return {{by_wgmma ? Counter::wgmma : Counter::tcgen05_mma,
           static_cast<std::uint64_t>(tile::ceil_div(m.k, m.row->k) * (m.m / rows))}};
}

}  // namespace zellige::predict
