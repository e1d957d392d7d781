// bit_field, MixedBits, ratios, arrays, lists of types, bits of numbers: against their definitions.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <cute/container/alignment.hpp>
#include <cute/container/array_aligned.hpp>
#include <cute/container/array_subbyte.hpp>
#include <cute/container/bit_field.hpp>
#include <cute/container/type_list.hpp>
#include <cute/numeric/complex.hpp>
#include <cute/numeric/integral_ratio.hpp>
#include <cute/swizzle_layout.hpp>
#include <numeric>
#include <random>

using namespace cute;

namespace {

// Every bit of the array outside the field stays as it was.
template <int Start, int Bits>
void expect_field() {
  using Field = bit_field<Start, Bits>;
  std::mt19937_64 random(Start * 100 + Bits);
  for (int round = 0; round < 4; ++round) {
    Field f;
    unsigned char before[sizeof f.data_], after[sizeof f.data_];
    for (auto& word : f.data_) word = static_cast<typename Field::storage_type>(random());
    std::memcpy(before, f.data_, sizeof before);
    std::uint64_t const value = random() & (~0ull >> (64 - Bits));
    f = static_cast<typename Field::value_type>(value);
    EXPECT_EQ(std::uint64_t(f), value);
    std::memcpy(after, f.data_, sizeof after);
    for (int bit = 0; bit < int(8 * sizeof before); ++bit) {
      bool const is = after[bit / 8] >> bit % 8 & 1, was = before[bit / 8] >> bit % 8 & 1;
      bool const inside = bit >= Start && bit < Start + Bits;
      EXPECT_EQ(is, inside ? bool(value >> (bit - Start) & 1) : was) << Start << '+' << Bits << " bit " << bit;
    }
  }
}
TEST(CompatContainer, BitFieldsLeaveTheirNeighboursAlone) {
  for_each(make_int_range<0, 9>{}, [](auto i) { expect_field<8 * i + 3, 5>(); });
  for_each(make_int_range<1, 65>{}, [](auto n) { expect_field<61, n>(); });
  bit_field<13, 32, float> f{};
  f = 2.75f;
  EXPECT_EQ(float(f), 2.75f);
}

// Bit by bit, a MixedBits is what the numbers are, and its static bits are those that no run-time bit can
// change.
template <class M>
std::pair<unsigned, unsigned> known(M const&) {
  return {unsigned(M::value), 0u};
}
template <unsigned S, unsigned F>
std::pair<unsigned, unsigned> known(MixedBits<S, F> const&) {
  return {S, F};
}
template <class A, class B, class F>
void expect_mixed(A const& a, B const& b, F const& f) {
  auto const r = f(a, b);
  EXPECT_EQ(unsigned(r), f(unsigned(a), unsigned(b)));
  auto const [ones, open] = known(r);
  EXPECT_EQ(unsigned(r) & ~open, ones) << "a bit that is not open is not what was promised";
}
TEST(CompatContainer, MixedBits) {
  std::mt19937 random(1);
  auto round = [&](auto s0, auto f0, auto s1, auto f1) {
    for (int i = 0; i < 8; ++i) {
      auto const a = make_mixed_bits(s0, random(), f0);
      auto const b = make_mixed_bits(s1, random(), f1);
      expect_mixed(a, b, [](auto x, auto y) { return x & y; });
      expect_mixed(a, b, [](auto x, auto y) { return x | y; });
      expect_mixed(a, b, [](auto x, auto y) { return x ^ y; });
      expect_mixed(a, s1, [](auto x, auto y) { return x & y; });
      expect_mixed(a, s1, [](auto x, auto y) { return x | y; });
      expect_mixed(s1, a, [](auto x, auto y) { return x ^ y; });
      EXPECT_EQ(unsigned(shiftl(a, _2{})), unsigned(a) << 2);
      EXPECT_EQ(unsigned(shiftr(a, _1{})), unsigned(a) >> 1);
    }
  };
  round(Int<0b0011>{}, Int<0b1100>{}, Int<0b0101>{}, Int<0b1010>{});
  round(Int<0b1111>{}, Int<0b11110000>{}, Int<0b0>{}, Int<0b111>{});
  round(Int<0>{}, Int<0b10101>{}, Int<0b101>{}, Int<0b1010000>{});
  // The offset of a coordinate of which one number is static.
  auto const layout = Layout<Shape<_8, _8>, Stride<_8, _1>>{};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(unsigned(to_mixed_bits(layout, make_coord(i, _3{}))), unsigned(layout(i, 3)));
  static_assert(std::is_same_v<decltype(to_mixed_bits(layout, make_coord(0, _3{}))), MixedBits<3, 56>>);
  static_assert(decltype(max_alignment(to_mixed_bits(layout, make_coord(0, _4{}))))::value == 4);
}

TEST(CompatContainer, SwizzleOfALayoutGoesToTheLeft) {
  auto const a = Layout<Shape<_8, _8>, Stride<_8, _1>>{};
  auto const swizzle = Swizzle<2, 0, 3>{};
  auto const r = composition(a, swizzle);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(r(i), a(swizzle(i))) << i;
  auto const b = composition(swizzle, Layout<Shape<_8, _8>, Stride<_1, _8>>{});
  auto const ab = composition(a, b);
  auto const bb = composition(b, b);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(ab(i), a(b(i)));
    EXPECT_EQ(bb(i), b(b(i)));
  }
}

// L(R(L(i))) = L(i) where the one mode counts down.
TEST(CompatContainer, LeftInverseOfANegativeStride) {
  auto const check = [](auto l) {
    auto const r = left_inverse(l);
    for (int i = 0; i < int(size(l)); ++i) EXPECT_EQ(r(l(i)), i);
  };
  check(Layout<_4, Int<-1>>{});
  check(Layout<_5, Int<-3>>{});
}

