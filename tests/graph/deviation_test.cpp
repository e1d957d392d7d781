#include "reference/deviation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zellige::graph {
namespace {

TEST(Deviation, IsByElementByRowInScaleAndInNorm) {
  const reference::Array expected{{2, 2}, {3, 4, 0, 5}}, found{{2, 2}, {3, 1, 4, 2}};
  const reference::Deviation d = reference::deviation(found, expected);
  EXPECT_EQ(d.elements, (std::vector<double>{0, 3, 4, 3}));
  EXPECT_EQ(d.rows, (std::vector<double>{3, 5}));
  EXPECT_DOUBLE_EQ(d.scale, (3 * 4 + 3 * 5) / 50.0);
  EXPECT_DOUBLE_EQ(d.norm, std::sqrt(34 / 50.0));
}

TEST(Deviation, OfANaNIsThatOfItsElementAlone) {
  const reference::Array expected{{1, 3}, {1, NAN, INFINITY}}, found{{1, 3}, {NAN, NAN, INFINITY}};
  const reference::Deviation d = reference::deviation(found, expected);
  EXPECT_EQ(d.elements, (std::vector<double>{INFINITY, 0, 0}));
  EXPECT_EQ(d.rows, (std::vector<double>{0}));
  EXPECT_EQ(d.scale, 0);
}

TEST(Deviation, OfAFactorIsTheFactor) {
  reference::Array expected = reference::make_array({4, 8}), found = expected;
  for (std::size_t i = 0; i < 32; ++i) expected.values[i] = std::sin(i), found.values[i] = 0.75 * std::sin(i);
  EXPECT_NEAR(reference::deviation(found, expected).scale, 0.25, 1e-15);
}

TEST(Deviation, CloseIsOneStepOfAnElementAndTheOmittedRoundings) {
  const reference::Array expected{{1, 2}, {1, 0}}, rounded{{1, 2}, {1.125, 0.125}};
  const reference::Deviation own = reference::close_by(expected, DType::e5m2, nullptr),
                             more = reference::close_by(expected, DType::e5m2, &rounded);
  EXPECT_DOUBLE_EQ(own.elements[0], 0.25);
  EXPECT_DOUBLE_EQ(own.elements[1], std::max(3e-5 * std::sqrt(0.5), 3 * 0x1p-16));
  EXPECT_DOUBLE_EQ(more.elements[0], 0.25 + 5 * 0.125);
  EXPECT_DOUBLE_EQ(more.rows[0], own.rows[0] + 2 * std::sqrt(2) * 0.125);
  EXPECT_DOUBLE_EQ(more.scale, own.scale + 0.125 + 5 * std::sqrt(2) * 0.125);
}

}  // namespace
}  // namespace zellige::graph
