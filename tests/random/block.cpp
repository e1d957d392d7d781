// Random block graphs.
#include <algorithm>

#include "generate.hpp"

namespace zellige::random_graphs {
namespace {

using graph::TileHandle;

graph::Dim3 random_block(Rng& rng) {
  static const std::vector<graph::Dim3> whole = {{32},      {64},    {96},      {128},      {160},     {256},
                                                 {512},     {1024},  {8, 8, 4}, {4, 8, 1},  {16, 16},  {32, 2, 3},
                                                 {2, 4, 8}, {5, 32}, {7, 8, 4}, {1, 1, 32}, {1, 64, 1}};
  static const std::vector<graph::Dim3> odd = {{33}, {45},      {5, 9},    {7, 5, 3}, {100},   {257},      {10, 10, 10},
                                               {63}, {31, 33},  {129},     {3, 11},   {1, 47}, {11, 13},   {200},
                                               {35}, {8, 8, 3}, {7, 7, 7}, {40, 2},   {48},    {17, 3, 2}, {61, 5}};
  return rng.chance(60) ? rng.pick(whole) : rng.pick(odd);
}

class Body {
 public:
  Body(RandomBuilder& make, graph::BlockBuilder& t, int rank, const graph::CustomLaunch& launch)
      : make_(make), rng_(make.rng), t_(t), rank_(rank), launch_(launch) {}

  void run() {
    const std::int64_t form = rng_.below(100);
    if (rank_ >= 2 && form < 12) {
      attention();
    } else {
      if (rank_ >= 2 && form < 75) {
        matmul(load(random_shape()));
        if (rng_.chance(25)) {  // a second product, whose left operand the first one's accumulators may be
          if (rng_.chance(60)) keep(unary(rng_, rng_.pick(unary_operators()), values_.back()));
          matmul(values_.back());
        }
      } else
        keep(load(random_shape()));
      for (std::int64_t n = rng_.between(0, 4); n > 0; --n) step();
    }
    leave_loop();
    for (std::int64_t n = rng_.between(0, 3); n > 0; --n) after_step();
    store();
  }

 private:
  bool looped() const { return launch_.loop > 1; }
  void keep(BlockValue v) { values_.push_back(v); }
  std::int64_t max_tile() const { return make_.large ? 16000 : 3000; }  // elements

  Shape random_shape() {
    Shape shape;
    std::int64_t left = max_tile();
    for (int d = 0; d < rank_; ++d) {
      shape.push_back(d + 2 < rank_ ? rng_.between(1, 3)
                                    : make_.extent(std::min<std::int64_t>(left, make_.large ? 200 : 64)));
      left /= shape.back();
    }
    return shape;
  }

  /// A tile of the shape, from a tensor that grid and loop cut into such tiles.
  BlockValue load(const Shape& tile, bool may_vary = true) {
    graph::Split split;
    Shape whole = tile;
    std::vector<int> dims;
    for (int d = 0; d < static_cast<int>(tile.size()); ++d) dims.push_back(d);
    rng_.shuffle(dims);
    int* axes[] = {&split.x, &split.y, &split.z};
    for (int axis = 0; axis < 3; ++axis)
      if (!dims.empty() && (launch_.grid[axis] > 1 ? rng_.chance(60) : rng_.chance(20))) {
        *axes[axis] = dims.back();
        whole[dims.back()] *= launch_.grid[axis];
        dims.pop_back();
      }
    if (may_vary && rng_.chance(70)) {
      split.loop = static_cast<int>(rng_.below(static_cast<std::int64_t>(tile.size())));
      whole[split.loop] *= launch_.loop;
    }
    BlockValue v;
    // A tensor that is there already, where it happens to be of that shape.
    for (const KernelValue& k : make_.pool)
      if (k.shape() == whole && rng_.chance(60)) {
        v.at = t_.load(k.at, split);
        v.positive = k.positive, v.bounded = k.bounded, v.vanishes = k.vanishes, v.degree = k.degree;
        v.varies = looped() && split.loop >= 0;
        return v;
      }
    v.at = t_.load(make_.input(whole).at, split);
    v.varies = looped() && split.loop >= 0;
    return v;
  }