TEST(CompatContainer, Ratios) {
  static_assert(std::is_same_v<decltype(ratio(_16{}, _32{})), R<1, 2>>);
  static_assert(std::is_same_v<decltype(ratio(_32{}, _16{})), _2>);
  static_assert(std::is_same_v<decltype(nratio(_16{}, _32{})), R<16, 32>>);
  static_assert(R<6, -4>::num == -3 && R<6, -4>::den == 2);
  static_assert(std::is_same_v<decltype(R<1, 2>{} * R<2, 3>{}), R<1, 3>>);
  static_assert(std::is_same_v<decltype(R<1, 2>{} + R<1, 2>{}), C<1>>);
  static_assert(decltype(R<2, 4>{} == R<1, 2>{})::value && !decltype(R<1, 2>{} == _1{})::value);
  static_assert(std::is_same_v<decltype(_8{} * R<3, 4>{}), C<6>>);
  EXPECT_EQ(12 * (R<3, 4>{}), 9);
  EXPECT_EQ(12 / (R<3, 4>{}), 16);
  static_assert(log_2(R<8, 2>{}) == 2);
  static_assert(std::is_same_v<decltype(trait_ratio(sizeof_bits<char>{}, sizeof_bits<int>{})), R<8, 32>>);
}

TEST(CompatContainer, BitsOfNumbers) {
  static_assert(std::is_same_v<decltype(bit_floor(Int<24>{})), _16> && std::is_same_v<decltype(bit_floor(_0{})), _0>);
  static_assert(std::is_same_v<decltype(bit_ceil(Int<24>{})), _32> && std::is_same_v<decltype(bit_ceil(_0{})), _1>);
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    unsigned const x = unsigned(random()) >> random() % 32;
    EXPECT_EQ(cute::bit_width(x), std::bit_width(x));
    EXPECT_EQ(cute::popcount(x), std::popcount(x));
    EXPECT_EQ(cute::countl_zero(x), std::countl_zero(x));
    EXPECT_EQ(cute::countr_zero(x), std::countr_zero(x));
    EXPECT_EQ(cute::countl_one(x), std::countl_one(x));
    EXPECT_EQ(cute::countr_one(x), std::countr_one(x));
    EXPECT_EQ(cute::has_single_bit(x), std::has_single_bit(x));
    EXPECT_EQ(cute::bit_floor(x), std::bit_floor(x));
    if (x <= 1u << 31) EXPECT_EQ(cute::bit_ceil(x), std::bit_ceil(x));
    int const n = int(random() % 65) - 32;
    EXPECT_EQ(cute::rotl(x, n), std::rotl(x, n)) << x << ' ' << n;
    EXPECT_EQ(cute::rotr(x, n), std::rotr(x, n)) << x << ' ' << n;
    unsigned const y = 1 + unsigned(random() % 1000);
    auto const d = divmod(x, y);
    EXPECT_EQ(d.div_ * y + d.mod_, x);
    EXPECT_EQ(cute::lcm(int(x % 1000), int(y)), std::lcm(int(x % 1000), int(y)));
  }
}

TEST(CompatContainer, Arrays) {
  array<int, 3> a{1, 2, 3};
  EXPECT_EQ(reverse(a), (array<int, 3>{3, 2, 1}));
  EXPECT_EQ(get<2>(a), 3);
  static_assert(array<int, 0>{}.size() == 0 && array<int, 0>{}.empty());
  static_assert(tuple_size<array<float, 5>>::value == 5 && std::is_same_v<tuple_element_t<1, array<float, 5>>, float>);
  fill(a, 7);
  EXPECT_EQ(fold(a, 0, plus{}), 21);
  static_assert(alignof(array_aligned<char, 3>) == 16 && alignof(array_aligned<char, 3, 64>) == 64);
  static_assert(alignof(aligned_struct<128>) == 128);
  alignas(16) char bytes[32];
  EXPECT_TRUE(is_byte_aligned<16>(bytes));
  EXPECT_FALSE(is_byte_aligned<16>(bytes + 8));
}

TEST(CompatContainer, TypeLists) {
  using List = type_list<char, int, float, int>;
  static_assert(std::is_same_v<decltype(get<2>(List{})), float>);
  static_assert(decltype(find<int>(List{}))::value == 1 && decltype(find<double>(List{}))::value == 4);
  static_assert(find_true_v<false, false, true, true> == 2 && find_true_v<false> == 1);
  static_assert(std::tuple_size_v<List> == 4 && std::is_same_v<std::tuple_element_t<0, List>, char>);
}

TEST(CompatContainer, ArraysSwap) {
  array<int, 3> a{{1, 2, 3}}, b{{4, 5, 6}};
  a.swap(b);
  EXPECT_EQ(a, (array<int, 3>{{4, 5, 6}}));
  EXPECT_EQ(b, (array<int, 3>{{1, 2, 3}}));
  static_assert(std::is_same_v<subbyte_storage_type_t<int4_t>, uint8_t>);
  static_assert(array_subbyte<int4_t, 5>::StorageElements == 3);
}

TEST(CompatContainer, ComplexNumbers) {
  complex<double> const z(1, 2), w(3, -1);
  EXPECT_EQ(z * w, (complex<double>(5, 5)));
  EXPECT_EQ(z * w / w, z);
  EXPECT_EQ(z * conj(z), (complex<double>(norm(z), 0)));
  complex<double> c(1, 1);
  fma(z, w, c);
  EXPECT_EQ(c, (complex<double>(6, 6)));
  static_assert(is_complex_v<complex<float>> && !is_complex_v<float>);
  static_assert(std::is_same_v<RealType<complex<float>>::Type, float>);
}

}  // namespace
