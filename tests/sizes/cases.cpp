#include "cases.hpp"

#include <algorithm>
#include <random>

namespace zellige::test {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::Shape;
using graph::TensorHandle;
using tile::SymbolicNumber;
using tile::ValuesBySize;
using V = const ValuesBySize&;

using Build = std::function<TensorHandle(Builder&, V)>;

SizedCase one(std::string name, tile::SizeList sizes, const Build& build) {
  return {name, std::move(sizes), [build](V v) {
            Builder b("sized");
            b.output(build(b, v), "out");
            return b.build();
          }};
}

/// Adds a size that is the sum of the first two of a list.
tile::SizeList with_sum(tile::SizeList sizes, std::vector<std::pair<int, int>> of) {
  const auto i = static_cast<std::size_t>(size_of(sizes, SymbolicNumber::of(sizes, 0) + SymbolicNumber::of(sizes, 1)));
  sizes[i].of = std::move(of);
  return sizes;
}

// Operands in a list, which is evaluated from its first to its last.
using Operands = std::vector<TensorHandle>;

TensorHandle product(const Operands& of) { return matmul(of[0], of[1]); }
TensorHandle norm(const Operands& of) { return rms_norm(of[0], of[1], 1e-5); }

TensorHandle attention(const Operands& of, const std::optional<graph::Kept>& kept) {
  const TensorHandle q = of[0], k = of[1], v = of[2];
  TensorHandle s = matmul(q, permute(k, {0, 2, 1})) * 0.125;
  if (kept) s = mask(s, *kept);
  return matmul(softmax(s, 2), v);
}

void add_products(std::vector<SizedCase>& all) {
  all.push_back(one("rows of a product", {{.name = "T", .high = 300, .of = {{0, 0}}}}, [](Builder& b, V v) {
    return product({b.input("A", {v[0], 64}), b.input("B", {64, 48})});
  }));
  all.push_back(one("K of a product", {{.name = "K", .high = 200, .of = {{0, 1}, {1, 0}}}}, [](Builder& b, V v) {
    return product({b.input("A", {40, v[0]}), b.input("B", {v[0], 48})});
  }));
  all.push_back(one("long K of a product", {{.name = "K", .high = 1000, .of = {{0, 1}, {1, 0}}}}, [](Builder& b, V v) {
    return product({b.input("A", {64, v[0]}), b.input("B", {v[0], 64})});
  }));
  all.push_back(one("long K by 64", {{.name = "K", .low = 64, .high = 1024, .multiple = 64, .of = {{0, 1}, {1, 0}}}},
                    [](Builder& b, V v) {
                      return product({b.input("A", {128, v[0]}), b.input("B", {v[0], 128})});
                    }));
  all.push_back(one("long K by 8 and rows",
                    {{.name = "K", .low = 8, .high = 1024, .multiple = 8, .of = {{0, 1}, {1, 0}}},
                     {.name = "M", .high = 200, .of = {{0, 0}}}},
                    [](Builder& b, V v) {
                      return product({b.input("A", {v[1], v[0]}), b.input("B", {v[0], 128})});
                    }));
  all.push_back(one("K by 32", {{.name = "K", .low = 32, .high = 256, .multiple = 32, .of = {{0, 1}, {1, 0}}}},
                    [](Builder& b, V v) {
                      return product({b.input("A", {40, v[0]}), b.input("B", {v[0], 48})});
                    }));
  all.push_back(one("columns of a product", {{.name = "N", .high = 150, .of = {{1, 1}}}}, [](Builder& b, V v) {
    return product({b.input("A", {40, 64}), b.input("B", {64, v[0]})});
  }));
  all.push_back(one("all of a product",
                    {{.name = "M", .high = 70, .of = {{0, 0}}},
                     {.name = "N", .high = 90, .of = {{1, 1}}},
                     {.name = "K", .high = 80, .of = {{0, 1}, {1, 0}}}},
                    [](Builder& b, V v) {
                      return product({b.input("A", {v[0], v[2]}), b.input("B", {v[2], v[1]})});
                    }));
  all.push_back(one("a function of K", {{.name = "K", .high = 200, .of = {{0, 1}, {1, 0}}}}, [](Builder& b, V v) {
    return product({exp(b.input("A", {40, v[0]}) * 0.25), cos(b.input("B", {v[0], 48}))});
  }));
  all.push_back(one("layers of batch and tokens",
                    {{.name = "B", .high = 6, .of = {{0, 0}}}, {.name = "T", .high = 50, .of = {{0, 1}}}},
                    [](Builder& b, V v) {
                      const TensorHandle x = b.input("x", {v[0], v[1], 64}), up = b.input("up", {64, 128}),
                                         down = b.input("down", {128, 64});
                      return x + matmul(silu(matmul(x, up)), down);
                    }));
  all.push_back(one("a Gram matrix of few rows", {{.name = "T", .high = 40, .of = {{0, 0}}}}, [](Builder& b, V v) {
    const TensorHandle x = b.input("x", {v[0], 32});
    return softmax(matmul(x, permute(x, {1, 0})), 1);
  }));
  all.push_back(one("flattened rows",
                    {{.name = "B", .high = 6, .of = {{0, 0}}}, {.name = "T", .high = 50, .of = {{0, 1}}}},
                    [](Builder& b, V v) {
                      const TensorHandle x = b.input("x", {v[0], v[1], 64}), w = b.input("w", {64, 48});
                      return reshape(matmul(reshape(x, {v[0] * v[1], 64}), w), {v[0], v[1], 48});
                    }));
}

void add_rows(std::vector<SizedCase>& all) {
  const tile::SizeList length{{.name = "N", .high = 700, .of = {{0, 1}}}};
  all.push_back(one("softmax of named rows", length, [](Builder& b, V v) {
    return softmax(b.input("x", {24, v[0]}), 1);
  }));
  all.push_back(one("sum of named rows", length, [](Builder& b, V v) { return sum(b.input("x", {24, v[0]}), 1); }));
  all.push_back(one("maximum of named rows", length, [](Builder& b, V v) {
    return amax(b.input("x", {24, v[0]}), 1);
  }));
  all.push_back(one("mean of named rows", length, [](Builder& b, V v) { return mean(b.input("x", {24, v[0]}), 1); }));
  all.push_back(one("softmax of long rows", {{.name = "N", .high = 20000, .of = {{0, 1}}}}, [](Builder& b, V v) {
    return softmax(b.input("x", {3, v[0]}), 1);
  }));
  all.push_back(one("norm of long rows", {{.name = "N", .high = 20000, .of = {{0, 1}, {1, 0}}}}, [](Builder& b, V v) {
    return norm({b.input("x", {3, v[0]}), b.input("w", {v[0]})});
  }));
  all.push_back(one("layer norm of named rows", {{.name = "N", .high = 512, .of = {{0, 1}}}}, [](Builder& b, V v) {
    return layer_norm(b.input("x", {24, v[0]}), 1e-5);
  }));
  all.push_back(one("norm of named rows", {{.name = "N", .high = 512, .of = {{0, 1}, {1, 0}}}}, [](Builder& b, V v) {
    return norm({b.input("x", {24, v[0]}), b.input("w", {v[0]})});
  }));
  all.push_back(one("norm of rows", {{.name = "T", .high = 90, .of = {{0, 0}}}}, [](Builder& b, V v) {
    return norm({b.input("x", {v[0], 128}), b.input("w", {128})});
  }));
  all.push_back(one("sum of named columns", {{.name = "T", .high = 300, .of = {{0, 0}}}}, [](Builder& b, V v) {
    return sum(b.input("x", {v[0], 40}), 0);
  }));
  all.push_back(one("exponentials of named rows", length, [](Builder& b, V v) {
    return sum(exp(b.input("x", {24, v[0]}) * 0.1), 1);
  }));
}

void add_views(std::vector<SizedCase>& all) {
  const tile::SizeList tokens{{.name = "T", .high = 90, .of = {{0, 0}}}};
  all.push_back(one("transposed", tokens, [](Builder& b, V v) {
    return relu(permute(b.input("x", {v[0], 40}), {1, 0}));
  }));
  all.push_back(one("heads of tokens", tokens, [](Builder& b, V v) {
    return relu(permute(reshape(b.input("x", {v[0], 64}), {v[0], 4, 16}), {1, 0, 2}));
  }));
  all.push_back(one("columns of a slice", tokens, [](Builder& b, V v) {
    return relu(slice(b.input("x", {v[0], 64}), 1, 16, 48));
  }));
  all.push_back(one("batch and tokens of an element",
                    {{.name = "B", .high = 6, .of = {{0, 0}}}, {.name = "T", .high = 90, .of = {{0, 1}}}},
                    [](Builder& b, V v) {
                      return exp(b.input("x", {v[0], v[1], 24}));
                    }));
  all.push_back(
      one("joined columns of tokens", {{.name = "T", .high = 90, .of = {{0, 0}, {1, 0}}}}, [](Builder& b, V v) {
        const Operands of{b.input("x", {v[0], 24}), b.input("y", {v[0], 40})};
        return concat(of[0], of[1], 1);
      }));
  tile::SizeList rows{{.name = "B", .high = 6}, {.name = "T", .high = 50, .of = {{1, 0}}}};
  const auto all_rows = size_of(rows, SymbolicNumber::of(rows, 0) * SymbolicNumber::of(rows, 1));
  rows[static_cast<std::size_t>(all_rows)].of = {{0, 0}};
  all.push_back(one("heads of flattened rows, by their tokens", rows, [](Builder& b, V v) {
    const TensorHandle x = exp(reshape(b.input("x", {v[0] * v[1], 64}), {v[0], v[1], 64}));
    const TensorHandle heads = permute(reshape(x, {v[0], v[1], 4, 16}), {0, 2, 1, 3});
    return heads * b.input("angles", {v[1], 16});
  }));
  all.push_back(one("inner tokens",
                    {{.name = "B", .high = 6, .of = {{0, 0}}}, {.name = "T", .high = 90, .of = {{0, 2}}}},
                    [](Builder& b, V v) {
                      return exp(b.input("x", {v[0], 24, v[1]}));
                    }));
}

void add_attention(std::vector<SizedCase>& all) {
  all.push_back(
      one("attention of named keys", {{.name = "K", .high = 200, .of = {{1, 1}, {2, 1}}}}, [](Builder& b, V v) {
        return attention({b.input("q", {2, 24, 32}), b.input("k", {2, v[0], 32}), b.input("v", {2, v[0], 32})}, {});
      }));
  all.push_back(one("long attention", {{.name = "K", .high = 900, .of = {{1, 1}, {2, 1}}}}, [](Builder& b, V v) {
    return attention({b.input("q", {2, 128, 64}), b.input("k", {2, v[0], 64}), b.input("v", {2, v[0], 64})}, {});
  }));
  all.push_back(one(
      "long causal attention after a cache",
      with_sum({{.name = "P", .low = 0, .high = 500}, {.name = "T", .high = 300, .of = {{0, 1}}}}, {{1, 1}, {2, 1}}),
      [](Builder& b, V v) {
        const std::int64_t keys = v[0] + v[1];
        return attention({b.input("q", {2, v[1], 64}), b.input("k", {2, keys, 64}), b.input("v", {2, keys, 64})},
                         graph::Kept{.tril = v[0]});
      }));
  all.push_back(
      one("causal attention", {{.name = "T", .high = 150, .of = {{0, 1}, {1, 1}, {2, 1}}}}, [](Builder& b, V v) {
        return attention({b.input("q", {2, v[0], 32}), b.input("k", {2, v[0], 32}), b.input("v", {2, v[0], 32})},
                         graph::Kept{.tril = 0});
      }));
  all.push_back(
      one("causal attention after a cache",
          with_sum({{.name = "P", .low = 0, .high = 100}, {.name = "T", .high = 70, .of = {{0, 1}}}}, {{1, 1}, {2, 1}}),
          [](Builder& b, V v) {
            const std::int64_t keys = v[0] + v[1];
            return attention({b.input("q", {2, v[1], 32}), b.input("k", {2, keys, 32}), b.input("v", {2, keys, 32})},
                             graph::Kept{.tril = v[0]});
          }));
  all.push_back(
      one("attention of a token",
          with_sum({{.name = "P", .high = 300}, {.name = "one", .low = 1, .high = 1}}, {{1, 1}, {2, 1}}),
          [](Builder& b, V v) {
            const std::int64_t keys = v[0] + 1;
            return attention({b.input("q", {4, 1, 32}), b.input("k", {4, keys, 32}), b.input("v", {4, keys, 32})}, {});
          }));
}

}  // namespace

