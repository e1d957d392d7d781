#include "generate.hpp"

#include <algorithm>
#include <set>

namespace zellige::random_graphs {
namespace {

constexpr std::int64_t max_elements = 12000;  // of a tensor

/// One pre-defined operator at the kernel level.
class KernelStep {
 public:
  explicit KernelStep(RandomBuilder& make) : m_(make), rng_(make.rng) {}

  void run() {
    static const std::vector<OpKind> rest = {OpKind::matmul, OpKind::reduction, OpKind::rms_norm, OpKind::concat,
                                             OpKind::split};
    if (rng_.chance(18)) return line(operand());
    if (rng_.chance(14)) return view(operand());
    if (rng_.chance(12)) return rows(operand());
    if (rng_.chance(4)) return mask(operand());
    if (rng_.chance(7)) return rotary(operand());
    KernelValue x = operand();
    const std::int64_t which = rng_.below(20);
    if (which < 8) return push(unary(rng_, rng_.pick(unary_operators()), x));
    if (which < 15) return push(combined(rng_, x, [&] { return partner(x); }));
    other(rest[which - 15], x);
  }

 private:
  KernelValue operand() {
    if (!m_.pool.empty() && rng_.chance(75)) return m_.pool.back();
    Shape shape;
    const std::int64_t rank = rng_.between(1, 4);
    std::int64_t left = 6000;
    if (rng_.chance(8))
      return m_.input({rng_.between(1, 3), rng_.pick(std::vector<std::int64_t>{4099, 2053, 4096, 4104, 3001, 5120})});
    for (std::int64_t d = 0; d < rank; ++d)
      shape.push_back(m_.extent(std::min<std::int64_t>(left, d + 2 < rank ? 5 : 130))), left /= shape.back();
    return m_.input(shape);
  }
  void push(KernelValue v) { m_.pool.push_back(v); }

  void view(const KernelValue& x) {
    const Shape shape = x.shape();
    const int rank = static_cast<int>(shape.size()), dim = static_cast<int>(rng_.below(rank));
    switch (rng_.below(4)) {
      case 0: {
        std::vector<std::int64_t> dims;
        for (int d = 0; d < rank; ++d) dims.push_back(d);
        rng_.shuffle(dims);
        return push(derived(x, graph::permute(x.at, dims)));
      }
      case 1: {  // the same factors in other dimensions
        Shape to;
        std::int64_t left = graph::size(shape);
        for (std::int64_t p = 2; left > 1; ++p)
          for (; left % p == 0; left /= p)
            if (to.empty() || (static_cast<int>(to.size()) < 4 && rng_.chance(40)))
              to.push_back(p);
            else
              to.back() *= p;
        if (to.empty()) to = {1};
        return push(derived(x, graph::reshape(x.at, to)));
      }
      case 2: {
        Shape to = shape;
        for (std::int64_t& e : to)
          if (e == 1) e = rng_.between(1, 5);
        if (rank < 4 && graph::size(to) < 3000 && rng_.chance(50)) to.insert(to.begin(), rng_.between(1, 3));
        return push(derived(x, graph::size(to) > max_elements ? -x.at : graph::expand(x.at, to)));
      }
      default: {
        const std::int64_t start = rng_.below(shape[dim]);
        return push(derived(x, graph::slice(x.at, dim, start, rng_.between(start + 1, shape[dim]))));
      }
    }
  }

  /// Gather and scatter by index: read, or written into a copy or into an input.
  void rows(KernelValue x) {
    if (graph::size(x.shape()) > 4000 || x.at.dtype() != m_.dtype) x = m_.input({rng_.between(2, 40), m_.extent(60)});
    const Shape shape = x.shape();
    const std::int64_t n = shape[0], row = graph::size(shape) / n;
    const std::int64_t maximum = std::max<std::int64_t>(1, std::min(n, max_elements / (2 * row)));
    const auto count = [&] { return rng_.between(1, maximum); };
    Shape numbers{count()};
    if (numbers[0] % 2 == 0 && shape.size() < 4 && rng_.chance(40)) numbers = {2, numbers[0] / 2};
    Shape part = shape;
    part.erase(part.begin());
    part.insert(part.begin(), numbers.begin(), numbers.end());
    const std::int64_t which = rng_.below(3);
    if (which == 0) return push(derived(x, graph::gather(x.at, m_.numbers(numbers))));
    const bool in_place = rng_.chance(40);
    if (in_place) x = m_.input(shape);
    graph::TensorHandle y;
    if (which == 1) {
      const KernelValue u = m_.input(part);
      y = graph::scatter(x.at, m_.numbers(numbers), u.at);
    } else {
      const int dim = static_cast<int>(rng_.below(static_cast<std::int64_t>(shape.size())));
      part = shape;
      part[static_cast<std::size_t>(dim)] = rng_.between(1, shape[static_cast<std::size_t>(dim)]);
      const KernelValue u = m_.input(part);
      y = rng_.chance(50)
              ? graph::slice_scatter(x.at, u.at, dim, m_.numbers({1}))
              : graph::slice_scatter(
                    x.at, u.at, dim,
                    rng_.below(shape[static_cast<std::size_t>(dim)] - part[static_cast<std::size_t>(dim)] + 1));
    }
    if (in_place) {  // the old value is unused from here on
      m_.builder.in_place(y, x.at);
      m_.placed.insert(y.index);
      std::erase_if(m_.pool, [&](const KernelValue& v) { return v.at.index == x.at.index; });
    }
    KernelValue v = derived(x, y);
    v.positive = v.bounded = false, v.vanishes = true;
    push(v);
  }

