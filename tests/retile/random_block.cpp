#include "random_block.hpp"

#include "graph/builder.hpp"
#include "graph/error.hpp"

namespace zellige::retile::test {
namespace {

using graph::OpKind;
using graph::Split;
using graph::TensorHandle;
using graph::TileHandle;
using random_graphs::Rng;

constexpr std::int64_t sizes[] = {8, 16, 24, 32};

class Body {
 public:
  Body(Rng& rng, graph::BlockBuilder& t, const graph::CustomLaunch& launch) : rng_(rng), t_(t), launch_(launch) {}

  void load(const TensorHandle& x) {
    const auto dim = [&](int percent) {
      return rng_.chance(percent) ? static_cast<int>(rng_.below(static_cast<std::int64_t>(x.shape().size()))) : -1;
    };
    for (int tries = 0; tries < 8; ++tries)
      if (attempt([&] { return t_.load(x, {dim(60), dim(50), -1, launch_.loop > 1 ? dim(60) : -1}); })) return;
  }

  void step() {
    const TileHandle a = rng_.pick(tiles), b = rng_.pick(tiles);
    const int d = static_cast<int>(rng_.below(static_cast<std::int64_t>(a.shape().size())));
    attempt([&] {
      switch (rng_.below(18)) {
        case 16:
        case 17: {
          const auto dim = [&](bool any) { return any ? static_cast<int>(rng_.between(-1, 1)) : -1; };
          return t_.mask(a, rng_.chance(50) ? graph::Kept{.tril = 2} : graph::Kept{.length = 11},
                         {dim(true), dim(true), -1, dim(launch_.loop > 1)}, 0.25);
        }
        case 0:
        case 1:
        case 2:
          return matmul(a, b);
        case 3:
          return tanh(a);
        case 4:
          return sigmoid(a);
        case 5:
          return a * 0.5;
        case 6:
          return a + b;
        case 7:
          return a * b;
        case 8:
          return a / (sigmoid(b) + 1.0);
        case 9:
          return graph::reduction(a, d, rng_.chance(50) ? 1 : 4);
        case 10:
          return graph::rms_norm(a, 1e-3);
        case 11:
          return graph::softmax(a, d);
        case 12:
          return graph::sum(a, d, true);
        case 13:
          return graph::concat(a, b, d);
        case 14:
          return graph::cast(a, graph::DType::f16);
        default:
          return graph::amax(a, d, true);
      }
    });
  }

  void accumulate() {
    const TileHandle a = rng_.pick(tiles);
    attempt([&] {
      switch (rng_.below(8)) {
        case 0:
          return accum_red_sum(a);
        case 1:
          return accum_red_mean(a);
        case 2:
          return accum_red_rms(a);
        case 3:
          return accum_redtox_sum(a, 4);
        case 4:
          return rng_.below(2) ? accum_max(a) : accum_logsumexp(a);
        default:
          return accum(a);
      }
    });
  }

  bool store() {
    bool any = false;
    for (std::size_t i = tiles.size(); i-- > 0 && !any;)
      for (int tries = 0; tries < 6 && !any; ++tries) {
        const auto rank = static_cast<std::int64_t>(tiles[i].shape().size());
        const auto dim = [&](std::int64_t blocks) { return blocks > 1 ? static_cast<int>(rng_.below(rank)) : -1; };
        try {
          t_.store(tiles[i], {dim(launch_.grid.x), dim(launch_.grid.y)});
          any = true;
        } catch (const Error&) {
        }
      }
    return any;
  }

  std::vector<TileHandle> tiles;

 private:
  template <class F>
  bool attempt(const F& f) {
    try {
      tiles.push_back(f());
      return true;
    } catch (const Error&) {  // not of these shapes
      return false;
    }
  }

