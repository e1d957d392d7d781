// One of CuTe's copy tutorials, unchanged: its own check, and its kernels at other sizes.
//
// For NVIDIA/cutlass 7107b05, examples/cute/tutorial: the macro TUTORIAL is the path of tiled_copy.cu or, with PREDICATED,
// of tiled_copy_if.cu. Include folders: compat and include.
#define main tutorial_main
#include TUTORIAL
#undef main

#include <cstdio>
#include <vector>

namespace {

int wrong_runs = 0;

/// Runs `launch(source, target)` on tensors of m x n and checks every element, and the memory after the
/// target.
template <class Launch>
void check(char const* kernel, int m, int n, Launch const& launch) {
  using namespace cute;
  size_t const count = size_t(m) * n, guard = 4096;
  std::vector<float> host(count);
  for (size_t i = 0; i < count; ++i) host[i] = float(i % 65521 + 1);
  thrust::device_vector<float> source(host), target(count + guard, -1.0f);
  launch(make_tensor(make_gmem_ptr(source.data().get()), make_layout(make_shape(m, n))),
         make_tensor(make_gmem_ptr(target.data().get()), make_layout(make_shape(m, n))));
  CUTE_CHECK_LAST();
  thrust::host_vector<float> const got = target;
  size_t wrong = 0;
  for (size_t i = 0; i < count + guard; ++i) wrong += got[i] != (i < count ? host[i] : -1.0f);
  std::printf("%s %s %dx%d: %zu of %zu elements wrong\n", wrong ? "WRONG" : "right", kernel, m, n, wrong, count);
  wrong_runs += wrong != 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cute;
  if (tutorial_main(argc, argv) != 0) ++wrong_runs, std::printf("WRONG the tutorial's own check\n");

  auto const tile = make_shape(Int<128>{}, Int<64>{});
  auto const threads = make_layout(make_shape(Int<32>{}, Int<8>{}));
#if defined(PREDICATED)
  auto const values = make_layout(make_shape(Int<4>{}, Int<1>{}));
  auto const vectors = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, float>{}, threads, values);
  auto const grid = [](int m, int n) { return dim3((m + 127) / 128, (n + 63) / 64); };
  for (auto [m, n] : {std::pair{131, 67}, {128, 64}, {1, 1}, {300, 528}})
    check("copy_if_kernel", m, n, [&](auto s, auto d) { copy_if_kernel<<<grid(m, n), 256>>>(s, d, tile, threads); });
  for (auto [m, n] : {std::pair{132, 67}, {128, 64}, {4, 1}, {300, 528}})
    check("copy_if_kernel_vectorized", m, n,
          [&](auto s, auto d) { copy_if_kernel_vectorized<<<grid(m, n), 256>>>(s, d, tile, vectors); });
#else
  for (auto [m, n] : {std::pair{128, 64}, {384, 192}, {1024, 64}})
    check("copy_kernel", m, n, [&](auto s, auto d) {
      copy_kernel<<<dim3(m / 128, n / 64), 256>>>(tiled_divide(s, tile), tiled_divide(d, tile), threads);
    });
#endif
  return wrong_runs != 0;
}