  /// The result of an earlier kernel as it is, where grid and loop divide it.
  bool load_result() {
    const KernelValue& k = make_.pool.back();
    if (static_cast<int>(k.shape().size()) != rank_ || graph::size(k.shape()) > max_tile()) return false;
    BlockValue v;
    graph::Split split;
    for (int d = 0; d < rank_; ++d)
      if (looped() && split.loop < 0 && k.shape()[d] % launch_.loop == 0 && rng_.chance(70)) split.loop = d;
    v.at = t_.load(k.at, split);
    v.positive = k.positive, v.bounded = k.bounded, v.vanishes = k.vanishes, v.degree = k.degree;
    v.varies = split.loop >= 0;
    keep(v);
    return true;
  }

  BlockValue& any() { return values_[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(values_.size())))]; }
  BlockValue recent() { return rng_.chance(70) ? values_.back() : any(); }

  static bool broadcasts(const Shape& a, const Shape& b) {
    for (std::size_t d = 0; d < a.size(); ++d)
      if (a[d] != b[d] && a[d] != 1 && b[d] != 1) return false;
    return true;
  }

  BlockValue partner(const BlockValue& x, bool may_vary) {
    for (const BlockValue& v : values_)
      if (v.at.index != x.at.index && v.after <= x.after && (may_vary || !v.varies) &&
          broadcasts(v.shape(), x.shape()) && graph::size(v.shape()) < 2 * max_tile() && rng_.chance(50))
        return v;
    Shape shape = x.shape();
    for (std::int64_t& e : shape)
      if (rng_.chance(30)) e = 1;
    while (shape.size() > 1 && rng_.chance(20)) shape.erase(shape.begin());
    return load(shape, may_vary);
  }

  void matmul(BlockValue x) {
    const Shape shape = x.shape();
    const std::size_t r = shape.size();
    x = tamed(rng_, x, 1);
    BlockValue y;
    const bool right = rng_.chance(65);  // x is the left operand
    Shape other = shape;
    const std::size_t shared = right ? r - 1 : r - 2, own = right ? r - 2 : r - 1;
    other[own] = shape[shared];
    const std::int64_t rows = graph::size(shape) / shape[shared], deep = graph::size(shape) / shape[own];
    other[shared] =
        make_.extent(std::max<std::int64_t>(1, std::min<std::int64_t>(72, max_tile() / std::max(rows, deep))));
    if (right)
      other[r - 2] = shape[r - 1];
    else
      other[r - 1] = shape[r - 2];
    y = x.after ? load(other, false) : load(other);
    for (const BlockValue& v : values_)
      if (v.shape() == other && v.after <= x.after && !(x.after && v.varies) && v.at.index != x.at.index)
        y = tamed(rng_, v, 1);
    BlockValue v;
    bool added = false;
    const auto bias = [&](const Shape& of) {
      const BlockValue b = load(of, !x.after);
      added = b.varies;
      return b;
    };
    v.at = right ? product(rng_, x.at, y.at, bias) : product(rng_, y.at, x.at, bias);
    v.varies = x.varies || y.varies || added, v.after = x.after || y.after;
    v.degree = x.degree + y.degree, v.vanishes = x.vanishes || y.vanishes;
    keep(v);
  }

  void reduce(BlockValue x) {
    const Shape shape = x.shape();
    const int dim = static_cast<int>(rng_.below(rank_));
    std::vector<std::int64_t> divisors;
    for (std::int64_t t = 1; t <= shape[dim]; ++t)
      if (shape[dim] % t == 0) divisors.push_back(t);
    BlockValue v = derived(x, graph::reduction(x.at, dim, rng_.chance(50) ? 1 : rng_.pick(divisors)));
    v.bounded = false, v.degree = std::max(2, v.degree);
    keep(v);
  }

  void line(BlockValue x) {
    BlockValue v = along(rng_, rng_.pick(line_operators()), x, static_cast<int>(rng_.below(rank_)), rng_.chance(60));
    keep(whole_rank(v));
  }

  /// Restores leading dimensions of a value that lost some: the rest of a body relies on the rank.
  BlockValue whole_rank(const BlockValue& v) {
    Shape shape = v.shape();
    const auto missing = static_cast<std::size_t>(rank_) - shape.size();
    if (missing == 0) return v;
    shape.insert(shape.begin(), missing, 1);
    return derived(v, graph::reshape(v.at, shape));
  }

