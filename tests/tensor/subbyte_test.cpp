// Elements smaller than a byte: written and read back, without changing neighbours; against an array of bits.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>
#include <zellige/numeric/int.hpp>
#include <zellige/tensor/print.hpp>

namespace zellige {
namespace {

template <class T>
T value_of(int i) {
  if constexpr (is_same_v<T, bool>)
    return (i & 1) != 0;
  else
    return T(i);
}
/// The memory as single bits.
std::vector<int> bits_of(std::vector<unsigned char> const& bytes) {
  std::vector<int> b;
  for (unsigned char c : bytes) {
    for (int i = 0; i < 8; ++i) b.push_back(c >> i & 1);
  }
  return b;
}
template <class T>
class Packed : public testing::Test {};
using Types = testing::Types<bool, uint1b_t, int2b_t, uint2b_t, int4b_t, uint4b_t, int6b_t, uint6b_t,
                             integer_subbyte<3>, integer_subbyte<5, false>, integer_subbyte<7>, unsigned char>;
TYPED_TEST_SUITE(Packed, Types);

TYPED_TEST(Packed, AWriteChangesItsOwnBitsOnly) {
  using T = TypeParam;
  constexpr int bits = sizeof_bits_v<T>, count = 40;
  std::mt19937 random(7);
  std::vector<unsigned char> bytes(64);
  for (auto& b : bytes) b = static_cast<unsigned char>(random());
  subbyte_iterator<T> const it(bytes.data() + 4);
  for (int trial = 0; trial < 400; ++trial) {
    int const i = int(random() % count), v = int(random() % 256);
    std::vector<int> want = bits_of(bytes);
    unsigned char const image = __builtin_bit_cast(unsigned char, value_of<T>(v));
    for (int k = 0; k < bits; ++k) want[std::size_t(32 + i * bits + k)] = image >> k & 1;
    it[i] = value_of<T>(v);
    EXPECT_EQ(bits_of(bytes), want);
    EXPECT_TRUE(T(it[i]) == value_of<T>(v));
  }
}
TYPED_TEST(Packed, IteratorsStepBothWays) {
  using T = TypeParam;
  std::vector<unsigned char> bytes(64);
  subbyte_iterator<T> const base(bytes.data());
  for (int i = 0; i < 40; ++i) base[i] = value_of<T>(i * 5);
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 40; ++j) {
      EXPECT_TRUE((base + i) + (j - i) == base + j);
      EXPECT_EQ(base + i < base + j, i < j);
      EXPECT_TRUE(T(*((base + i) + (j - i))) == T(base[j]));
    }
  }
  auto it = base;
  for (int i = 0; i < 40; ++i, ++it) EXPECT_TRUE(it == base + i);
  for (int i = 40; i > 0;) EXPECT_TRUE(--it == base + --i);
  EXPECT_TRUE(&base[3] == base + 3);
}
TYPED_TEST(Packed, ArraysAndTensorsArePacked) {
  using T = TypeParam;
  constexpr int bits = sizeof_bits_v<T>;
  array_subbyte<T, 14> a;
  EXPECT_EQ(int(sizeof_bits<decltype(a)>::value), (14 * bits + 7) / 8 * 8);
  fill(a, value_of<T>(5));
  for (int i = 0; i < int(a.size()); ++i) {
    EXPECT_TRUE(T(a[std::size_t(i)]) == value_of<T>(5));
    a[std::size_t(i)] = value_of<T>(i);
    EXPECT_TRUE(T(a[std::size_t(i)]) == value_of<T>(i));
  }
  clear(a);
  for (int i = 0; i < int(a.size()); ++i) EXPECT_TRUE(T(a[std::size_t(i)]) == value_of<T>(0));
  auto t = make_tensor<T>(Layout<Shape<_3, _5>, Stride<_5, _1>>{});
  for (int i = 0; i < 15; ++i) t(i) = value_of<T>(3 * i + 1);
  auto u = t;  // deep
  t(1, 2) = value_of<T>(0);
  EXPECT_TRUE(T(u(1, 2)) == value_of<T>(3 * (1 + 3 * 2) + 1));
  auto row = u(2, _);
  for (int n = 0; n < 5; ++n) EXPECT_TRUE(T(row(n)) == value_of<T>(3 * (2 + 3 * n) + 1));
  auto w = make_tensor<T>(Shape<_3, _5>{});
  copy(u, w);
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(T(w(i)) == T(u(i)));
}
// A copy by vectors moves bytes; the elements come out the same.
TEST(PackedCopy, ByBytes) {
  std::vector<unsigned char> from(64), to(64);
  for (int i = 0; i < 64; ++i) from[std::size_t(i)] = static_cast<unsigned char>(i * 29 + 3);
  auto check = [&](auto sl, auto dl) {
    std::memset(to.data(), 0, 64);
    auto s = make_tensor(make_gmem_ptr<int4b_t>(from.data()), sl);
    auto d = make_tensor(make_smem_ptr<int4b_t>(to.data()), dl);
    copy(AutoVectorizingCopyWithAssumedAlignment<32>{}, s, d);
    for (int i = 0; i < int(size(sl)); ++i) EXPECT_TRUE(int4b_t(s(i)) == int4b_t(d(i)));
  };
  check(Layout<Shape<_8, _4>>{}, Layout<Shape<_8, _4>>{});
  check(Layout<Shape<_8, _4>, Stride<_4, _1>>{}, Layout<Shape<_8, _4>>{});
  check(Layout<Shape<_8, _4>, Stride<_1, _24>>{}, Layout<Shape<_8, _4>, Stride<_1, _8>>{});
  check(Layout<Shape<_7, _3>, Stride<_1, _7>>{}, Layout<Shape<_7, _3>, Stride<_1, _7>>{});
}
TEST(PackedValues, WrapAndKeepTheirSign) {
  for (int v = -40; v < 40; ++v) {
    EXPECT_EQ(int(int4b_t(v)), ((v + 8) % 16 + 16) % 16 - 8);
    EXPECT_EQ(unsigned(uint4b_t(v)), unsigned((v % 16 + 16) % 16));
    EXPECT_EQ(int(int2b_t(v)), ((v + 2) % 4 + 4) % 4 - 2);
    EXPECT_EQ(unsigned(uint1b_t(v)), unsigned(v & 1));
  }
  EXPECT_TRUE(int4b_t(-3) < int4b_t(2));
  EXPECT_TRUE(uint4b_t(13) > uint4b_t(2));
}
// Algorithms compute with the values of packed elements.
TEST(PackedAlgorithms, ComputeWithValues) {
  auto a = make_tensor<int4b_t>(Shape<_2, _3>{});
  auto b = make_tensor<int4b_t>(Shape<_2, _3>{});
  auto c = make_tensor<int>(Shape<_2, _2>{});
  for (int i = 0; i < 6; ++i) a(i) = i - 3, b(i) = 2 - i;
  fill(c, 1);
  gemm(a, b, c);
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      int sum = 1;
      for (int k = 0; k < 3; ++k) sum += int(int4b_t(a(m, k))) * int(int4b_t(b(n, k)));
      EXPECT_EQ(c(m, n), sum);
    }
  }
  EXPECT_EQ(reduce(a, 0), -3);
  transform(a, [](int4b_t x) { return int4b_t(x + 1); });
  EXPECT_EQ(reduce(a, 0), 3);
  axpby(1, a, -1, b);
  EXPECT_EQ(int(int4b_t(b(5))), 3 - (2 - 5));
  int4b_t x = 3;
  EXPECT_TRUE(x == 3 && x < 4L && int4b_t(Int<3>{}) == x && x + x == 6);
}
TEST(PackedPointers, RecastKeepsTheBitAddress) {
  unsigned char bytes[16] = {0x21, 0x43, 0x65, 0x87};
  auto const p = make_gmem_ptr<uint4b_t>(bytes);
  EXPECT_EQ(unsigned(uint4b_t(p[3])), 4u);
  EXPECT_EQ(raw_pointer_cast(p + 2), reinterpret_cast<uint4b_t*>(bytes + 1));
  EXPECT_EQ(*recast_ptr<unsigned char>(p + 4), 0x65);
  EXPECT_EQ(unsigned(uint2b_t(recast_ptr<uint2b_t>(p + 3)[1])), 1u);
  auto const t = recast<uint2b_t>(make_tensor(p, Shape<_4, _2>{}));
  EXPECT_EQ(int(size(t)), 16);
  EXPECT_EQ(unsigned(uint2b_t(t(5))), 0u);  // of 0x43: 3, 0, 0, 1
  EXPECT_EQ(unsigned(uint2b_t(t(7))), 1u);
  auto const c = recast<unsigned char const>(make_tensor(p, Shape<_4, _2>{}));
  EXPECT_EQ(c(3), 0x87);
}
// One stored element for two logical ones.
TEST(Sparse, PointersStepInLogicalElements) {
  sparse_elem<2, int> stored[8];
  for (int i = 0; i < 8; ++i) stored[i] = sparse_elem<2, int>(i);
  auto const p = make_sparse_ptr<2>(&stored[0]);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(p[i].elem_, i / 2);
  EXPECT_EQ((p + 6)[1].elem_, 3);
  EXPECT_THROW(p + 3, LayoutError);
  EXPECT_EQ((sizeof_bits_v<sparse_elem<2, int>>), 16);
  EXPECT_EQ(recast_ptr<int>(p + 4)[0], 2);
  auto const g = make_gmem_ptr<sparse_elem<2, int>>(static_cast<void*>(stored));
  static_assert(is_sparse_ptr_v<decltype(make_gmem_ptr<sparse_elem<2, int>>(static_cast<void*>(nullptr)))>);
  EXPECT_EQ(g[9].elem_, 4);
}

}  // namespace
}  // namespace zellige
