// Device code with CuTe's names, compiled only: shared memory, predicates, prints from one thread, tuples.
#include <cute/tensor.hpp>
#include <cute/util/debug.hpp>

using namespace cute;

template <class GmemLayout, class SmemLayout, class ThreadLayout>
__global__ void transpose(CUTE_GRID_CONSTANT float const* const in, float* out, GmemLayout gmem_layout,
                          SmemLayout smem_layout, ThreadLayout threads) {
  __shared__ float storage[cosize_v<SmemLayout>];
  Tensor gIn =
      local_tile(make_tensor(make_gmem_ptr(in), gmem_layout), shape(SmemLayout{}), make_coord(blockIdx.x, blockIdx.y));
  Tensor gOut = local_tile(make_tensor(make_gmem_ptr(out), select<1, 0>(gmem_layout)),
                           select<1, 0>(shape(SmemLayout{})), make_coord(blockIdx.y, blockIdx.x));
  Tensor sIn = make_tensor(make_smem_ptr(storage), smem_layout);
  Tensor sOut = make_tensor(make_smem_ptr(storage), select<1, 0>(SmemLayout{}));

  copy(local_partition(gIn, threads, threadIdx.x), local_partition(sIn, threads, threadIdx.x));
  __syncthreads();
  Tensor mine = make_fragment_like(local_partition(gOut, threads, threadIdx.x));
  copy(local_partition(sOut, threads, threadIdx.x), mine);
  CUTE_UNROLL
  for (int i = 0; i < size(mine); ++i) mine(i) = 2 * mine(i);
  copy(mine, local_partition(gOut, threads, threadIdx.x));

  if (thread0()) {
    print(gIn);
    print("\n%d\n", int(size(mine)));
    print(make_tuple(_1{}, make_coord(blockIdx.x, _)));
    print_tensor(mine);
  }
  if (block(1)) CUTE_LOG("%d\n", 1);
  auto total = fold(make_tuple(1, _2{}, int(threadIdx.x)), _0{}, plus{});
  for_each(make_int_sequence<3>{}, [&](auto i) { total += decltype(i)::value; });
  if (total < 0) CUTE_INVALID_CONTROL_PATH("negative");
}

void launch(float const* in, float* out, int m, int n) {
  auto gmem = make_layout(make_shape(m, n));
  auto smem = Layout<Shape<_32, _32>, Stride<_1, _33>>{};
  transpose<<<dim3(m / 32, n / 32), 256>>>(in, out, gmem, smem, Layout<Shape<_32, _8>>{});
  CUTE_CHECK_LAST();
}
