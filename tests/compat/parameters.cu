// Kernels that take tensors, layouts and copies, alone and followed by other parameters.
// headers_test.cpp compares the code generator's parameter sizes with those of the front end, and
// so the host.
#include <cute/arch/copy_sm90_tma.hpp>
#include <cute/tensor.hpp>

using namespace cute;

template <class T, int size>
__global__ void takes(T t, int* out) {
  out[0] = reinterpret_cast<char const*>(&t)[threadIdx.x];
}
template <class T>
struct Then {
  T t;
  int after;
};
#define TAKES(...)                                                                          \
  template __global__ void takes<__VA_ARGS__, int(sizeof(__VA_ARGS__))>(__VA_ARGS__, int*); \
  template __global__ void takes<Then<__VA_ARGS__>, int(sizeof(Then<__VA_ARGS__>))>(Then<__VA_ARGS__>, int*);

using Dynamic = decltype(make_layout(make_shape(1, 2)));
using Static = Layout<Shape<_4, _8>>;
template <class L>
using Global = decltype(make_tensor(make_gmem_ptr(static_cast<float*>(nullptr)), L{}));
using Tiles = decltype(tiled_divide(Global<Dynamic>{}, Shape<_4, _8>{}));
using WholeTiles = decltype(tiled_divide(Global<Static>{}, Shape<_4, _2>{}));
using Numbers = decltype(make_identity_tensor(make_shape(1, 2)));
using Box = Layout<Shape<_64, _64>>;
template <class Op>
using Tma = decltype(make_tma_atom(Op{}, Global<decltype(make_layout(make_shape(1, 2), make_stride(2, _1{})))>{}, Box{},
                                   Shape<_64, _64>{}));
using Tiled = decltype(make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, float>{}, Layout<_32>{}, Layout<_4>{}));

TAKES(Dynamic)
TAKES(Static)
TAKES(Global<Dynamic>)
TAKES(Global<Static>)
TAKES(Tiles)
TAKES(WholeTiles)
TAKES(Numbers)
TAKES(tuple<Global<Static>, int>)
TAKES(tuple<Global<Dynamic>, _1, Global<Static>, char>)
TAKES(Tma<SM90_TMA_LOAD>)
TAKES(Tma<SM90_TMA_STORE>)
TAKES(tuple<Tma<SM90_TMA_LOAD>, int>)
TAKES(Tiled)
TAKES(decltype(Tiled{}.get_slice(_0{})))
TAKES(decltype(Tiled{}.get_slice(0)))
TAKES(ComposedLayout<Swizzle<3, 4, 3>, _0, Static>)
TAKES(ComposedLayout<Swizzle<3, 4, 3>, int, Dynamic>)
TAKES(tuple<_1, int, tuple<_2, _3>>)
