// Copies against the definition, dst(c) = src(c) for every c: by elements, by vectors, by cooperating
// threads.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>
#include <zellige/numeric/int.hpp>
#include <zellige/tensor.hpp>

namespace zellige {
namespace {

// Known numbers in memory at a multiple of 1024 bytes, the longest period of a swizzle.
template <class T, int N = 4096>
struct Memory {
  alignas(1024) T data[N];
  explicit Memory(int from) {
    for (int i = 0; i < N; ++i) data[i] = T(from + i);
  }
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all(sizeof data);
    std::memcpy(all.data(), data, sizeof data);
    return all;
  }
};

template <class F, class SL, class DL>
void check(F copy_with, SL const& sl, DL const& dl) {
  static Memory<float> const src(0);
  Memory<float> dst(100000), want(100000);
  auto const s = make_tensor(&src.data[64], sl);
  auto d = make_tensor(&dst.data[64], dl);
  auto w = make_tensor(&want.data[64], dl);
  for (int i = 0; i < int(size(sl)); ++i) w(i) = s(i);
  copy_with(s, d);
  EXPECT_EQ(dst.bytes(), want.bytes());  // and nothing after it
}
struct Simple {
  template <class S, class D>
  void operator()(S const& s, D& d) const {
    copy(s, d);
  }
};
template <int bits>
struct Vectors {
  template <class S, class D>
  void operator()(S const& s, D& d) const {
    copy(AutoVectorizingCopyWithAssumedAlignment<bits>{}, s, d);
  }
};
struct Filtered {
  template <class S, class D>
  void operator()(S const& s, D& d) const {
    copy(AutoFilter(AutoVectorizingCopy{}), s, d);
  }
};
template <class SL, class DL>
void check_all(SL const& sl, DL const& dl) {
  check(Simple{}, sl, dl);
  check(Vectors<32>{}, sl, dl);
  check(Vectors<64>{}, sl, dl);
  check(Vectors<128>{}, sl, dl);
  check(Filtered{}, sl, dl);
}
TEST(Copy, VectorsMoveWhatElementsWould) {
  check_all(Layout<Shape<_4, _8>>{}, Layout<Shape<_4, _8>>{});
  check_all(Layout<Shape<_4, _8>, Stride<_8, _1>>{}, Layout<Shape<_4, _8>, Stride<_8, _1>>{});
  check_all(Layout<Shape<_4, _8>>{}, Layout<Shape<_4, _8>, Stride<_8, _1>>{});
  check_all(Layout<Shape<_4, _8>, Stride<_12, _1>>{}, Layout<Shape<_4, _8>, Stride<_8, _1>>{});
  check_all(Layout<Shape<_4, _8>, Stride<_10, _1>>{}, Layout<Shape<_4, _8>, Stride<_16, _1>>{});
  check_all(Layout<Shape<_8, _3>, Stride<_1, _20>>{}, Layout<Shape<_8, _3>, Stride<_1, _9>>{});
  check_all(Layout<Shape<Shape<_2, _4>, _3>, Stride<Stride<_1, _4>, _2>>{}, Layout<Shape<_8, _3>, Stride<_1, _8>>{});
  check_all(Layout<Shape<Shape<_2, _4>, _4>, Stride<Stride<_4, _8>, _1>>{},
            Layout<Shape<Shape<_2, _4>, _4>, Stride<Stride<_64, _4>, _1>>{});
  check_all(Layout<Shape<_6, _6>>{}, Layout<Shape<_6, _6>>{});
  check_all(Layout<Shape<_16>>{}, Layout<Shape<Shape<_4, _4>>, Stride<Stride<_1, _32>>>{});
  check_all(Layout<Shape<_4, _4>, Stride<_0, _1>>{}, Layout<Shape<_4, _4>, Stride<_4, _1>>{});
  check_all(make_layout(Shape<_8, _4>{}, make_stride(_1{}, 12)), Layout<Shape<_8, _4>>{});
  check_all(make_layout(make_shape(8, 4)), make_layout(make_shape(8, 4), make_stride(_1{}, 16)));
}
template <class S, class D>
inline constexpr int bits_of = detail::vector_bits<128, Tensor<ViewEngine<float*>, S>, Tensor<ViewEngine<float*>, D>>();
TEST(Copy, VectorsAreAsWideAsBothLayoutsAllow) {
  using A = Layout<Shape<_4, _8>>;
  using B = Layout<Shape<_4, _8>, Stride<_8, _1>>;
  EXPECT_EQ((bits_of<A, A>), 128);
  EXPECT_EQ((bits_of<B, B>), 128);
  EXPECT_EQ((bits_of<A, B>), 0);
  EXPECT_EQ((bits_of<Layout<Shape<_6, _5>, Stride<_1, _6>>, Layout<Shape<_6, _5>, Stride<_1, _8>>>), 64);
  EXPECT_EQ((bits_of<Layout<Shape<_3, _5>, Stride<_1, _4>>, Layout<Shape<_3, _5>, Stride<_1, _4>>>), 0);
}
// A tree of 13 nodes, with three run-time strides and one of Step, as a thread's part of a swizzled tile has it.
template <class Step>
using Part = Layout<Shape<Shape<_1, Shape<_2, _2, _2>>, _2, Shape<Shape<_2, _2>, _2>>,
                    Stride<Stride<_0, Stride<_1, _16, int>>, Step, Stride<Stride<int, int>, _256>>>;
TEST(Copy, LayoutsOfManyModesAreCopiedByVectors) {
  using Registers = Layout<Shape<Shape<_1, Shape<_4, _2>>, _2, _8>, Stride<Stride<_0, Stride<_1, _8>>, _4, _16>>;
  EXPECT_EQ((bits_of<Registers, Part<_512>>), 64);
  EXPECT_EQ((bits_of<Registers, Part<Int<511>>>), 0);
  Part<_512> const part(
      make_shape(make_shape(_1{}, make_shape(_2{}, _2{}, _2{})), _2{}, make_shape(make_shape(_2{}, _2{}), _2{})),
      make_stride(make_stride(_0{}, make_stride(_1{}, _16{}, 32)), _512{}, make_stride(make_stride(4, 8), _256{})));
  check(Vectors<128>{}, Registers{}, part);
  Memory<float> const from(0);
  Memory<float> to(0);
  auto odd = make_tensor(&to.data[1], part);
  EXPECT_THROW(copy_aligned(make_tensor(&from.data[0], Registers{}), odd), LayoutError);
}
// copy without a policy vectorises only static layouts, and checks the address first.
TEST(Copy, AddressesThatAreNotAlignedAreCopiedAllTheSame) {
  Memory<float> const src(7);
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) {
      Memory<float> dst(0);
      auto d = make_tensor(&dst.data[to], Layout<Shape<_4, _8>>{});
      copy(make_tensor(&src.data[from], Layout<Shape<_4, _8>>{}), d);
      for (int i = 0; i < 32; ++i) EXPECT_EQ(d(i), src.data[from + i]);
    }
  }
  auto const off = make_tensor(&src.data[1], Layout<Shape<_8>>{});
  auto own = make_tensor<float>(Shape<_8>{});
  EXPECT_THROW(copy_aligned(off, own), LayoutError);  // the caller's word is checked on the host
}
constexpr int sum_of_a_copy() {
  auto a = make_tensor<int>(Shape<_4, _4>{});
  auto b = make_tensor<int>(Shape<_4, _4>{});
  for (int i = 0; i < 16; ++i) a(i) = i;
  copy(a, b);
  return reduce(b, 0);
}
static_assert(sum_of_a_copy() == 120);

