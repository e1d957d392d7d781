// The tutorials on TMA tensors (document 0), arithmetic tuples (1), tensors (2) and tiled copies (4): their
// code compiles and prints what they show, addresses excepted. Document 1's MMA is tested with the
// instructions.
//
// Where a document errs, what is right is here, marked "not as printed":
//   2: A(_,5) is ((_3,2)):((4,1)), not ((_3,_2)): the 2 is a run-time number; and A(2,_) is ((2,_5,_2)), E
//   has
//      a run-time stride 4 where F's first is 1; Int<8{}> and compostion are misspelt; make_tensor(tensor)
//      means make_tensor_like(tensor), and both are accepted
//   1: the layout of global_identity_tensor is (_512,_512):(_1@0,_1@1), not (_1,_1)
//   0: make_inttuple_iter(0, 0) does not compile in CuTe; here it does, as does the tuple
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>
#include <vector>
#include <zellige/tensor/print.hpp>

namespace zellige {
namespace {

std::string layout_text(auto const& x) { return to_text(x.layout()); }

// Document 0.
TEST(TmaTensors, TheTensorOfTheIntroduction) {
  auto const a = make_tensor(make_inttuple_iter(0, _0{}, _0{}, _0{}), make_shape(make_shape(_128{}, _64{}), 2, 3, 1),
                             make_stride(make_stride(E<0>{}, E<1>{}), _64{} * E<1>{}, E<2>{}, E<3>{}));
  EXPECT_EQ(to_text(a), "ArithTuple(0,_0,_0,_0) o ((_128,_64),2,3,1):((_1@0,_1@1),_64@1,_1@2,_1@3)");
}
TEST(TmaTensors, CountingIterator) {
  EXPECT_EQ(table_text(make_tensor(counting_iterator<int>(42), make_shape(4, 5)), false, true),
            "counting_iter(42) o (4,5):(_1,4):\n"
            "   42   46   50   54   58\n   43   47   51   55   59\n   44   48   52   56   60\n   45   49   "
            "53   57   61\n");
}
TEST(TmaTensors, IteratorsOverCoordinatesAreOffsetByCoordinates) {
  ArithmeticTupleIterator const a = make_inttuple_iter(42, Int<2>{}, Int<7>{});
  ArithmeticTupleIterator const b = a + make_tuple(Int<0>{}, 5, Int<2>{});
  EXPECT_EQ(to_text(*b), "(42,7,_9)");
}
TEST(TmaTensors, LayoutsAreInnerProductsWithStrides) {
  auto const ordinary = make_layout(make_shape(50, 60), make_stride(1, 100));
  auto const straight = make_layout(make_shape(50, 60), make_stride(E<0>{}, E<1>{}));
  auto const crossed = make_layout(make_shape(50, 60), make_stride(E<1>{}, E<0>{}));
  EXPECT_EQ(ordinary(7, 9), 7 + 900);
  EXPECT_EQ(to_text(straight(7, 9)), "(7,9)");
  EXPECT_EQ(to_text(crossed(7, 9)), "(9,7)");
}
TEST(TmaTensors, BasisElements) {
  EXPECT_EQ(to_text(E<>{}), "_1");
  EXPECT_EQ(to_text(E<0>{}), "_1@0");
  EXPECT_EQ(to_text(E<1>{}), "_1@1");
  EXPECT_EQ(to_text(E<0, 1>{}), "_1@1@0");
  EXPECT_EQ(to_text(E<1, 0>{}), "_1@0@1");
  EXPECT_EQ(to_text(5 * E<1>{}), "5@1");
  EXPECT_EQ(to_text(as_arithmetic_tuple(5 * E<1>{})), "(_0,5)");
  EXPECT_EQ(to_text(5 * E<0, 1>{}), "5@1@0");
  EXPECT_EQ(to_text(as_arithmetic_tuple(5 * E<0, 1>{})), "((_0,5))");
  EXPECT_EQ(to_text(3 * E<0>{} + 4 * E<1>{}), "(3,4)");
  EXPECT_EQ(to_text(2 * (2 * E<0, 1>{}) + 3 * E<1>{} + 4 * (5 * E<1>{}) + 7 * E<0, 0>{}), "((7,4),23)");
}
TEST(TmaTensors, StridesDecideTheOrderOfCoordinates) {
  auto const a = make_tensor(make_inttuple_iter(0, 0), make_shape(4, 5), make_stride(E<0>{}, E<1>{}));
  auto const b = make_tensor(make_inttuple_iter(make_tuple(0, 0)), make_shape(4, 5), make_stride(E<1>{}, E<0>{}));
  EXPECT_EQ(table_text(a, false, true),
            "ArithTuple(0,0) o (4,5):(_1@0,_1@1):\n"
            "  (0,0)  (0,1)  (0,2)  (0,3)  (0,4)\n  (1,0)  (1,1)  (1,2)  (1,3)  (1,4)\n"
            "  (2,0)  (2,1)  (2,2)  (2,3)  (2,4)\n  (3,0)  (3,1)  (3,2)  (3,3)  (3,4)\n");
  EXPECT_EQ(table_text(b, false, true),
            "ArithTuple(0,0) o (4,5):(_1@1,_1@0):\n"
            "  (0,0)  (1,0)  (2,0)  (3,0)  (4,0)\n  (0,1)  (1,1)  (2,1)  (3,1)  (4,1)\n"
            "  (0,2)  (1,2)  (2,2)  (3,2)  (4,2)\n  (0,3)  (1,3)  (2,3)  (3,3)  (4,3)\n");
}

// Document 1.
TEST(ArithmeticTuples, PrintedTensors) {
  short memory[1] = {};
  auto const data = make_tensor(memory, Shape<_128, _32>{});
  std::string const text = to_text(data);
  EXPECT_EQ(text.substr(0, 11), "ptr[16b](0x");
  EXPECT_EQ(text.substr(text.find(')')), ") o (_128,_32):(_1,_128)");
  auto const coordinates = make_tensor(make_inttuple_iter(0, 0), Shape<_128, _128>{}, make_stride(E<0>{}, E<1>{}));
  EXPECT_EQ(to_text(coordinates), "ArithTuple(0,0) o (_128,_128):(_1@0,_1@1)");
}
TEST(ArithmeticTuples, ElementsOfTheThreadsTensor) {
  auto const t = make_tensor(make_inttuple_iter(128, 130), Shape<Shape<_2, _2>, _4, _8>{},
                             make_stride(make_stride(E<1>{}, _8{} * E<0>{}), _32{} * E<0>{}, _16{} * E<1>{}));
  EXPECT_EQ(to_text(t), "ArithTuple(128,130) o ((_2,_2),_4,_8):((_1@1,_8@0),_32@0,_16@1)");
  EXPECT_EQ(to_text(t.layout()(make_coord(make_coord(1, 1), 2, 3))), "(72,49)");
  EXPECT_EQ(to_text(t(make_coord(make_coord(1, 1), 2, 3))), "(200,179)");
}
TEST(ArithmeticTuples, BlocksOfTheIdentityAndOfItsIntegerTwin) {
  auto const identity = make_identity_tensor(Shape<_512, _512>{});
  std::vector<short> memory(1024);
  auto const twin = make_tensor(memory.data(), Shape<_512, _512>{}, Stride<_1, _1>{});
  EXPECT_EQ(layout_text(identity), "(_512,_512):(_1@0,_1@1)");  // not as printed
  EXPECT_EQ(layout_text(twin), "(_512,_512):(_1,_1)");
  auto const block = local_tile(identity, Shape<_128, _128>{}, make_coord(1, 1));
  EXPECT_EQ(to_text(block), "ArithTuple(128,128) o (_128,_128):(_1@0,_1@1)");
  auto const twin_block = local_tile(twin, Shape<_128, _128>{}, make_coord(1, 1));
  EXPECT_EQ(layout_text(twin_block), "(_128,_128):(_1,_1)");
  EXPECT_EQ(raw_pointer_cast(twin_block.data()) - memory.data(), 256);
}

struct without_basis {
  template <class T>
  constexpr auto operator()(T const& t) const {
    if constexpr (basis_like<T>)
      return t.value();
    else
      return t;
  }
};
template <class L>
auto twin_of(L const& l) {
  return make_layout(l.shape(), transform_leaf(l.stride(), without_basis{}));
}
// The law: an operation of layouts on strides v@path gives what it gives on v, with the paths put back.
template <class A, class B>
void check_twins(A const& a, B const& b) {
  auto check = [](auto const& with_basis, auto const& with_integers) {
    auto const w = twin_of(with_basis);
    ASSERT_EQ(int(size(w)), int(size(with_integers)));
    for (int i = 0; i < int(size(w)); ++i) EXPECT_EQ(int(w(i)), int(with_integers(i)));
  };
  check(composition(a, b), composition(twin_of(a), b));
  check(logical_divide(a, b), logical_divide(twin_of(a), b));
}
TEST(ArithmeticTuples, BasisStridesBehaveAsTheirIntegerTwins) {
  auto const identity = make_identity_layout(Shape<_8, _12>{});
  auto const scaled = make_layout(Shape<_8, _12>{}, make_stride(_2{} * E<1>{}, _3{} * E<0>{}));
  auto const nested =
      make_layout(Shape<Shape<_2, _4>, _12>{}, make_stride(make_stride(E<0, 1>{}, _5{} * E<0, 0>{}), E<1>{}));
  auto const run_time = make_layout(make_shape(8, 12), make_stride(7 * E<0>{}, E<2>{}));
  auto check = [](auto const& a) {
    check_twins(a, make_tile(_4{}, _6{}));
    check_twins(a, make_tile(Layout<_4, _2>{}, Layout<_3, _4>{}));
    check_twins(a, make_tile(Layout<Shape<_2, _2>, Stride<_4, _1>>{}, _3{}));
    check_twins(a, make_tile(_8{}, Layout<Shape<_2, _3>, Stride<_6, _1>>{}));
  };
  check(identity);
  check(nested);
  check_twins(scaled, make_tile(_4{}, Layout<_3, _4>{}));
  check_twins(run_time, make_tile(_2{}, Layout<_3, _4>{}));
}

// Document 2.
TEST(TensorTutorial, Construction) {
  std::vector<float> memory(256);
  float* A = memory.data();
  Tensor tensor_8 = make_tensor(A, make_layout(Int<8>{}));
  Tensor tensor_8s = make_tensor(A, Int<8>{});
  Tensor tensor_8d2 = make_tensor(A, 8, 2);
  Tensor gmem_8s = make_tensor(make_gmem_ptr(A), Int<8>{});
  Tensor gmem_8dx16s = make_tensor(make_gmem_ptr(A), make_shape(8, Int<16>{}), make_stride(Int<16>{}, Int<1>{}));
  Layout smem_layout = make_layout(make_shape(Int<4>{}, Int<8>{}));
  static float smem[decltype(cosize(smem_layout))::value];
  Tensor smem_4x8_row = make_tensor(make_smem_ptr(smem), shape(smem_layout), LayoutRight{});
  Tensor rmem_4x8_col = make_tensor<float>(Shape<_4, _8>{});
  Tensor rmem_4x8_row = make_tensor<float>(Shape<_4, _8>{}, LayoutRight{});
  Tensor rmem_4x8_like = make_tensor_like(rmem_4x8_row);
  Tensor rmem_4x8_same = make_tensor(rmem_4x8_row);  // the document's form
  EXPECT_EQ(layout_text(tensor_8), "_8:_1");
  EXPECT_EQ(layout_text(tensor_8s), "_8:_1");
  EXPECT_EQ(layout_text(tensor_8d2), "8:2");
  EXPECT_EQ(layout_text(gmem_8s), "_8:_1");
  EXPECT_EQ(to_text(gmem_8s).substr(0, 16), "gmem_ptr[32b](0x");
  EXPECT_EQ(layout_text(gmem_8dx16s), "(8,_16):(_16,_1)");
  EXPECT_EQ(layout_text(smem_4x8_row), "(_4,_8):(_8,_1)");
  EXPECT_EQ(to_text(smem_4x8_row).substr(0, 16), "smem_ptr[32b](0x");
  EXPECT_EQ(layout_text(rmem_4x8_col), "(_4,_8):(_1,_4)");
  EXPECT_EQ(layout_text(rmem_4x8_row), "(_4,_8):(_8,_1)");
  EXPECT_EQ(layout_text(rmem_4x8_like), "(_4,_8):(_8,_1)");
  EXPECT_EQ(layout_text(rmem_4x8_same), "(_4,_8):(_8,_1)");
  EXPECT_NE(rmem_4x8_same.data(), rmem_4x8_row.data());
}
TEST(TensorTutorial, AccessByCoordinatesOfEveryKind) {
  Tensor A = make_tensor<float>(Shape<Shape<_4, _5>, Int<13>>{}, Stride<Stride<_12, _1>, _64>{});
  std::vector<float> memory(13 * 20);
  Tensor B = make_tensor(memory.data(), make_shape(13, 20));
  for (int m0 = 0; m0 < size<0, 0>(A); ++m0) {
    for (int m1 = 0; m1 < size<0, 1>(A); ++m1) {
      for (int n = 0; n < size<1>(A); ++n) A[make_coord(make_coord(m0, m1), n)] = float(n + 2 * m0);
    }
  }
  for (int m = 0; m < size<0>(A); ++m) {
    for (int n = 0; n < size<1>(A); ++n) B(n, m) = A(m, n);
  }
  for (int m = 0; m < 20; ++m) {
    for (int n = 0; n < 13; ++n) EXPECT_EQ(B(n, m), float(n + 2 * (m % 4)));
  }
  for (int i = 0; i < A.size(); ++i) A[i] = B[i];
  for (int i = 0; i < 20 * 13; ++i) EXPECT_EQ(A(i % 20, i / 20), memory[std::size_t(i)]);
}
TEST(TensorTutorial, SlicingKeepsTheProfileOfWhatIsLeft) {
  std::vector<float> memory(1000);
  auto const A = make_tensor(memory.data(), make_shape(make_shape(Int<3>{}, 2), make_shape(2, Int<5>{}, Int<2>{})),
                             make_stride(make_stride(4, 1), make_stride(Int<2>{}, 13, 100)));
  EXPECT_EQ(layout_text(A), "((_3,2),(2,_5,_2)):((4,1),(_2,13,100))");
  EXPECT_EQ(layout_text(A(2, _)), "((2,_5,_2)):((_2,13,100))");
  EXPECT_EQ(layout_text(A(_, 5)), "((_3,2)):((4,1))");  // not as printed
  EXPECT_EQ(layout_text(A(make_coord(_, _), 5)), "(_3,2):(4,1)");
  EXPECT_EQ(layout_text(A(make_coord(_, 1), make_coord(0, _, 1))), "(_3,_5):(4,13)");
  EXPECT_EQ(layout_text(A(make_coord(2, _), make_coord(_, 3, _))), "(2,2,_2):(1,_2,100)");
  EXPECT_EQ(A(2, _).data() - memory.data(), 8);
  EXPECT_EQ(A(_, 5).data() - memory.data(), 2 + 2 * 13);
  EXPECT_EQ(A(make_coord(_, 1), make_coord(0, _, 1)).data() - memory.data(), 1 + 100);
}
TEST(TensorTutorial, InnerAndOuterPartitions) {
  std::vector<float> memory(8 * 24);
  Tensor A = make_tensor(memory.data(), make_shape(8, 24));
  auto tiler = Shape<_4, _8>{};
  Tensor tiled_a = zipped_divide(A, tiler);
  EXPECT_EQ(to_text(shape(tiled_a)), "((_4,_8),(2,3))");
  Tensor cta_a = tiled_a(make_coord(_, _), make_coord(1, 2));
  EXPECT_EQ(to_text(shape(cta_a)), "(_4,_8)");
  EXPECT_EQ(cta_a.data() - memory.data(), 4 + 16 * 8);
  EXPECT_EQ(inner_partition(A, tiler, make_coord(1, 2)).data(), cta_a.data());
  EXPECT_EQ(local_tile(A, tiler, make_coord(1, 2)).data(), cta_a.data());
  Tensor thr_a = tiled_a(6, make_coord(_, _));
  EXPECT_EQ(to_text(shape(thr_a)), "(2,3)");
  EXPECT_EQ(thr_a.data() - memory.data(), 2 + 8);
  EXPECT_EQ(outer_partition(A, tiler, 6).data(), thr_a.data());
  EXPECT_EQ(local_partition(A, Layout<Shape<_4, _8>>{}, 6).data(), thr_a.data());
  // composition and the four divides, as the document names them
  EXPECT_EQ(to_text(shape(composition(A, tiler))), "(_4,_8)");
  EXPECT_EQ(to_text(shape(logical_divide(A, tiler))), "((_4,2),(_8,3))");
  EXPECT_EQ(to_text(shape(tiled_divide(A, tiler))), "((_4,_8),2,3)");
  EXPECT_EQ(to_text(shape(flat_divide(A, tiler))), "(_4,_8,2,3)");
}
TEST(TensorTutorial, ThreadValuePartition) {
  auto tv_layout = Layout<Shape<Shape<_2, _4>, Shape<_2, _2>>, Stride<Stride<_8, _1>, Stride<_4, _16>>>{};
  Tensor A = make_tensor<float>(Shape<_4, _8>{}, LayoutRight{});
  for (int i = 0; i < 32; ++i) A(i) = float(i);
  Tensor tv = composition(A, tv_layout);
  EXPECT_EQ(to_text(shape(tv)), "((_2,_4),(_2,_2))");
  std::vector<int> seen(32);
  for (int t = 0; t < 8; ++t) {
    Tensor v = tv(t, _);
    ASSERT_EQ(int(size(v)), 4);
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(v(k), float(t % 2 * 8 + t / 2 + k % 2 * 4 + k / 2 * 16));
      ++seen[std::size_t(v(k))];
    }
  }
  EXPECT_EQ(seen, std::vector<int>(32, 1));
}
TEST(TensorTutorial, CopiesOfSubtilesToRegisters) {
  std::vector<int> memory(24 * 16);
  std::iota(memory.begin(), memory.end(), 0);
  int* ptr = memory.data();
  {
    Tensor gmem = make_tensor(ptr, make_shape(Int<8>{}, 16));
    Tensor rmem = make_tensor_like(gmem(_, 0));
    for (int j = 0; j < size<1>(gmem); ++j) {
      copy(gmem(_, j), rmem);
      for (int i = 0; i < 8; ++i) EXPECT_EQ(rmem(i), i + 8 * j);
    }
  }
  {
    Tensor gmem = make_tensor(ptr, make_shape(24, 16));
    auto tiler = Shape<_8, _4>{};
    Tensor gmem_tiled = zipped_divide(gmem, tiler);
    Tensor rmem = make_tensor_like(gmem_tiled(_, 0));
    for (int j = 0; j < size<1>(gmem_tiled); ++j) {
      copy(gmem_tiled(_, j), rmem);
      for (int i = 0; i < 32; ++i) EXPECT_EQ(rmem(i), j % 3 * 8 + i % 8 + 24 * (j / 3 * 4 + i / 8));
    }
  }
}

// Document 4: the walk from global memory to registers, each piece with its base offset.
TEST(TiledCopies, FromGlobalMemoryToRegisters) {
  int global[8], shared[4] = {}, registers = -1;
  std::iota(global, global + 8, 0);
  auto gA = make_tensor(make_gmem_ptr(&global[0]), Shape<_2, _4>{}, LayoutRight{});
  auto gAgA = local_tile(gA, Shape<_2, _2>{}, make_coord(0, 1));
  EXPECT_EQ(layout_text(gAgA), "(_2,_2):(_4,_1)");
  EXPECT_EQ(raw_pointer_cast(gAgA.data()) - global, 2);  // its base offset
  auto sAsA = make_tensor(make_smem_ptr(&shared[0]), Shape<_2, _2>{}, LayoutRight{});
  for (int i = 0; i < sAsA.size(); ++i) sAsA[i] = gAgA[i];
  EXPECT_EQ(std::vector<int>(shared, shared + 4), (std::vector<int>{2, 3, 6, 7}));
  auto wAsA = local_tile(sAsA, Shape<_1, _2>{}, make_coord(0, 0));
  EXPECT_EQ(wAsA(0, 0), 2);
  EXPECT_EQ(wAsA(0, 1), 3);
  auto tAsA = local_partition(wAsA, Layout<Shape<_1, _2>>{}, 1);
  auto tArA = make_tensor(make_rmem_ptr(&registers), Shape<_1, _1>{});
  copy(tAsA, tArA);
  EXPECT_EQ(registers, 3);
}
// The tutorial's two-dimensional loops: the same slice by explicit strides and by tensor.
TEST(TiledCopies, SlicesByStrides) {
  int src[8], by_hand[8] = {}, by_tensor[8] = {};
  std::iota(src, src + 8, 0);
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 2; ++c) {
      int const i = int(crd2idx(make_coord(r, c), make_shape(2, 4), make_stride(4, 1)));
      (by_hand + 2)[i] = (src + 2)[i];
    }
  }
  auto slice_of = [](int* p) {
    return local_tile(make_tensor(p, Shape<_2, _4>{}, LayoutRight{}), Shape<_2, _2>{}, make_coord(0, 1));
  };
  copy(slice_of(src), slice_of(by_tensor));
  EXPECT_EQ(std::vector<int>(by_tensor, by_tensor + 8), std::vector<int>(by_hand, by_hand + 8));
  EXPECT_EQ(std::vector<int>(by_tensor, by_tensor + 8), (std::vector<int>{0, 0, 2, 3, 0, 0, 6, 7}));
}

}  // namespace
}  // namespace zellige
