// Includes the tensor library: tensors (an iterator with a layout), their division into tiles and per-thread
// partitions, copies, and matrix products on registers.
//
//   Tensor a = make_tensor(make_gmem_ptr(p), make_shape(m, n));
//   Tensor mine = local_partition(local_tile(a, Shape<_128, _64>{}, make_coord(bx, by)),
//                                 Layout<Shape<_32, _8>>{}, tid);
//   Tensor mine_in_registers = make_tensor_like(mine);
//   copy(mine, mine_in_registers);
//
// Not included: tensor/zip.hpp (several tensors as one), tensor/write.hpp (prints, on the device too),
// tensor/print.hpp (converts to a string, on the host), tensor/debug.hpp (thread0() and similar), numeric/int.hpp.
#pragma once
// All headers are included here, in the order of their dependencies. This keeps the "included from" lists of
// error messages short.
// clang-format off
#include <zellige/layout/config.hpp>
#include <zellige/layout/integer.hpp>
#include <zellige/layout/tuple.hpp>
#include <zellige/layout/int_tuple.hpp>
#include <zellige/layout/coordinate.hpp>
#include <zellige/layout/layout.hpp>
#include <zellige/layout/refusal.hpp>
#include <zellige/layout/invoke.hpp>
#include <zellige/layout/algebra.hpp>
#include <zellige/layout.hpp>
#include <zellige/tensor/check.hpp>
#include <zellige/tensor/pointer.hpp>
#include <zellige/tensor/tensor.hpp>
#include <zellige/tensor/partition.hpp>
#include <zellige/tensor/same.hpp>
#include <zellige/tensor/copy.hpp>
#include <zellige/tensor/gemm.hpp>
#include <zellige/tensor/reduce.hpp>
#include <zellige/tensor/algorithm.hpp>
#include <zellige/tensor/cooperative.hpp>
#include <zellige/tensor/prefetch.hpp>
#include <zellige/tensor/sparse.hpp>
// clang-format on