TEST(Copy, AFilteredCopyWritesRepeatedElementsOnce) {
  int reads = 0;
  struct Count {
    int* reads;
    int operator()(int i) const { return ++*reads, i; }
  };
  auto const src = make_tensor(make_transform_iter(counting_iterator<int>(0), Count{&reads}),
                               Layout<Shape<_4, _8>, Stride<_1, _0>>{});
  int memory[4] = {};
  auto dst = make_tensor(memory, Layout<Shape<_4, _8>, Stride<_1, _0>>{});
  copy(AutoFilter(DefaultCopy{}), src, dst);
  EXPECT_EQ(reads, 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(memory[i], i);
}

// cooperative_copy: every element by exactly one of the threads.
struct Counted {
  int value = 0, writes = 0;
};
/// A pointer whose references count what is written through them.
struct CountingPointer {
  struct reference {
    Counted* at;
    operator int() const { return at->value; }
    reference const& operator=(int v) const {
      at->value = v, ++at->writes;
      return *this;
    }
  };
  using value_type = int;
  using element_type = int;
  Counted* p;
  reference operator*() const { return {p}; }
  reference operator[](int i) const { return {p + i}; }
  CountingPointer operator+(int i) const { return {p + i}; }
  template <class U>
  CountingPointer recast() const {
    return *this;
  }
};
template <int threads, class L>
void check_exactly_once(L const& layout) {
  std::vector<Counted> memory(4096);
  // With single elements: an iterator like this one is not vectorised.
  auto const src = make_tensor(counting_iterator<int>(5), layout);
  auto dst = make_tensor(CountingPointer{memory.data()}, layout);
  for (int t = 0; t < threads; ++t) cooperative_copy<threads>(unsigned(t), src, dst);
  int written = 0;
  for (auto const& m : memory) {
    EXPECT_LE(m.writes, 1);
    written += m.writes;
  }
  EXPECT_EQ(written, int(size(layout)));
  for (int i = 0; i < int(size(layout)); ++i) EXPECT_EQ(int(dst(i)), 5 + int(layout(i)));
}
template <int threads>
void check_layouts() {
  check_exactly_once<threads>(Layout<Shape<_8, _8>>{});
  check_exactly_once<threads>(Layout<Shape<_8, _8>, Stride<_8, _1>>{});
  check_exactly_once<threads>(Layout<Shape<_5, _7>, Stride<_9, _1>>{});
  check_exactly_once<threads>(Layout<Shape<Shape<_2, _3>, _4>, Stride<Stride<_1, _20>, _2>>{});
  check_exactly_once<threads>(make_layout(make_shape(6, 5)));
  check_exactly_once<threads>(make_layout(make_shape(7, _3{}), make_stride(_3{}, _1{})));
}
TEST(CooperativeCopy, WritesEachElementOnce) {
  check_layouts<1>();
  check_layouts<3>();
  check_layouts<32>();
  check_layouts<100>();
}
template <int threads, int bits, class T = float, class S, class D>
void check_together(S const& sl, D const& dl) {
  static Memory<T> const src(0);
  static Memory<T> dst(100), want(100);
  auto const s = make_tensor(make_gmem_ptr(&src.data[0]), sl);
  auto d = make_tensor(make_smem_ptr(&dst.data[0]), dl);
  auto w = make_tensor(&want.data[0], dl);
  std::memset((void*)dst.data, 0x5a, sizeof dst.data);
  std::memset((void*)want.data, 0x5a, sizeof want.data);
  for (int i = 0; i < int(size(sl)); ++i) w(i) = s(i);
  for (int t = 0; t < threads; ++t) cooperative_copy<threads, bits>(unsigned(t), s, d);
  EXPECT_EQ(dst.bytes(), want.bytes());
}
template <int threads, int bits>
void check_pairs() {
  using Column = Layout<Shape<_16, _8>>;
  using Row = Layout<Shape<_16, _8>, Stride<_8, _1>>;
  check_together<threads, bits>(Column{}, Column{});
  check_together<threads, bits>(Row{}, Row{});
  check_together<threads, bits>(Row{}, Column{});
  check_together<threads, bits>(Row{}, composition(Swizzle<2, 2, 3>{}, Row{}));
  check_together<threads, bits>(Layout<Shape<_16, _8>, Stride<_12, _1>>{}, Row{});
  check_together<threads, bits>(Layout<Shape<_5, _12>, Stride<_12, _1>>{}, Layout<Shape<_5, _12>, Stride<_16, _1>>{});
  check_together<threads, bits, short>(Column{}, Column{});
  // 192 elements of which 48 groups of 4 are contiguous in both: 32 threads spread over modes of 2, 3 and 8.
  check_together<threads, bits>(
      Layout<Shape<_24, _8>>{},
      composition(Swizzle<2, 2, 3>{}, Layout<Shape<Shape<_8, _3>, _8>, Stride<Stride<_1, _64>, _8>>{}));
}
TEST(CooperativeCopy, ByVectorsAndSwizzles) {
  check_pairs<1, 128>();
  check_pairs<7, 128>();
  check_pairs<32, 64>();
  check_pairs<256, 128>();
}
// A swizzled pointer: the address decides, runs up to the swizzle's base stay together.
TEST(CooperativeCopy, ThroughASwizzledPointer) {
  static Memory<float> const src(0);
  static Memory<float> a(0), b(0);
  using L = Layout<Shape<_8, _32>, Stride<_32, _1>>;
  auto const s = make_tensor(make_gmem_ptr(&src.data[0]), L{});
  auto d = make_tensor(make_smem_ptr(&a.data[0], Swizzle<3, 4, 3>{}), L{});
  auto w = make_tensor(make_smem_ptr(&b.data[0], Swizzle<3, 4, 3>{}), L{});
  for (int i = 0; i < 256; ++i) w(i) = s(i);
  for (int t = 0; t < 32; ++t) cooperative_copy<32, 128>(unsigned(t), s, d);
  EXPECT_EQ(a.bytes(), b.bytes());
  EXPECT_EQ(int(&d(1, 0) - &a.data[0]), 36);  // row 1's first 16 bytes lie second
  auto const free = as_position_independent_swizzle_tensor(d);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(&free(i), &d(i));
  EXPECT_THROW(as_position_independent_swizzle_tensor(make_tensor(d.data() + 32, L{})), LayoutError);
}
// Run-time strides and addresses: what the width of a policy needs of them is so, or it is refused; in either case
// nothing else is moved than element by element.
TEST(Vectors, RunTimeStridesMoveTheRightElementsOrAreRefused) {
  alignas(16) static unsigned short from[4096], to[4096];
  for (int i = 0; i < 4096; ++i) from[i] = static_cast<unsigned short>(i);
  int right = 0, refused = 0;
  auto const check = [&](auto const& a, auto const& b, auto const& move) {
    std::memset(to, 0, sizeof to);
    auto const s = make_tensor(make_gmem_ptr(&from[0]), a);
    auto d = make_tensor(make_smem_ptr(&to[0]), b);
    try {
      move(s, d);
    } catch (LayoutError const&) {
      ++refused;
      return;
    }
    ++right;
    for (int i = 0; i < int(size(s)); ++i) ASSERT_EQ(d(i), s(i)) << i;
  };
  for (int n = 0; n < 40; ++n) {
    for (int w = 8; w < 20; ++w) {
      auto const both = [&](auto const& a, auto const& b) {
        check(a, b, [](auto const& s, auto& d) {
          for (unsigned t = 0; t < 4; ++t) cooperative_copy<4, 128>(t, s, d);
        });
        check(a, b, [](auto const& s, auto& d) { copy(AutoVectorizingCopy{}, s, d); });
        check(a, b, [](auto const& s, auto& d) { copy(AutoVectorizingCopyWithAssumedAlignment<64>{}, s, d); });
        check(a, b, [](auto const& s, auto& d) { copy(s, d); });
      };
      both(make_layout(Shape<_8, _4>{}, make_stride(_1{}, n)), make_layout(Shape<_8, _4>{}, make_stride(_1{}, w)));
      both(make_layout(make_shape(8, 4), make_stride(_1{}, n)), make_layout(make_shape(8, 4), make_stride(_1{}, w)));
    }
  }
  EXPECT_GE(right, 1500);
  EXPECT_GE(refused, 500);
}
// Packed elements go in whole bytes.
TEST(CooperativeCopy, OfPackedElements) {
  static unsigned char from[64], to[64];
  for (int i = 0; i < 64; ++i) from[i] = static_cast<unsigned char>(37 * i + 5);
  auto const s = make_tensor(make_gmem_ptr<int4b_t>(from), Shape<_16, _8>{});
  auto d = make_tensor(make_smem_ptr<int4b_t>(to), Shape<_16, _8>{});
  for (int t = 0; t < 24; ++t) cooperative_copy<24, 128>(unsigned(t), s, d);
  EXPECT_EQ(std::memcmp(from, to, sizeof to), 0);
}

TEST(CooperativeGemm, IsTheProduct) {
  std::vector<int> a(12), b(20), c(15), want(15);
  std::iota(a.begin(), a.end(), -5);
  std::iota(b.begin(), b.end(), 2);
  auto const ta = make_tensor(a.data(), Shape<_3, _4>{});
  auto const tb = make_tensor(b.data(), make_shape(_5{}, 4));
  for (int threads : {1, 2, 7, 32}) {
    for (int beta : {0, 3}) {
      std::iota(c.begin(), c.end(), 0);
      for (int m = 0; m < 3; ++m) {
        for (int n = 0; n < 5; ++n) {
          int sum = 0;
          for (int k = 0; k < 4; ++k) sum += a.data()[m + 3 * k] * -b.data()[n + 5 * k];
          want.data()[m + 3 * n] = 2 * sum + beta * c.data()[m + 3 * n] + 1;
        }
      }
      auto tc = make_tensor(c.data(), Shape<_3, _5>{});
      auto run = [&](auto n) {
        for (int t = 0; t < int(n); ++t) {
          cooperative_gemm<int(n)>(
              unsigned(t), 2, ta, tb, beta, tc, as_it_is{}, [](int x) { return -x; }, as_it_is{},
              [](int x) { return x + 1; });
        }
      };
      threads == 1 ? run(_1{}) : threads == 2 ? run(_2{}) : threads == 7 ? run(_7{}) : run(_32{});
      EXPECT_EQ(c, want);
    }
  }
}
TEST(Prefetch, ChangesNothing) {
  std::vector<int> a(64, 3), b = a;
  prefetch(make_tensor(make_gmem_ptr(a.data()), Shape<_8, _8>{}));
  cooperative_prefetch<4>(2u, make_tensor(make_gmem_ptr(a.data()), make_shape(8, 8)));
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace zellige
