"""The translation units that are compiled: the same C++ for this library and for CuTe, except for header and namespace."""

import os

HEADERS = {
    "ours": {"layout": "zellige/layout.hpp", "tensor": "zellige/tensor.hpp", "namespace": "zellige"},
    "cute": {"layout": "cute/layout.hpp", "tensor": "cute/tensor.hpp", "namespace": "cute"},
}


def layout(shape, stride=None):
    return f"make_layout(make_shape({shape}), make_stride({stride}))" if stride else f"make_layout(make_shape({shape}))"


def n(i):
    return f"Int<{i}>{{}}"


def static_expression(i):
    """Five operations in rotation; no two expressions have the same numbers."""
    a, b = 8 * (i + 3), 8 << i % 4
    x, y = 2 << i % 2, 2 << i % 3
    whole = layout(f"{n(a)}, {n(b)}", f"{n(b)}, _1{{}}")
    return (
        f"zipped_divide({whole}, make_tile({n(x)}, {n(y)}))",
        f"composition({whole}, {layout(f'{n(x)}, {n(y)}', f'{n(y)}, _1{{}}')})",
        f"complement({layout(f'{n(x)}, {n(y)}', f'_1{{}}, {n(4 * a)}')}, {n(4 * a * b)})",
        f"blocked_product({layout(f'{n(x)}, {n(y)}')}, {whole})",
        f"right_inverse({whole})",
    )[i % 5]


def run_time_expression(i):
    b, x = 4 * (i + 3), 2 << i % 2
    whole = layout(f"n, {n(b)}", f"{n(b)}, _1{{}}")
    return (
        f"zipped_divide({whole}, make_tile({n(x)}, {n(4)}))",
        f"logical_divide({whole}, make_tile({n(x)}))",
        f"coalesce({whole})",
        f"blocked_product({layout(f'{n(x)}, {n(4)}')}, {whole})",
        f"right_inverse({whole})",
    )[i % 5]


SGEMM = """
template <int M, int N, int K>
__global__ void sgemm(float const* A, float const* B, float* C, int m, int n, int k) {
  Tensor a = make_tensor(make_gmem_ptr(A), make_shape(m, k), make_stride(k, _1{}));
  Tensor b = make_tensor(make_gmem_ptr(B), make_shape(n, k), make_stride(k, _1{}));
  Tensor c = make_tensor(make_gmem_ptr(C), make_shape(m, n), make_stride(n, _1{}));
  auto tile = make_shape(Int<M>{}, Int<N>{}, Int<K>{});
  auto at = make_coord(blockIdx.x, blockIdx.y, _);
  Tensor block_a = local_tile(a, tile, at, Step<_1, X, _1>{});
  Tensor block_b = local_tile(b, tile, at, Step<X, _1, _1>{});
  Tensor block_c = local_tile(c, tile, at, Step<_1, _1, X>{});
  __shared__ float shared_a[M * K], shared_b[N * K];
  Tensor sa = make_tensor(make_smem_ptr(shared_a), Layout<Shape<Int<M>, Int<K>>>{});
  Tensor sb = make_tensor(make_smem_ptr(shared_b), Layout<Shape<Int<N>, Int<K>>>{});
  Layout<Shape<_32, _8>> loaders;
  Layout<Shape<_16, _16>> owners;
  Tensor from_a = local_partition(block_a, loaders, threadIdx.x);
  Tensor from_b = local_partition(block_b, loaders, threadIdx.x);
  Tensor to_a = local_partition(sa, loaders, threadIdx.x);
  Tensor to_b = local_partition(sb, loaders, threadIdx.x);
  Tensor mine_a = local_partition(sa, owners, threadIdx.x, Step<_1, X>{});
  Tensor mine_b = local_partition(sb, owners, threadIdx.x, Step<X, _1>{});
  Tensor mine_c = local_partition(block_c, owners, threadIdx.x, Step<_1, _1>{});
  Tensor sum = make_tensor_like(mine_c);
  clear(sum);
  for (int i = 0; i < size<2>(block_a); ++i) {
    copy(from_a(_, _, i), to_a);
    copy(from_b(_, _, i), to_b);
    __syncthreads();
    gemm(mine_a, mine_b, sum);
    __syncthreads();
  }
  axpby(1.0f, sum, 0.0f, mine_c);
}
template __global__ void sgemm<128, 128, 8>(float const*, float const*, float*, int, int, int);
template __global__ void sgemm<64, 64, 16>(float const*, float const*, float*, int, int, int);
"""


def unit(name, library):
    """The source code of a unit; `empty` is the baseline that is subtracted."""
    if name == "empty":
        return "int nothing;\n"
    h = HEADERS[library]
    head = f"using namespace {h['namespace']};\n"
    if name in ("layout header", "tensor header"):
        return f"#include <{h[name.split()[0]]}>\n"
    if name == "SGEMM kernel":
        return f"#include <{h['tensor']}>\n{head}{SGEMM}"
    make, count = (static_expression, 200) if name == "200 static" else (run_time_expression, 100)
    argument = "" if name == "200 static" else "int n"
    lines = [
        f"int f{i}({argument}) {{ auto l = {make(i)}; return int(size(l)) + int(cosize(l)); }}\n" for i in range(count)
    ]
    return f"#include <{h['layout']}>\n{head}" + "".join(lines)


UNITS = ("layout header", "tensor header", "200 static", "100 run-time", "SGEMM kernel")
CUDA_ONLY = ("SGEMM kernel",)

GEMM_SM80 = """#include <kernels/gemm_sm80.hpp>
using namespace zellige;
using OneTile = kernels::GemmSm80<half_t, 128, 128, 64, 3, 2, 4, false>;
template __global__ void kernels::gemm_sm80<OneTile, Identity>(gmem<const half_t>, int64_t, gmem<const half_t>, int64_t,
                                                               gmem<half_t>, int64_t, int, int, int, Identity);
"""
GEMM_SM90 = """#include <kernels/gemm_sm90.hpp>
using namespace zellige;
using OneTile = kernels::GemmTile<half_t, half_t, 256, 4, 2>;
template __global__ void kernels::gemm_sm90<OneTile, Identity>(
    const __grid_constant__ TmaDescriptor, const __grid_constant__ TmaDescriptor,
    const __grid_constant__ TmaDescriptor, kernels::GemmShape, Identity);
"""


def nvrtc_units():
    """name -> (architecture, source code), for units compiled at run time."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hopper_tile.cu")) as f:
        tile = f.read()
    return {"GEMM SM80": ("sm_80", GEMM_SM80), "GEMM SM90": ("sm_90a", GEMM_SM90), "Hopper tile": ("sm_90a", tile)}
