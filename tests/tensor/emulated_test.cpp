// Kernels written with tensors, every thread run by the emulator: no finding, the right values, and accesses
// as wide as the layouts allow. nvcc would compile the same source.
#include "../emulate/kernel.hpp"

// After the emulator's names of the running thread, which debug.hpp uses.
#include <zellige/tensor.hpp>
#include <zellige/tensor/debug.hpp>

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

// C(64, 64) = A(64, 16) * B(64, 16)^T, X holding A and then B, by 64 threads of 8x8 elements each.
__global__ void product(In x, Out y) {
  auto const a = make_tensor(make_gmem_ptr(x), Shape<_64, _16>{});
  auto const b = make_tensor(make_gmem_ptr(x + 1024), Shape<_64, _16>{});
  auto const c = make_tensor(make_gmem_ptr(y), Shape<_64, _64>{});
  auto const sa = make_tensor(make_smem_ptr(shared_pointer<float>("A", 0, 1024)), Shape<_64, _16>{});
  auto const sb = make_tensor(make_smem_ptr(shared_pointer<float>("B", 4096, 1024)), Shape<_64, _16>{});
  unsigned const t = threadIdx.x;
  cooperative_copy<64, 128>(t, a, sa);
  cooperative_copy<64, 128>(t, b, sb);
  __syncthreads();
  auto const threads = Layout<Shape<_8, _8>>{};
  auto const mine_a = local_partition(sa, threads, int(t), Step<_1, X>{});
  auto const mine_b = local_partition(sb, threads, int(t), Step<X, _1>{});
  auto const mine_c = local_partition(c, threads, int(t));
  auto acc = make_tensor_like(mine_c);
  clear(acc);
  gemm(mine_a, mine_b, acc);
  copy(acc, mine_c);
}
TEST(EmulatedTensors, AProductOfTiles) {
  Trial r(__FILE__, {1}, {64}, 8192);
  EmulationReport const report = r.run<product>();
  EXPECT_EQ(messages(report), Messages{});
  for (int m = 0; m < 64; m += 7) {
    for (int n = 0; n < 64; n += 5) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += float(m + 64 * k) * float(1024 + n + 64 * k);
      EXPECT_EQ(r.out(m + 64 * n), sum);
    }
  }
}

// Without the barrier the emulator sees what is read too early, by accesses of 16 bytes: the tensors hide
// nothing from it.
__global__ void no_barrier(In x, Out y) {
  auto const a = make_tensor(make_gmem_ptr(x), Shape<_64, _16>{});
  auto const s = make_tensor(make_smem_ptr(shared_pointer<float>("S", 0, 1024)), Shape<_64, _16>{});
  auto const c = make_tensor(make_gmem_ptr(y), Shape<_64, _16>{});
  cooperative_copy<64, 32>(threadIdx.x, a, s);
  copy(local_partition(s, Layout<Shape<_1, _16>>{}, int(threadIdx.x % 16)),
       local_partition(c, Layout<Shape<_1, _16>>{}, int(threadIdx.x % 16)));
}
TEST(EmulatedTensors, AMissingBarrierIsSeenThroughTensors) {
  Trial r(__FILE__, {1}, {64}, 4096);
  EmulationReport const report = r.run<no_barrier>();
  ASSERT_FALSE(report.findings.empty());
  EXPECT_NE(report.findings[0].message.find(
                "uninitialised read of shared tensor S: thread 0 (warp 0) of block (0,0,0) reads bytes 0..16"),
            std::string::npos)
      << report.findings[0].message;
}

// Any size: predicates from an identity tensor; an unpredicated copy of the last tile would be refused.
__global__ void any_size(In x, Out y) {
  int const m = 45;
  auto const a = make_tensor(make_gmem_ptr(x), make_shape(m));
  auto const b = make_tensor(make_gmem_ptr(y), make_shape(m));
  auto const at = make_coord(int(blockIdx.x));
  auto const crd = local_tile(make_identity_tensor(make_shape(m)), make_shape(_32{}), at);
  auto const from = local_partition(local_tile(a, make_shape(_32{}), at), Layout<_8>{}, int(threadIdx.x));
  auto const to = local_partition(local_tile(b, make_shape(_32{}), at), Layout<_8>{}, int(threadIdx.x));
  auto const mine = local_partition(crd, Layout<_8>{}, int(threadIdx.x));
  copy_if([&](int i) { return get<0>(mine(i)) < m; }, from, to);
}
TEST(EmulatedTensors, PredicatesForAnySize) {
  Trial r(__FILE__, {2}, {8});
  EXPECT_EQ(messages(r.run<any_size>()), Messages{});
  for (int i = 0; i < 45; ++i) EXPECT_EQ(r.out(i), float(i));
}

__global__ void who(In, Out y) {
  if (thread0()) y[0] = 1;
  if (thread(5, 1)) y[1] = float(1000 * blockIdx.x + threadIdx.x);
}
TEST(EmulatedTensors, DebuggingNamesOneThread) {
  Trial r(__FILE__, {2}, {8});
  EXPECT_EQ(messages(r.run<who>()), Messages{});
  EXPECT_EQ(r.out(0), 1.f);
  EXPECT_EQ(r.out(1), 1005.f);
}

}  // namespace
}  // namespace zellige::emulate
