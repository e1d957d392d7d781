// Random graphs over ranks, and a second definition of the collectives: by elements.
#pragma once
#include <functional>

#include "../random/rng.hpp"
#include "graph/builder.hpp"
#include "graph/collective.hpp"
#include "reference/array.hpp"

namespace zellige::test {

using graph::OpKind, graph::Shape, graph::TensorHandle;
using random_graphs::Rng;

/// A graph of elementwise operators, products and collectives on matrices. `least`: collectives that it has at least.
inline graph::KernelGraph random_over_ranks(Rng& rng, int ranks, graph::DType dtype, int low) {
  graph::Builder b("ranks", ranks);
  int weights = 0, collectives = 0;
  std::vector<TensorHandle> pool;
  for (int i = 0; i < 2; ++i)
    pool.push_back(b.input(fmt::format("x{}", i), {ranks * rng.between(1, 3), ranks * rng.between(1, 3)}, dtype));
  TensorHandle x = pool[0];
  for (int step = 0; step < 12 && (step < 4 || collectives < low); ++step) {
    if (rng.chance(30)) x = rng.pick(pool);
    const Shape s = x.shape();
    const int dim = static_cast<int>(rng.below(2));
    const auto divided = [&](int d) { return s[static_cast<std::size_t>(d)] % ranks == 0; };
    const auto small = [&](int d) { return s[static_cast<std::size_t>(d)] * ranks <= 64; };
    const std::int64_t which = rng.below(10);
    if (which == 0) {
      x = maximum(x, 0.0) + 1.0;
    } else if (which == 1) {
      x = matmul(x, b.input(fmt::format("w{}", weights++), {s[1], ranks * rng.between(1, 3)}, dtype));
    } else if (which == 2) {
      x = x - reshape(cast(b.rank(), dtype), {1, 1}), ++collectives;
    } else if (which == 3) {
      x = all_reduce_max(x), ++collectives;
    } else if (which == 4 && small(dim)) {
      x = all_gather(x, dim), ++collectives;
    } else if (which == 5 && divided(dim)) {
      x = reduce_scatter(x, dim), ++collectives;
    } else if (which == 6 && divided(dim) && small(1 - dim)) {
      x = all_to_all(x, dim, rng.chance(70) ? 1 - dim : dim), ++collectives;
    } else if (which == 7) {
      x = broadcast(x, static_cast<int>(rng.below(ranks))), ++collectives;
    } else {
      x = all_reduce(x), ++collectives;
    }
    pool.push_back(x);
  }
  b.output(x * 2.0, "y");
  return b.build();
}

/// What the ranks have of a tensor before a collective, and after it. Element by element, as collective.hpp says it.
inline std::vector<reference::Array> collective(const graph::KernelOp& op, const std::vector<reference::Array>& x) {
  const auto ranks = static_cast<std::int64_t>(x.size());
  std::vector<reference::Array> y(x.size());
  const auto element = [&](const reference::Array& a, const Shape& at) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < at.size(); ++d) index = index * a.shape[d] + at[d];
    return a.values.at(static_cast<std::size_t>(index));
  };
  const auto fill = [&](const Shape& shape, const std::function<double(std::int64_t, Shape)>& value) {
    for (std::int64_t r = 0; r < ranks; ++r) {
      y[static_cast<std::size_t>(r)] = reference::make_array(shape);
      for (std::int64_t i = 0; i < graph::size(shape); ++i)
        y[static_cast<std::size_t>(r)].values[static_cast<std::size_t>(i)] = value(r, graph::coordinates(i, shape));
    }
  };
  const auto sum = [&](const Shape& at) {
    double all = 0;
    for (const reference::Array& a : x) all += element(a, at);
    return all;
  };
  Shape shape = x.at(0).shape;
  const auto dim = static_cast<std::size_t>(std::max(op.attributes.dim, 0));
  const std::int64_t n = shape[dim];
  const auto of = [&](std::int64_t r) -> const reference::Array& { return x[static_cast<std::size_t>(r)]; };
  switch (op.kind) {
    case OpKind::all_reduce:
      fill(shape, [&](std::int64_t, const Shape& at) { return sum(at); });
      break;
    case OpKind::all_reduce_max:
      fill(shape, [&](std::int64_t, const Shape& at) {
        double high = element(x[0], at);
        for (const reference::Array& a : x) high = std::max(high, element(a, at));
        return high;
      });
      break;
    case OpKind::all_gather:
      shape[dim] *= ranks;
      fill(shape, [&](std::int64_t, Shape at) {
        const std::int64_t from = at[dim] / n;
        at[dim] %= n;
        return element(of(from), at);
      });
      break;
    case OpKind::reduce_scatter:
      shape[dim] /= ranks;
      fill(shape, [&](std::int64_t r, Shape at) { return at[dim] += r * (n / ranks), sum(at); });
      break;
    case OpKind::all_to_all: {
      const auto split = static_cast<std::size_t>(op.attributes.sizes[0]),
                 joined = static_cast<std::size_t>(op.attributes.sizes[1]);
      const std::int64_t each = shape[split] / ranks;
      shape[split] /= ranks;
      const std::int64_t part = shape[joined];
      shape[joined] *= ranks;
      fill(shape, [&](std::int64_t r, Shape at) {
        const std::int64_t from = at[joined] / part;
        at[joined] %= part;
        at[split] += r * each;
        return element(of(from), at);
      });
      break;
    }
    case OpKind::broadcast:
      fill(shape, [&](std::int64_t, const Shape& at) { return element(of(op.attributes.start), at); });
      break;
    default:
      break;
  }
  return y;
}

}  // namespace zellige::test