  Rng& rng_;
  graph::BlockBuilder& t_;
  const graph::CustomLaunch& launch_;
};

std::vector<TensorHandle> block(Rng& rng, graph::Builder& b, const std::vector<TensorHandle>& inputs, bool sums) {
  static const std::vector<std::int64_t> grids{1, 2, 2, 4}, loops{1, 2, 4};
  const graph::CustomLaunch launch{{rng.pick(grids), sums ? 1 : rng.pick(grids), 1}, {32}, rng.pick(loops)};
  bool stored = false;
  std::vector<TensorHandle> results = b.custom(launch, [&](graph::BlockBuilder& t) {
    Body body(rng, t, launch);
    for (const TensorHandle& x : inputs) body.load(x);
    if (body.tiles.empty()) fail("nothing is loaded");
    for (std::int64_t n = rng.between(1, 4); n > 0; --n) body.step();
    if (launch.loop > 1 || rng.chance(70))
      for (int n = 0; n < 3; ++n) body.accumulate();
    for (std::int64_t n = rng.between(0, 2); n > 0; --n) body.step();
    stored = body.store();
    if (!stored) fail("nothing can be stored");
  });
  return results;
}

/// Blocks store partial results, which usually a second kernel adds.
graph::KernelGraph random_sums(Rng& rng, std::uint64_t seed) {
  graph::Builder b("sums" + std::to_string(seed));
  static const std::vector<std::int64_t> counts{1, 2, 4};
  const std::int64_t rows = sizes[rng.below(4)], columns = sizes[rng.below(4)];
  const TensorHandle x = b.input("X", {rows, 64}), w = b.input("W", {64, columns});
  const graph::CustomLaunch first{{rng.pick(counts), 2, 1}, {32}, rng.pick(counts)},
      second{{2, 1, 1}, {32}, rng.pick(counts)};
  const bool joint = rng.chance(50);
  const std::vector<TensorHandle> parts = b.custom(first, [&](graph::BlockBuilder& t) {
    const int loop = first.loop > 1 && (joint || first.grid.x == 1) ? 1 : -1;
    const TileHandle a = t.load(x, {1, 0, -1, loop}), c = t.load(w, {0, -1, -1, loop < 0 ? -1 : 0});
    const auto left = [&](TileHandle tile) { return first.loop > 1 && loop < 0 ? tile : accum(tile); };
    t.store(left(matmul(rng.chance(30) ? tanh(a) : a, c)), {1, 0});
    const std::int64_t what = rng.below(4);
    const TileHandle e = rng.chance(50) ? sigmoid(a) : a;
    t.store(what == 0   ? left(graph::reduction(e, 1, rng.chance(50) ? 1 : 4))
            : what == 1 ? left(e)
            : what == 2 ? (loop < 0 && first.loop > 1 ? graph::sum(e, 1, true) : accum_red_sum(e))
                        : left(e * 0.5),
            {1, 0});
  });
  std::vector<TensorHandle> results = b.custom(second, [&](graph::BlockBuilder& t) {
    for (const TensorHandle& part : parts) {
      const bool looped = second.loop > 1 && rng.chance(60);
      TileHandle p = t.load(part, {0, -1, -1, looped ? 1 : -1});
      if (rng.chance(30)) p = p * 2.0;
      if (rng.chance(10)) p = tanh(p);
      const std::int64_t to = rng.chance(50) ? 1 : rng.chance(50) ? 4 : columns;
      const std::int64_t what = rng.below(4);
      TileHandle s = what == 0   ? accum_redtox_sum(p, to)
                     : what == 1 ? accum_red_sum(p)
                     : what == 2 ? accum(graph::reduction(p, 1, to))
                                 : graph::reduction(accum(p), 1, to);
      t.store(rng.chance(50) ? sigmoid(s * 0.1) : s, {0});
    }
  });
  for (std::size_t i = 0; i < results.size(); ++i) b.output(results[i], "Z" + std::to_string(i));
  return b.build();
}

}  // namespace

graph::KernelGraph random_blocks(std::uint64_t seed) {
  for (Rng rng(seed);;) {
    try {
      if (seed % 3 == 0) return random_sums(rng, seed);
      graph::Builder b("g" + std::to_string(seed));
      const auto size = [&] { return sizes[rng.below(4)]; };
      const std::int64_t m = size(), n = size(), k = size();
      const std::vector<TensorHandle> inputs{b.input("X", {m, k}), b.input("W", {k, n}), b.input("Y", {m, n})};
      std::vector<TensorHandle> results = block(rng, b, inputs, false);
      if (rng.chance(50)) results = block(rng, b, results, true);
      for (std::size_t i = 0; i < results.size(); ++i) b.output(results[i], "Z" + std::to_string(i));
      return b.build();
    } catch (const Error&) {  // again
    }
  }
}

Tiling random_tiling(const graph::KernelGraph& g, Rng& rng) {
  Tiling t = tiling_of(g);
  for (std::int64_t n = rng.between(1, 2); n > 0; --n) {
    OpTiling& o = t[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(t.size())))];
    static const std::vector<std::int64_t> counts{1, 2, 3, 4, 6, 8};
    const std::int64_t what = rng.below(3), count = rng.pick(counts);
    (what == 0 ? o.grid.x : what == 1 ? o.grid.y : o.loop) = count;
    if (rng.chance(20)) o.block = {64};
  }
  return t;
}

}  // namespace zellige::retile::test
