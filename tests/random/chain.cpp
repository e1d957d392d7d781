// Random chains of matmuls: values that stay in registers from one to the next, operands read raw and through
// maps, values with several readers, and K that no instruction divides.
#include <algorithm>
#include <cmath>
#include <map>

#include "generate.hpp"

namespace zellige::random_graphs {
namespace {

using graph::TileHandle;

class Links {
 public:
  Links(RandomBuilder& make, graph::BlockBuilder& t, const graph::CustomLaunch& launch)
      : make_(make), rng_(make.rng), t_(t), launch_(launch) {}

  BlockValue run() {
    batch_ = rng_.chance(15) ? Shape{rng_.between(2, 4)} : Shape{};
    tails_ = rng_.chance(35);
    rows_ = rng_.chance(70) ? rng_.pick(std::vector<std::int64_t>{16, 16, 32, 48, 64, 64, 80}) : make_.extent(64);
    BlockValue x = load(matrix(rows_, inner()), looped());
    // Attention is two products already, and a long chain would make much of its rounded exponentials.
    const bool attended = rng_.chance(20);
    if (attended) x = attention(x);
    for (std::int64_t n = attended ? rng_.between(1, 2) : rng_.between(2, 6); n > 0; --n) {
      x = link(x);
      made_.push_back(x);
    }
    if (rng_.chance(30)) x = other(x);
    if (looped()) x = summed(x);
    return x;
  }

  /// Some of what the chain passes through, stored too.
  std::vector<BlockValue> also() {
    std::vector<BlockValue> out;
    for (const BlockValue& v : made_)
      if (!looped() && out.empty() && rng_.chance(10)) out.push_back(v);
    return out;
  }

 private:
  bool looped() const { return launch_.loop > 1; }
  Shape matrix(std::int64_t rows, std::int64_t columns) const {
    Shape shape = batch_;
    shape.push_back(rows), shape.push_back(columns);
    return shape;
  }

  /// The extent that a matmul contracts: multiples of 16, or K tails of every length.
  std::int64_t inner() {
    const std::int64_t maximum = spent_ > 14000 || !batch_.empty() ? 32 : 96;
    if (tails_ && rng_.chance(60)) return rng_.between(1, maximum);
    static const std::vector<std::int64_t> whole = {16, 16, 32, 32, 48, 64, 80, 96};
    return std::min(maximum, rng_.pick(whole));
  }

  BlockValue load(const Shape& tile, bool varies) {
    graph::Split split;
    Shape whole = tile;
    if (varies) {
      split.loop = static_cast<int>(rng_.below(static_cast<std::int64_t>(tile.size())));
      whole[split.loop] *= launch_.loop;
    }
    BlockValue v;
    v.at = t_.load(make_.input(whole).at, split);
    v.varies = varies;
    spent_ += graph::size(tile);
    loaded_.push_back(v);
    return v;
  }

  /// A right (or left) operand: one that another product read already, raw or through a map, or a new one.
  BlockValue operand(const Shape& shape) {
    for (const BlockValue& v : loaded_)
      if (v.shape() == shape && rng_.chance(75)) return rng_.chance(30) ? mapped(v) : v;
    for (const BlockValue& v : made_)
      if (v.shape() == shape && rng_.chance(35)) return unit(v);
    return load(shape, looped() && rng_.chance(25));
  }

  static const std::vector<OpKind>& maps() {
    static const std::vector<OpKind> all = {OpKind::relu, OpKind::sigmoid, OpKind::silu, OpKind::mul_scalar,
                                            OpKind::clamp};
    return all;
  }

  /// Factors of few bits: a decimal's product may lie half-way between two f16, where float32 and the reference part, and a
  /// chain makes much of it.
  BlockValue mapped(const BlockValue& x) {
    const OpKind kind = rng_.pick(maps());
    if (kind == OpKind::relu) return sized(unary(rng_, kind, x), size(x));
    if (kind != OpKind::mul_scalar) return unary(rng_, kind, unit(x));
    BlockValue v = derived(x, graph::mul_scalar(x.at, rng_.pick(std::vector<double>{0.5, -1.25, 0.75, 1.5, -0.125})));
    v.positive = v.bounded = false;
    return sized(v, size(x));
  }

  /// The magnitude of a value's elements, a power of 2, assuming inputs of magnitude 1. Saturating functions
  /// are applied to values of that magnitude: for larger ones only a few elements, and their rounding errors,
  /// would remain.
  double size(const BlockValue& v) const {
    const auto known = sizes_.find(v.at.index);
    return known == sizes_.end() ? 0 : known->second;
  }
  BlockValue sized(const BlockValue& v, double size) {
    sizes_[v.at.index] = size;
    return v;
  }
  BlockValue unit(BlockValue x) {
    const double halvings = std::round(size(x));
    if (halvings >= 1) x = derived(x, graph::mul_scalar(x.at, std::exp2(-halvings)));
    x.degree = 1;
    return x;
  }

