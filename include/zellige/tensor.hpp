// Zellige's tensors: layouts over memory, numbers or coordinates, cut into tiles and parts, copied and
// multiplied.
//
//   Tensor a = make_tensor(make_gmem_ptr(p), make_shape(m, n));
//   Tensor mine = local_partition(local_tile(a, Shape<_128, _64>{}, make_coord(bx, by)), Layout<Shape<_32,
//   _8>>{}, tid); Tensor mine_in_registers = make_tensor_like(mine); copy(mine, mine_in_registers);
#pragma once
#include <zellige/tensor/algorithm.hpp>