  void line(const KernelValue& x) {
    const int rank = static_cast<int>(x.shape().size());
    push(along(rng_, rng_.pick(line_operators()), x, static_cast<int>(rng_.below(rank)), rng_.chance(50)));
  }

  void rotary(const KernelValue& x) {
    Shape shape = x.shape();
    if (shape.back() % 2 != 0) return line(x);
    push(rotated(rng_, x, [&](const Shape& table) { return m_.input(table); }));
  }

  void mask(const KernelValue& x) {
    const Shape shape = x.shape();
    const int rank = static_cast<int>(shape.size());
    if (rank < 2) return line(x);
    std::vector<std::int64_t> dims{rank - 2, rank - 1};
    if (rng_.chance(40)) dims = {(dims[0] + 1) % rank, dims[0]};
    const auto [i, j] = std::pair{dims[0], dims[1]};
    if (j == rank - 1 && rng_.chance(50)) dims.clear();
    push(masked(rng_, x, shape[i], shape[j], static_cast<int>(j),
                [&](graph::TensorHandle t, const graph::Kept& kept, double value) {
                  if (rng_.chance(60)) return graph::mask(t, kept, value, dims);
                  Shape lengths = shape;
                  for (std::size_t d = 0; d < lengths.size(); ++d)
                    if (static_cast<std::int64_t>(d) == j || rng_.chance(40)) lengths[d] = 1;
                  return graph::mask(t, m_.numbers(lengths), kept, value, dims);
                }));
  }

  KernelValue partner(const KernelValue& x) {
    for (const KernelValue& v : m_.pool)
      if (v.at.index != x.at.index && v.shape() == x.shape() && rng_.chance(50)) return v;
    Shape shape = x.shape();
    for (std::int64_t& e : shape)
      if (rng_.chance(30)) e = 1;
    while (shape.size() > 1 && rng_.chance(20)) shape.erase(shape.begin());
    return m_.input(shape);
  }

  void other(OpKind kind, KernelValue x) {
    Shape shape = x.shape();
    const int rank = static_cast<int>(shape.size()), dim = static_cast<int>(rng_.below(rank));
    switch (kind) {
      case OpKind::matmul: {
        if (rank < 2) {
          shape = {m_.extent(40), m_.extent(40)};
          x = m_.input(shape);
        }
        x = tamed(rng_, x, 1);
        Shape other = shape;
        const std::size_t r = shape.size();
        other[r - 2] = shape[r - 1];
        other[r - 1] = m_.extent(std::max<std::int64_t>(
            1, std::min<std::int64_t>(100, max_elements / std::max(graph::size(shape) / shape[r - 1],
                                                                   graph::size(shape) / shape[r - 2]))));
        for (std::size_t d = 0; d + 2 < r; ++d)
          if (rng_.chance(20)) other[d] = 1;
        while (other.size() > 2 && rng_.chance(20)) other.erase(other.begin());
        if (rng_.chance(8)) other = {shape[r - 1]};
        graph::TensorHandle left = x.at;
        if (r == 2 && rng_.chance(8)) left = graph::reshape(graph::slice(left, 0, 0, 1), {shape[1]});
        KernelValue v =
            derived(x, product(rng_, left, m_.input(other).at, [&](const Shape& bias) { return m_.input(bias); }));
        v.positive = v.bounded = false, v.degree = x.degree + 1;
        return push(v);
      }
      case OpKind::reduction: {
        std::vector<std::int64_t> divisors;
        for (std::int64_t t = 1; t <= shape[dim]; ++t)
          if (shape[dim] % t == 0) divisors.push_back(t);
        KernelValue v = derived(x, graph::reduction(x.at, dim, rng_.chance(50) ? 1 : rng_.pick(divisors)));
        v.bounded = false, v.degree = std::max(2, v.degree);
        return push(v);
      }
      case OpKind::rms_norm: {
        return push(norm(rng_, x, [&](const Shape& line) { return m_.input(line); }));
      }
      case OpKind::concat: {
        std::vector<graph::TensorHandle> parts = {x.at};
        for (std::int64_t n = rng_.between(1, 2); n > 0; --n) {
          Shape other = shape;
          other[dim] = m_.extent(std::min<std::int64_t>(40, 2 * shape[dim] + 3));
          parts.push_back(m_.input(other).at);
        }
        rng_.shuffle(parts);
        KernelValue v = derived(x, graph::concat(parts, dim));
        v.positive = v.bounded = false, v.degree = std::max(1, x.degree);
        return push(v);
      }
      default: {
        int along = dim;
        for (int d = 0; d < rank; ++d)
          if (shape[along] < 2) along = d;
        if (shape[along] < 2) return push(derived(x, graph::mul_scalar(x.at, 1.5)));
        const std::int64_t first = rng_.between(1, shape[along] - 1);
        for (graph::TensorHandle t : graph::split(x.at, along, {first, shape[along] - first})) push(derived(x, t));
      }
    }
  }

