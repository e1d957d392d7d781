// Strides are refused only if two elements share an address: shared_address() against an enumeration of all
// addresses.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "graph/builder.hpp"
#include "graph/infer.hpp"

namespace zellige::graph {
namespace {

std::int64_t address(const Shape& at, const Strides& strides) {
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < at.size(); ++d) sum += at[d] * strides[d];
  return sum;
}

bool all_differ(const Shape& shape, const Strides& strides) {
  std::set<std::int64_t> seen;
  Shape at(shape.size(), 0);
  for (std::int64_t i = 0; i < size(shape); ++i) {
    std::int64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    if (!seen.insert(address(at, strides)).second) return false;
  }
  return true;
}

// Law: the span is one more than the greatest address of an element, by enumeration.
TEST(Span, IsOneMoreThanTheGreatestAddress) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 1000; ++trial) {
    Shape shape(rng() % 4);
    Strides strides(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = 1 + rng() % 5, strides[d] = rng() % 30;
    std::int64_t greatest = 0;
    for (std::int64_t i = 0; i < size(shape); ++i)
      greatest = std::max(greatest, address(coordinates(i, shape), strides));
    EXPECT_EQ(span(shape, strides), greatest + 1) << to_string(shape) << ":" << to_string(strides);
  }
}

// Law: there is a pair exactly where brute force finds one, and its two coordinates differ, exist, and lie at one address.
TEST(Injective, AgreesWithBruteForce) {
  std::mt19937 rng(1);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(rng() % static_cast<unsigned>(n)); };
  int injective = 0, interleaved = 0, shared = 0;
  for (int trial = 0; trial < 60000; ++trial) {
    const auto rank = static_cast<std::size_t>(1 + below(4));
    const std::int64_t greatest[] = {4, 12, 40, 90};
    Shape shape;
    Strides strides;
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(1 + below(rank == 1 ? 30 : rank == 2 ? 20 : rank == 3 ? 9 : 6));
      strides.push_back(below(greatest[below(4)] * (below(3) == 0 ? 7 : 1)));
    }
    const auto pair = shared_address(shape, strides);
    ASSERT_EQ(!pair, all_differ(shape, strides)) << to_string(shape) << " " << to_string(strides);
    if (!pair) {
      ++injective;
      std::int64_t reach = 1;  // would the old rule, that strides nest, have refused it?
      std::vector<std::size_t> order;
      for (std::size_t d = 0; d < rank; ++d)
        if (shape[d] > 1) order.push_back(d);
      std::ranges::sort(order, {}, [&](std::size_t d) { return strides[d]; });
      bool nests = true;
      for (std::size_t d : order) nests = nests && strides[d] >= reach, reach += (shape[d] - 1) * strides[d];
      interleaved += !nests;
      continue;
    }
    ++shared;
    ASSERT_NE(pair->first, pair->second);
    for (const Shape& at : {pair->first, pair->second})
      for (std::size_t d = 0; d < rank; ++d) ASSERT_TRUE(at[d] >= 0 && at[d] < shape[d]);
    ASSERT_EQ(address(pair->first, strides), address(pair->second, strides))
        << to_string(shape) << " " << to_string(strides);
  }
  EXPECT_GT(injective, 5000);
  EXPECT_GT(interleaved, 1000);
  EXPECT_GT(shared, 5000);
}

// Large tensors whose strides do not nest, of each rank: decided, whichever way. Element by element it would end at
// CTest's limit of time, or of memory.
TEST(Injective, DecidesWhateverTheExtents) {
  EXPECT_FALSE(shared_address({128, 17}, {129, 128}));
  EXPECT_FALSE(shared_address({1 << 19, (1 << 19) - 1}, {(1 << 19) - 1, 1 << 19}));
  EXPECT_TRUE(shared_address({(1 << 19) + 1, 1 << 19}, {(1 << 19) - 1, 1 << 19}));
  EXPECT_FALSE(shared_address({1 << 10, 1 << 10, 1 << 10}, {1 << 20, (1 << 20) + (1 << 10), (1 << 20) + 1}));
  EXPECT_TRUE(shared_address({8000, 8000, 8000}, {1000003, 1000033, 1000037}));
  std::mt19937_64 rng(2);
  for (int i = 0; i < 20; ++i) {
    Strides s;
    for (int d = 0; d < 4; ++d) s.push_back(static_cast<std::int64_t>(1 + rng() % ((1ull << 28))));
    shared_address({1000, 1000, 1000, 1000}, s);
  }
}

// Legal strides pass, and any stride is legal for an extent of 1.
TEST(Injective, ValidateTakesWhatIsLegal) {
  for (const auto& [shape, strides] : std::vector<std::pair<Shape, Strides>>{
           {{128, 17}, {129, 128}}, {{4, 1, 8}, {8, 0, 1}}, {{1, 64}, {-5, 1}}, {{1, 1}, {0, 0}}, {{3, 1}, {1, 1}}}) {
    Builder b("g");
    b.output(exp(b.input("X", shape, DType::f16, strides)), "Y", strides);
    EXPECT_NO_THROW(validate(b.build())) << to_string(strides);
  }
}

}  // namespace
}  // namespace zellige::graph
