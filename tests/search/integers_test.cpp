// `equal` on integers: sums and products modulo a power of two, and casts between dtypes of different ranges.
#include "expect_equal.hpp"

namespace zellige::search::test {
namespace {

using graph::DType;

/// Expects this answer for f(x, y) and g(x, y), where x and y are integers of 4 x 6.
template <class F, class G>
void expect_of_integers(Answer answer, DType dtype, const F& f, const G& g) {
  const auto graph_of = [&](const auto& body) {
    Builder b("g");
    const TensorHandle x = b.input("x", {4, 6}, dtype), y = b.input("y", {4, 6}, dtype);
    b.output(body(x, y), "z");
    return b.build();
  };
  expect(answer, graph_of(f), graph_of(g));
}

TensorHandle same(TensorHandle x, TensorHandle) { return 1.0 * x; }

/// Returns a function that casts x to these dtypes in order.
auto through(std::vector<DType> dtypes) {
  return [=](TensorHandle x, TensorHandle) {
    for (const DType d : dtypes) x = cast(x, d);
    return x;
  };
}

TEST(EqualIntegers, LawsOfARingHoldThoughSumsWrap) {
  for (const DType dtype : {DType::int8, DType::int32, DType::int64}) {
    expect_of_integers(Answer::equal, dtype, same, [](TensorHandle x, TensorHandle) { return 2.0 * x - x; });
    expect_of_integers(
        Answer::equal, dtype, [](TensorHandle x, TensorHandle y) { return square(x + y); },
        [](TensorHandle x, TensorHandle y) { return square(x) + square(y) + 2.0 * (x * y); });
    // Twice the maximum is the maximum of twice the numbers only where nothing wraps.
    expect_of_integers(
        Answer::different, dtype, [](TensorHandle x, TensorHandle y) { return 2.0 * maximum(x, y); },
        [](TensorHandle x, TensorHandle y) { return maximum(2.0 * x, 2.0 * y); });
  }
}

TEST(EqualIntegers, CastsKeepWhatTheDtypeHolds) {
  for (const DType narrow : {DType::int8, DType::uint8, DType::int16, DType::boolean})
    expect_of_integers(Answer::different, DType::int32, same, through({narrow, DType::int32}));
  expect_of_integers(Answer::different, DType::int64, same, through({DType::int32, DType::int64}));
  expect_of_integers(Answer::different, DType::int32, through({DType::uint8, DType::int32}),
                     through({DType::int8, DType::int32}));
  expect_of_integers(Answer::equal, DType::int32, through({DType::uint8, DType::int8}), through({DType::int8}));
  expect_of_integers(Answer::equal, DType::int32, same, through({DType::int64, DType::int32}));
  for (const DType narrow : {DType::int8, DType::uint8, DType::int16, DType::boolean})
    expect_of_integers(Answer::equal, DType::int32, through({narrow, DType::int32, narrow, DType::int32}),
                       through({narrow, DType::int32}));
}

TEST(EqualIntegers, ABoolIsWhetherANumberIsNotZero) {
  const auto nonzero = [](TensorHandle x, TensorHandle) { return ne(x, 0.0); };
  expect_of_integers(Answer::equal, DType::int32, through({DType::boolean, DType::int32}), nonzero);
  expect_of_integers(Answer::equal, DType::f32, through({DType::boolean, DType::f32}), nonzero);
  expect_of_integers(Answer::different, DType::f32, through({DType::boolean, DType::f32}),
                     through({DType::int32, DType::f32}));
  expect_of_integers(Answer::different, DType::f32, through({DType::uint8, DType::f32}),
                     through({DType::int8, DType::f32}));
}

}  // namespace
}  // namespace zellige::search::test
