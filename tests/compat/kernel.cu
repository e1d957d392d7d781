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

// What CuTe's mainloops do with layouts, slices and numbers: strides are assigned, slices declared first, fragments made
// of tensors, tensors without rows tiled.
__global__ void mainloop_idioms(float* out, half_t const* in, int n) {
  auto broadcast = make_layout(make_shape(n, 4, 2), make_stride(4, Int<1>{}, 32));
  get<2>(stride(broadcast)) = 0;
  broadcast.stride<0>() = 5;
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{});
  decltype(mma.get_slice(0)) thread;
  thread = mma.get_slice(threadIdx.x);
  auto c = make_tensor(make_gmem_ptr(out), Layout<Shape<_64, _64>>{});
  auto accumulator = partition_fragment_C(thread, c);
  auto other = mma.make_fragment_C(partition_shape_C(mma, c));
  clear(accumulator);
  clear(other);
  auto rows = make_tensor(make_gmem_ptr(out), make_shape(Int<0>{}, n), make_stride(int64_t(128), Int<1>{}));
  auto tile = local_tile(rows, make_shape(Int<0>{}, Int<128>{}), make_coord(Int<0>{}, blockIdx.x));
  auto fragment = make_fragment_like(tile);
  clear(fragment);
  copy(tile, fragment);
  print(in[0]);
  print(make_tuple(in[0] * in[1], int4_t(2), float_e4m3_t(4.f)));
  print(domain_offset(make_coord(2, 3), composition(Swizzle<2, 0, 3>{}, Layout<Shape<_8, _8>, Stride<_8, _1>>{})));
  print(composition(make_layout(make_shape(n, 6)), make_layout(make_shape(4, 2), make_stride(3, 8))));
  print_latex(Layout<_3, _2>{}, TikzColor_White{});
  out[0] = accumulator(0) + other(0) + float(crd2idx(make_coord(1, 2, 0), broadcast));
}