  /// Gathers loaded rows by index.
  void rows(const BlockValue& x) {
    const BlockValue table = load(x.shape(), !x.after);
    const bool loop = !x.after && rng_.chance(50), across = rng_.chance(40);
    const std::int64_t row = graph::size(x.shape()) / x.shape()[0];
    std::int64_t count = rng_.between(1, std::max<std::int64_t>(1, std::min<std::int64_t>(24, max_tile() / row)));
    if (loop) count *= launch_.loop;
    if (across) count *= launch_.grid.x;
    const TileHandle numbers = t_.load(make_.numbers({count}), {.x = across ? 0 : -1, .loop = loop ? 0 : -1});
    BlockValue v = derived(table, graph::gather(table.at, numbers));
    v.varies = table.varies || (loop && looped());
    keep(v);
  }

  void view(BlockValue x) {
    if (rng_.chance(25)) return rows(x);
    const Shape shape = x.shape();
    if (rng_.chance(25)) {  // products stay as they are: what has been loaded, by way of an operator or none
      std::vector<std::int64_t> dims;
      for (int d = 0; d < rank_; ++d) dims.push_back(d);
      rng_.shuffle(dims);
      BlockValue from = load(shape, !x.after);
      if (rng_.chance(60)) from = unary(rng_, rng_.pick(unary_operators()), from);
      return keep(derived(from, graph::permute(from.at, dims)));
    }
    if (rng_.chance(15)) {  // rows for columns, of anything
      std::vector<std::int64_t> dims;
      for (int d = 0; d < rank_; ++d) dims.push_back(d);
      if (rank_ > 1) std::swap(dims[rank_ - 1], dims[rank_ - 2]);
      return keep(derived(x, graph::permute(x.at, dims)));
    }
    if (rng_.chance(50)) {
      const int dim = static_cast<int>(rng_.below(rank_));
      const std::int64_t start = rng_.below(shape[dim]);
      return keep(derived(x, graph::slice(x.at, dim, start, rng_.between(start + 1, shape[dim]))));
    }
    Shape to = shape;
    for (std::int64_t& e : to)
      if (e == 1) e = rng_.between(1, 6);
    if (graph::size(to) < max_tile()) keep(derived(x, graph::expand(x.at, to)));
  }

  void concat(BlockValue x) {
    const int dim = static_cast<int>(rng_.below(rank_));
    std::vector<BlockValue> parts = {x};
    for (std::int64_t n = rng_.between(1, 2); n > 0; --n) {
      Shape other = x.shape();
      other[dim] = make_.extent(std::min<std::int64_t>(32, 2 * other[dim] + 1));
      BlockValue y = load(other, !x.after);
      for (const BlockValue& v : values_) {
        Shape s = v.shape();
        s[dim] = other[dim];
        if (s == other && v.after <= x.after && !(x.after && v.varies) && rng_.chance(50)) y = v;
      }
      parts.push_back(y);
    }
    rng_.shuffle(parts);
    BlockValue v;
    std::vector<TileHandle> tiles;
    v.degree = 0, v.varies = false;
    for (const BlockValue& p : parts) {
      tiles.push_back(p.at);
      v.varies = v.varies || p.varies, v.after = v.after || p.after, v.vanishes = v.vanishes || p.vanishes;
      v.degree = std::max(v.degree, p.degree);
    }
    v.at = graph::concat(tiles, dim);
    keep(v);
  }

  void split(BlockValue x) {
    int dim = static_cast<int>(rng_.below(rank_));
    for (int d = 0; d < rank_; ++d)
      if (x.shape()[dim] < 2) dim = d;
    const std::int64_t extent = x.shape()[dim];
    if (extent < 2) return;
    const std::int64_t first = rng_.between(1, extent - 1);
    for (TileHandle part : graph::split(x.at, dim, {first, extent - first})) keep(derived(x, part));
  }

