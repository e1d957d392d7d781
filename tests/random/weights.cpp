// Linear layers whose weights have 4 or 8 bits: any number of rows and columns, K of whole groups, a scale for each row or
// group, with and without zero points, and at times a bias, an activation, a residual, or a second layer as a gate.
#include <cmath>

#include "generate.hpp"

namespace zellige::random_graphs {

graph::KernelGraph random_weights(std::uint64_t seed) {
  using graph::DType;
  using graph::TensorHandle;
  Rng rng(seed * 6007 + 29);
  graph::Builder b(fmt::format("weights_{}", seed));
  const DType wide = rng.chance(50) ? DType::f16 : DType::bf16;
  const DType narrow = rng.pick(std::vector<DType>{DType::uint4, DType::uint4, DType::int4, DType::int4, DType::e2m1,
                                                   DType::int8, DType::e4m3, DType::e5m2});
  const std::int64_t group = rng.pick(std::vector<std::int64_t>{0, 32, 64, 128, 128, 256});
  const std::int64_t unit = group > 0 ? group : rng.pick(std::vector<std::int64_t>{2, 32, 64});
  const std::int64_t k = unit * rng.between(1, std::max<std::int64_t>(2, 768 / unit)),
                     rows = rng.chance(40) ? rng.between(1, 64) : rng.between(65, 330), n = rng.between(1, 330);
  const bool groups = group > 0 && rng.chance(90);
  const graph::Shape per = groups ? graph::Shape{n, k / group, 1} : graph::Shape{n, 1};
  const auto constant = [&](std::string name, const graph::Shape& shape, DType dtype) {
    return rng.chance(70) ? b.constant(std::move(name), shape, dtype) : b.input(std::move(name), shape, dtype);
  };
  const TensorHandle x = b.input("X", {rows, k}, wide);
  const bool zeros = rng.chance(40), scales = rng.chance(90);
  const auto product = [&](const std::string& suffix) {
    TensorHandle w = cast(constant("W" + suffix, {n, k}, narrow), wide);
    if (groups) w = reshape(w, {n, k / group, group});
    if (zeros) w = w - constant("Z" + suffix, per, wide);
    if (scales) w = w * constant("S" + suffix, per, wide);
    if (groups) w = reshape(w, {n, k});
    return matmul(x, permute(w, {1, 0}));
  };
  TensorHandle y = product("");
  if (rng.chance(30)) y = y + constant("B", {n}, wide);
  if (rng.chance(20)) y = silu(y);
  if (rng.chance(15)) y = y * product("2");
  if (rng.chance(15)) y = b.input("R", {rows, n}, wide) + y;
  if (rng.chance(10)) y = y * b.input("P", {rows, 1}, wide);
  b.output(y, "Y");
  return b.build();
}

}  // namespace zellige::random_graphs