  /// Nothing, a map, or a map of two values between two products; what grows is scaled, most of the time.
  BlockValue between(BlockValue x) {
    const std::int64_t which = rng_.below(10);
    if (which < 3) return x;
    if (which < 6)
      x = mapped(x);
    else if (which < 8)
      x = sum(x, other_operand(x));
    else if (which < 9) {
      x = unit(x);
      const BlockValue y = unit(other_operand(x));
      x = binary(rng_, OpKind::mul, x, y);
    }
    return rng_.chance(60) ? unit(x) : x;
  }

  BlockValue sum(const BlockValue& x, const BlockValue& y) {
    return sized(binary(rng_, OpKind::add, x, y), std::max(size(x), size(y)) + 0.5);
  }

  /// A value of x's shape, an earlier product's if there is one; or a row or column that broadcasts.
  BlockValue other_operand(const BlockValue& x) {
    for (const BlockValue& v : made_)
      if (v.at.index != x.at.index && v.shape() == x.shape() && rng_.chance(60)) return v;
    Shape shape = x.shape();
    if (rng_.chance(60)) shape[shape.size() - static_cast<std::size_t>(rng_.between(1, 2))] = 1;
    return load(shape, false);
  }

  BlockValue product(const BlockValue& x, const BlockValue& y) {
    BlockValue v;
    v.at = graph::matmul(x.at, y.at);
    v.varies = x.varies || y.varies, v.degree = x.degree + y.degree, v.vanishes = x.vanishes || y.vanishes;
    return sized(v, size(x) + size(y) + 0.5 * std::log2(static_cast<double>(x.shape().back())));
  }

  BlockValue link(BlockValue x) {
    const Shape shape = x.shape();
    const std::size_t r = shape.size();
    x = between(x);
    if (rng_.chance(12))
      return product(operand(matrix(inner(), shape[r - 2])),
                     x);  // as the right operand: through shared memory
    const BlockValue w = operand(matrix(shape[r - 1], rng_.chance(40) ? shape[r - 1] : inner()));
    BlockValue y = product(x, w);
    if (rng_.chance(28)) {  // both raw and through a map
      const bool left = rng_.chance(50);
      const BlockValue other = mapped(left ? x : w);
      y = sum(y, left ? product(other, w) : product(x, other));
    }
    return y;
  }

  /// exp(x K) V divided by its row sums.
  BlockValue attention(const BlockValue& x) {
    const std::int64_t depth = x.shape().back(), keys = inner();
    const BlockValue k = load(matrix(depth, keys), looped() && rng_.chance(50));
    BlockValue p = unary(rng_, OpKind::exp, unit(product(x, k)));
    const Shape values = matrix(keys, inner());
    const BlockValue v = load(values, looped() && rng_.chance(50));
    BlockValue o = product(p, v);
    const BlockValue row = derived(p, graph::reduction(p.at, static_cast<int>(p.shape().size()) - 1));
    o = binary(rng_, OpKind::div, o, row);
    o.degree = 1;
    return o;
  }

  /// A reader of another kind after the last matmul.
  BlockValue other(const BlockValue& x) {
    if (rng_.chance(50)) {
      const BlockValue row = derived(x, graph::reduction(x.at, static_cast<int>(x.shape().size()) - 1));
      return binary(rng_, OpKind::sub, x, row);
    }
    const BlockValue y = mapped(x);
    return sum(y, other_operand(x));
  }

  BlockValue summed(BlockValue x) {
    x.at = graph::accum(x.at);
    x.varies = false, x.after = true;
    return x;
  }

  RandomBuilder& make_;
  Rng& rng_;
  graph::BlockBuilder& t_;
  graph::CustomLaunch launch_;
  Shape batch_;
  bool tails_ = false;
  std::int64_t rows_ = 16, spent_ = 0;  // elements loaded
  std::vector<BlockValue> loaded_, made_;
  std::map<int, double> sizes_;  // by tile
};

}  // namespace

graph::KernelGraph random_chain(std::uint64_t seed) {
  Rng rng(seed);
  const graph::DType dtype = rng.chance(60)   ? graph::DType::f16
                             : rng.chance(85) ? graph::DType::bf16
                                              : graph::DType::f32;
  graph::Builder builder(fmt::format("chain_{}", seed));
  RandomBuilder make(rng, builder, dtype);
  graph::CustomLaunch launch;
  static const std::vector<graph::Dim3> blocks = {{32},  {64},  {64},  {96},      {128}, {128},
                                                  {160}, {192}, {256}, {8, 8, 2}, {100}, {48}};
  launch.block = rng.pick(blocks);
  launch.loop = rng.chance(55) ? 1 : rng.between(2, 4);
  const std::vector<graph::TensorHandle> results = builder.custom(launch, [&](graph::BlockBuilder& t) {
    Links links(make, t, launch);
    const BlockValue x = links.run();
    t.store(x.at, {}, "", rng.chance(60) ? graph::Strides{} : make.strides(x.shape()));
    for (const BlockValue& v : links.also()) t.store(v.at, {});
  });
  for (std::size_t i = 0; i < results.size(); ++i) builder.output(results[i], fmt::format("Y{}", i));
  return builder.build();
}

}  // namespace zellige::random_graphs