  /// The tile lies anywhere in a whole of which grid and loop make it a part.
  void mask(BlockValue x) {
    Shape whole = x.shape();
    std::vector<std::int64_t> dims{rank_ - 2, rank_ - 1};
    if (rng_.chance(40)) dims = {(dims[0] + 1) % rank_, dims[0]};
    const std::int64_t i = dims[0], j = dims[1];
    graph::Split split;
    split.x = rng_.chance(60) ? static_cast<int>(rng_.below(rank_)) : -1;
    split.z = rng_.chance(40) ? static_cast<int>(rng_.below(rank_)) : -1;
    if (split.z == split.x) split.z = -1;
    if (!x.after && rng_.chance(60)) split.loop = static_cast<int>(rng_.below(rank_));
    if (split.x >= 0) whole[split.x] *= launch_.grid.x;
    if (split.z >= 0) whole[split.z] *= launch_.grid.z;
    if (split.loop >= 0) whole[split.loop] *= launch_.loop;
    x.varies = x.varies || (split.loop >= 0 && looped());
    keep(masked(rng_, x, whole[i], whole[j], static_cast<int>(j),
                [&](TileHandle t, const graph::Kept& kept, double value) {
                  if (rng_.chance(60)) return t_.mask(t, kept, split, value, dims);
                  Shape lengths = t.shape(), of = lengths;  // of a tile, and of all of them
                  graph::Split part = split;
                  for (int d = 0; d < rank_; ++d) {
                    if (d != static_cast<int>(j) && rng_.chance(60)) {
                      of[d] = whole[d];
                      continue;
                    }
                    of[d] = 1;
                    for (int* axis : {&part.x, &part.z, &part.loop})
                      if (*axis == d) *axis = -1;
                  }
                  return t_.mask(t, t_.load(make_.numbers(of), part), kept, split, value, dims);
                }));
  }

  void maximum(BlockValue x) {
    const int dim = rng_.chance(60) ? rank_ - 1 : static_cast<int>(rng_.below(rank_));
    const auto [max, diff] = graph::reduction_max(x.at, dim);
    BlockValue m = derived(x, max), d = derived(x, diff);
    m.positive = false;
    d.positive = d.bounded = false, d.vanishes = true;
    keep(m);
    keep(d);
  }

  void step(bool after = false) {
    BlockValue x = recent();
    if (graph::size(x.shape()) > max_tile() * 2) x = load(random_shape());
    if (rank_ >= 2 && x.shape().size() == static_cast<std::size_t>(rank_) && rng_.chance(4)) return mask(x);
    if (x.shape().back() % 2 == 0 && rng_.chance(6))
      return keep(rotated(rng_, x, [&](const Shape& table) { return load(table, !after); }));
    const std::int64_t which = rng_.below(36);
    if (which < 10) return keep(unary(rng_, rng_.pick(unary_operators()), x));
    if (which < 17) return keep(combined(rng_, x, [&] { return partner(x, !after); }));
    if (which < 20 && rank_ >= 2) return matmul(x);
    if (which < 22) return reduce(x);
    if (which < 23)
      return keep(norm(rng_, x, [&](Shape weight) {
        if (rng_.chance(50)) weight.insert(weight.begin(), x.shape().size() - weight.size(), 1);
        return load(weight, false);
      }));
    if (which >= 33) return view(x);
    if (which >= 29) return line(x);
    if (which < 25) return concat(x);
    if (which < 27) return split(x);
    if (!after) return maximum(x);
    keep(unary(rng_, OpKind::silu, x));
  }

  /// exp(Q K) V with a running maximum, the accumulators rescaled as it grows.
  void attention() {
    Shape q = random_shape(), k = q, v = q;
    const std::size_t r = q.size();
    k[r - 2] = q[r - 1], k[r - 1] = make_.extent(40);
    v[r - 2] = k[r - 1], v[r - 1] = make_.extent(40);
    const BlockValue Q = load(q, rng_.chance(20)), K = load(k), V = load(v);
    TileHandle scores = graph::matmul(Q.at, K.at);
    if (rng_.chance(50)) scores = graph::mul_scalar(scores, 0.3);
    const auto [max, diff] = graph::reduction_max(scores, rank_ - 1);
    const TileHandle p = graph::exp(scores - max), r1 = graph::exp(diff);
    BlockValue sum, product;
    product.at = graph::accum_rescale(graph::matmul(p, V.at), r1);
    sum.at = graph::accum_red_sum_rescale(p, r1);
    sum.after = product.after = true;
    sum.positive = true, product.vanishes = true;
    keep(product);
    keep(sum);
    if (rng_.chance(80)) keep(binary(rng_, OpKind::mul, derived(product, product.at / sum.at), product));
  }