std::vector<SizedCase> sized_cases() {
  std::vector<SizedCase> all;
  add_products(all), add_rows(all), add_views(all), add_attention(all);
  return all;
}

tile::SizeList of_graph(const SizedCase& c, const KernelGraph& g) {
  tile::SizeList sizes = c.sizes;
  for (tile::Size& s : sizes)
    for (auto& [tensor, dim] : s.of) tensor = g.inputs[static_cast<std::size_t>(tensor)];
  return sizes;
}

ValuesBySize largest(const tile::SizeList& sizes) {
  ValuesBySize all;
  for (const tile::Size& s : sizes)
    if (!s.computed) all.push_back(s.high);
  return all;
}

std::vector<ValuesBySize> sampled(const tile::SizeList& sizes, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ValuesBySize> all;
  for (std::size_t i = 0; i < count; ++i) {
    ValuesBySize values;
    for (const tile::Size& s : sizes) {
      if (s.computed) continue;
      const std::int64_t steps = (s.high - s.low) / s.multiple;
      std::int64_t at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(steps + 1));
      if (i == 0) at = 0;
      if (i == 1) at = steps;
      if (i >= 2 && i < 6) {  // about a multiple of a tile
        const std::int64_t tile = std::int64_t{16} << (random() % 3), near = s.low + at * s.multiple;
        const std::int64_t wanted = near / tile * tile + static_cast<std::int64_t>(random() % 3) - 1;
        at = std::clamp<std::int64_t>((wanted - s.low) / s.multiple, 0, steps);
      }
      values.push_back(s.low + at * s.multiple);
    }
    all.push_back(std::move(values));
  }
  return all;
}

}  // namespace zellige::test
