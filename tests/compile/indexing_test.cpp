// The PTX of indexing is no longer than CuTe's: 28, 32 and 30 instructions for its versions of three kernels.
//   1. one element through a row-major layout of run-time extents
//   2. one element of one tile of such a layout
//   3. one element of a static, swizzled tile in shared memory
#include "compiler.hpp"

namespace compile_test {
namespace {

char const* const kernels = R"(
#include <zellige/tensor.hpp>
using namespace zellige;
extern "C" __global__ void element(float const* a, float* b, int m, int n) {
  auto layout = make_layout(make_shape(m, n), make_stride(n, _1{}));
  int const i = layout(blockIdx.x, threadIdx.x);
  b[i] = a[i];
}
extern "C" __global__ void tile(float const* a, float* b, int m, int n) {
  auto tiles = zipped_divide(make_layout(make_shape(m, n), make_stride(n, _1{})), Shape<_16, _16>{});
  int const i = tiles(make_coord(make_coord(threadIdx.y, threadIdx.x), make_coord(blockIdx.y, blockIdx.x)));
  b[i] = a[i];
}
extern "C" __global__ void swizzled(float const* a, float* b) {
  __shared__ float s[64 * 32];
  auto layout = composition(Swizzle<3, 2, 3>{}, Layout<Shape<_64, _32>, Stride<_32, _1>>{});
  s[layout(threadIdx.x, threadIdx.y)] = a[threadIdx.x * 32 + threadIdx.y];
  __syncthreads();
  b[threadIdx.x * 32 + threadIdx.y] = s[layout(threadIdx.y, threadIdx.x)];
}
)";

/// Lines of an entry's body that are instructions: no directives, labels or braces.
int instructions(std::string const& ptx, std::string const& entry) {
  std::istringstream lines(ptx);
  bool inside = false, body = false;
  int n = 0;
  for (std::string l; std::getline(lines, l);) {
    if (l.find(".entry " + entry + "(") != std::string::npos) inside = true;
    if (!inside) continue;
    if (l.starts_with("{")) body = true;
    if (l.starts_with("}")) return n;
    std::size_t const at = l.find_first_not_of(" \t");
    if (body && at != std::string::npos && l[at] != '.' && l[at] != '/' && l.find(';') != std::string::npos) ++n;
  }
  ADD_FAILURE() << "no entry " << entry << " in\n" << ptx;
  return 0;
}

TEST(Indexing, PtxIsNoLongerThanCuTes) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const out = scratch("indexing.ptx");
  Compiled const c = run(cuda + "-ptx -o " + out, "indexing.cu", kernels);
  ASSERT_EQ(c.status, 0) << c.output;
  std::ifstream file(out);
  std::stringstream text;
  text << file.rdbuf();
  std::string const ptx = text.str();
  EXPECT_LE(instructions(ptx, "element"), 28) << ptx;
  EXPECT_LE(instructions(ptx, "tile"), 32) << ptx;
  EXPECT_LE(instructions(ptx, "swizzled"), 30) << ptx;
}

}  // namespace
}  // namespace compile_test