  BlockValue accumulate(BlockValue x) {
    BlockValue v = x;
    v.varies = false, v.after = true;
    const std::int64_t which = rng_.below(12);
    const int last = rank_ - 1;
    const auto factor = [&] {
      Shape shape = x.shape();
      for (std::int64_t& e : shape)
        if (rng_.chance(40)) e = 1;
      return graph::sigmoid(load(shape).at);
    };
    v.bounded = false, v.degree = std::max(2, v.degree);
    if (which < 4)
      v.at = graph::accum(x.at);
    else if (which == 4)
      v.at = graph::accum_red_sum(x.at);
    else if (which == 5)
      v.at = graph::accum_red_mean(x.at);
    else if (which == 6) {
      v.at = graph::accum_red_rms(x.at);
      v.positive = x.positive;
    } else if (which == 7) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t t = 1; t <= x.shape()[last]; ++t)
        if (x.shape()[last] % t == 0) divisors.push_back(t);
      v.at = graph::accum_redtox_sum(x.at, rng_.pick(divisors));
    } else if (which == 8)
      v.at = rng_.chance(50) ? graph::accum_max(x.at) : graph::accum_logsumexp(x.at);
    else if (which < 11)
      v.at = graph::accum_rescale(x.at, factor());
    else
      v.at = graph::accum_red_sum_rescale(x.at, factor());
    return v;
  }

  /// Accumulators for what changes with the iteration, and for some of what does not.
  void leave_loop() {
    std::vector<BlockValue> left;
    for (const BlockValue& v : values_)
      if (v.after || (!v.varies && rng_.chance(60))) left.push_back(v);
    const std::vector<BlockValue> all = values_;
    const BlockValue& newest = all.back();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!all[i].after && (i + 1 == all.size() || rng_.chance(20)) && (all[i].varies || rng_.chance(50)))
        left.push_back(accumulate(all[i]));
    if (left.empty()) left.push_back(newest.varies ? accumulate(newest) : newest);
    values_ = left;
  }

  void after_step() {
    // A step's loads must not depend on the iteration.
    const std::size_t before = values_.size();
    step(true);
    for (std::size_t i = before; i < values_.size(); ++i)
      if (values_[i].varies) values_[i] = accumulate(values_[i]);
  }

  void store() {
    const std::int64_t count = rng_.chance(25) ? 2 : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      BlockValue v = i == 0 ? values_.back() : any();
      graph::Split split;
      std::vector<int> dims;
      for (int d = 0; d < rank_; ++d) dims.push_back(d);
      rng_.shuffle(dims);
      int* axes[] = {&split.x, &split.y, &split.z};
      Shape whole = v.shape();
      for (int axis = 0; axis < 3; ++axis)
        if (launch_.grid[axis] > 1)
          *axes[axis] = dims.back(), whole[dims.back()] *= launch_.grid[axis], dims.pop_back();
      t_.store(v.at, split, "", rng_.chance(60) ? graph::Strides{} : make_.strides(whole));
      stored.push_back(v);
    }
  }

 public:
  std::vector<BlockValue> stored;
  bool begin() { return !make_.pool.empty() && load_result(); }

 private:
  RandomBuilder& make_;
  Rng& rng_;
  graph::BlockBuilder& t_;
  int rank_;
  graph::CustomLaunch launch_;
  std::vector<BlockValue> values_;
};

}  // namespace

void random_custom(RandomBuilder& make) {
  Rng& rng = make.rng;
  int rank = make.pool.empty() || rng.chance(30) ? (rng.chance(65)   ? 2
                                                    : rng.chance(55) ? 3
                                                    : rng.chance(60) ? 4
                                                                     : 1)
                                                 : static_cast<int>(make.pool.back().shape().size());
  graph::CustomLaunch launch;
  launch.block = random_block(rng);
  launch.loop = rng.chance(28) ? 1 : rng.between(2, 7);
  static const std::vector<std::int64_t> grids = {1, 2, 3, 5, 7};
  std::int64_t blocks = std::max<std::int64_t>(1, 4096 / launch.block.count());
  int axes = 0;
  std::int64_t* extents[] = {&launch.grid.x, &launch.grid.y, &launch.grid.z};
  for (int axis = 0; axis < 3; ++axis) {
    if (axes == rank || !rng.chance(axis == 0 ? 85 : 30)) continue;
    std::int64_t n = rng.pick(grids);
    while (n > blocks) --n;
    *extents[axis] = n;
    if (n > 1) ++axes, blocks /= n;
  }
  std::vector<BlockValue> stored;
  const std::vector<graph::TensorHandle> results = make.builder.custom(launch, [&](graph::BlockBuilder& t) {
    Body body(make, t, rank, launch);
    if (rng.chance(70)) body.begin();
    body.run();
    stored = body.stored;
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    KernelValue v;
    v.at = results[i];
    v.positive = stored[i].positive, v.bounded = stored[i].bounded, v.vanishes = stored[i].vanishes;
    v.degree = stored[i].degree;
    make.pool.push_back(v);
  }
}

}  // namespace zellige::random_graphs