  RandomBuilder& m_;
  Rng& rng_;
};

}  // namespace

std::int64_t RandomBuilder::extent(std::int64_t maximum) {
  static const std::vector<std::int64_t> primes = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31,  37,
                                                   41, 43, 47, 53, 61, 67, 71, 73, 79, 97, 101, 127};
  static const std::vector<std::int64_t> round = {1, 4, 8, 16, 24, 32, 48, 64, 96, 128};
  static const std::vector<std::int64_t> other = {6,  9,  10, 12, 14, 15, 18, 20, 21, 25, 27,
                                                  33, 34, 35, 36, 40, 45, 50, 63, 65, 72, 99};
  static const std::vector<std::int64_t> divided = {8, 16, 16, 32, 32, 48, 64, 80, 96, 128};
  const auto& from = whole && rng.chance(85) ? divided : rng.chance(40) ? primes : rng.chance(60) ? round : other;
  std::vector<std::int64_t> fits;
  for (std::int64_t e : from)
    if (e <= maximum) fits.push_back(e);
  return fits.empty() ? 1 : rng.pick(fits);
}

graph::Strides RandomBuilder::strides(const Shape& shape) {
  std::vector<int> order;  // fastest first
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) order.push_back(d);
  if (rng.chance(40)) return graph::row_major(shape);
  if (rng.chance(60)) rng.shuffle(order);
  graph::Strides result(shape.size());
  std::int64_t next = rng.chance(8) ? rng.between(2, 3) : 1;
  for (int d : order) {
    result[d] = next;
    next *= shape[d];
    if (rng.chance(30))
      next = (next + 7) / 8 * 8;
    else if (rng.chance(20))
      next += rng.between(1, 5);
  }
  return result;
}

KernelValue RandomBuilder::input(const Shape& shape) {
  KernelValue v;
  v.at = builder.input(fmt::format("X{}", inputs_++), shape, dtype, strides(shape));
  pool.push_back(v);
  return v;
}

graph::TensorHandle RandomBuilder::numbers(const Shape& shape) {
  return builder.input(fmt::format("X{}", inputs_++), shape, graph::DType::int32, strides(shape));
}

namespace {

/// Unused results are outputs, and some used ones. The last result is unused.
graph::KernelGraph finished(RandomBuilder& make) {
  graph::Builder& builder = make.builder;
  const auto output = [&](int t) {
    builder.output({&builder, t}, fmt::format("Y{}", t),
                   make.placed.count(t) || make.rng.chance(60) ? graph::Strides{} : make.strides(builder.shape(t)));
  };
  const int last = make.pool.back().at.index;
  output(last);
  const graph::KernelGraph g = builder.build();
  std::set<int> read{last};
  for (const auto& op : g.ops) read.insert(op.inputs.begin(), op.inputs.end());
  for (const auto& op : g.ops)
    for (int t : op.outputs)
      if (t != last && (!read.count(t) || make.rng.chance(15))) output(t);
  return builder.build();
}

/// Returns f32 or, for every fourth seed, f64.
graph::DType wide_of(std::uint64_t seed) { return seed % 4 == 1 ? graph::DType::f64 : graph::DType::f32; }

}  // namespace

graph::KernelGraph random_graph(std::uint64_t seed) {
  if (seed % chain_every == 0) return random_chain(seed);
  Rng rng(seed);
  const graph::DType dtype = rng.chance(55) ? graph::DType::f16 : rng.chance(50) ? graph::DType::bf16 : wide_of(seed);
  graph::Builder builder(fmt::format("random_{}", seed));
  RandomBuilder make(rng, builder, dtype);
  make.whole = rng.chance(30);
  make.large = rng.chance(10);
  const std::int64_t form = rng.below(100);  // custom only; custom then operators; the other way round; operators only
  std::int64_t before = form < 45 ? 0 : form < 65 ? 0 : form < 85 ? rng.between(2, 5) : rng.between(4, 12);
  for (; before > 0; --before) KernelStep(make).run();
  if (form < 85) random_custom(make);
  for (std::int64_t i = form >= 45 && form < 65 ? rng.between(3, 7) : 0; i > 0; --i) KernelStep(make).run();
  if (form < 85 && rng.chance(8)) random_custom(make);

  return finished(make);
}

graph::KernelGraph random_unfused(std::uint64_t seed) {
  Rng rng(seed);
  const graph::DType dtype = rng.chance(45) ? graph::DType::f16 : rng.chance(60) ? graph::DType::bf16 : wide_of(seed);
  graph::Builder builder(fmt::format("plain_{}", seed));
  RandomBuilder make(rng, builder, dtype);
  make.whole = rng.chance(40);
  for (std::int64_t i = rng.between(3, 9); i > 0; --i) KernelStep(make).run();
  return finished(make);
}

}  // namespace zellige::random_graphs
