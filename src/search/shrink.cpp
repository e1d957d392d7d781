#include "search/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "number/exponents.hpp"
#include "number/fraction.hpp"
#include "search/any_op.hpp"
#include "search/sizes.hpp"

namespace zellige::search {
namespace {

/// Sizes are small enough if both graphs take at most this many multiplications: some milliseconds for a few
/// points over the reals.
constexpr double small_enough = 2e4;

/// The same limit if sizes must be kept because scalars represent them, or must stay different.
constexpr double still_small = 2.5e7;

/// The same limit if all sizes that must stay different do so in one pair of graphs, not in several.
constexpr double all_distinct = 5e6;

/// Returns the numbers n that may be extents because some scalar of a graph is n or 1 / n: 4096 if a scalar
/// is 1/4096, as in a mean over 4096.
std::set<std::int64_t> numbers_meant(const KernelGraph& a, const KernelGraph& b) {
  std::set<std::int64_t> numbers;
  for (const KernelGraph* g : {&a, &b})
    each_op(*g, [&](const auto& op, const graph::BlockGraph*) {
      if (!has_scalar(op.kind, op.inputs.size()) || !std::isfinite(op.attributes.scalar)) return;
      const number::Fraction f = number::fraction(op.attributes.scalar);
      if (f.exponent == 0) numbers.insert({std::abs(f.numerator), f.denominator});
    });
  numbers.erase(0);
  numbers.erase(1);
  return numbers;
}

/// Returns the sizes (variables) into which graph number `owner` divides size `whole`, directly or in several steps.
std::set<int> pieces(const Sizes& sizes, int whole, int owner) {
  std::set<int> found{whole};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Sizes::Product& p : sizes.products) {
      if (p.owner != owner || !found.count(sizes.find(p.whole))) continue;
      for (int f : p.factors) grew |= found.insert(sizes.find(f)).second;
    }
  }
  found.erase(whole);
  return found;
}

using IndexPairs = std::set<std::pair<int, int>>;

/// Returns the sizes (variables) that other sizes divide.
std::set<int> divided(const Sizes& sizes) {
  std::set<int> wholes;
  for (const Sizes::Product& p : sizes.products) wholes.insert(sizes.find(p.whole));
  return wholes;
}

/// Returns pairs of sizes (variables), one per graph, whose equality or difference may influence the results:
/// sizes that divide the same extent, and all pairs of grid and loop sizes.
IndexPairs related(const Sizes& sizes) {
  IndexPairs pairs;
  for (int whole : divided(sizes)) {
    const std::set<int> in_a = pieces(sizes, whole, 0), in_b = pieces(sizes, whole, 1);
    for (int u : in_a)
      for (int v : in_b) pairs.insert({u, v});
  }
  for (const auto& [u, a] : sizes.launches)
    for (const auto& [v, b] : sizes.launches)
      if (a == 0 && b == 1) pairs.insert({sizes.find(u), sizes.find(v)});
  return pairs;
}

/// Returns pairs of sizes (variables) of any graph that divide the same extent, and all pairs of sizes whose values
/// may influence results, such as the count of summands of a mean.
IndexPairs related_in_any(const Sizes& sizes) {
  IndexPairs pairs;
  const auto add = [&](const auto& group) {
    for (int u : group)
      for (int v : group) pairs.insert({sizes.find(u), sizes.find(v)});
  };
  for (int whole : divided(sizes)) {
    std::set<int> both = pieces(sizes, whole, 0);
    both.merge(pieces(sizes, whole, 1));
    add(both);
  }
  add(sizes.counted);
  return pairs;
}

/// Makes the two sizes of each pair that `pairs` returns one variable if they have the same value, because results
/// may depend on their equality: a sum of squares of partial results does.
void tie(Sizes& sizes, IndexPairs (*pairs)(const Sizes&)) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [u, v] : pairs(sizes))
      if (sizes.find(u) != sizes.find(v) && sizes.value(u) == sizes.value(v)) sizes.same(u, v), changed = true;
  }
}

/// Returns pairs of different sizes (variables) above 1 whose values may influence results, for example the counts
/// of summands of two means.
IndexPairs counted_distinct(const Sizes& sizes) {
  IndexPairs pairs;
  for (int u : sizes.counted)
    for (int v : sizes.counted)
      if (1 < sizes.value(u) && sizes.value(u) < sizes.value(v)) pairs.insert({sizes.find(u), sizes.find(v)});
  return pairs;
}

/// Returns the sizes (variables) of which size u is a factor: for a tile's extent, the extents of the tensors that
/// are divided into such tiles. Returns u itself if there are none.
std::set<int> wholes(const Sizes& sizes, int u) {
  std::set<int> found;
  for (const Sizes::Product& p : sizes.products)
    for (int f : p.factors)
      if (sizes.find(f) == sizes.find(u)) found.insert(sizes.find(p.whole));
  if (found.empty()) found.insert(sizes.find(u));
  return found;
}

/// Returns the numbers of rows and columns (variables) of every matrix of which a triangle is masked.
IndexPairs triangles(const Sizes& sizes) {
  IndexPairs pairs;
  for (const auto& [row, column] : sizes.triangles)
    for (int u : wholes(sizes, row))
      for (int v : wholes(sizes, column)) pairs.insert({u, v});
  return pairs;
}

/// Returns whether every matrix of which a triangle is masked is still wider than high, higher than wide or square,
/// as in the given graphs, if the sizes are `values`.
bool keeps_triangles(const Sizes& sizes, const std::vector<std::int64_t>& values) {
  return std::ranges::all_of(triangles(sizes), [&](const auto& t) {
    return (sizes.value(t.first) <=> sizes.value(t.second)) == (values[t.first] <=> values[t.second]);
  });
}

/// Which differences of sizes are preserved: all of related(), only those of sizes that reductions leave, or none.
enum class Keep { all, reductions, nothing };

/// The system of products that exponents.hpp solves for two graphs, and the sizes that follow from its solution.
class Shrinking {
 public:
  /// `kept`: the size variables that must not change.
  Shrinking(const Sizes& sizes, const std::set<int>& kept) : sizes_(sizes), kept_(kept) {
    for (int u = 0; u < sizes.count(); ++u) at(sizes.find(u));
    for (const Sizes::Product& p : sizes.products) product(at(p.whole), p.factors);
    for (const Sizes::Sum& s : sizes.sums) {
      std::vector<int> parts;
      for (int part : s.parts) parts.push_back(at(part));
      sums_[at(s.whole)].insert(parts);
    }
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& [whole, ways] : sums_) {
        if ((ways.size() == 1 && !in_products_.count(whole)) || !measured_.insert(whole).second) continue;
        grew = true;
        for (const std::vector<int>& parts : ways) in_products_.insert(parts.begin(), parts.end());
      }
    }
    for (int whole : measured_)
      for (const std::vector<int>& parts : sums_[whole]) measure(whole, parts);
    for (int whole : measured_) sums_.erase(whole);
  }

  /// Returns the small value of each size variable. `keep` says which differences between sizes are preserved.
  std::vector<std::int64_t> values(Keep keep) {
    system_.inequalities.clear();
    std::set<int> reductions;
    for (int u : sizes_.reductions) reductions.insert(sizes_.find(u));
    for (const auto& [u, v] : related(sizes_)) {
      const bool kept = keep == Keep::all || (keep == Keep::reductions && reductions.count(u) && reductions.count(v));
      if (kept && sizes_.value(u) != sizes_.value(v) && sizes_.value(u) > 1 && sizes_.value(v) > 1)
        system_.inequalities.push_back({at(u), at(v)});
    }
    return solve();
  }

  /// Returns small values of the size variables at which the two sizes of pairs of counted_apart() stay different:
  /// of all pairs if there is no `limit`; else of pairs that no product connects, and of pairs whose given sizes are
  /// on different sides of `limit`.
  std::vector<std::int64_t> distinct_values(std::optional<std::int64_t> limit) {
    system_.inequalities.clear(), system_.distinct.clear();
    for (const auto& [u, v] : counted_distinct(sizes_)) {
      system_.distinct.insert(system_.distinct.end(), {at(u), at(v)});
      if (!limit || (sizes_.value(u) < *limit && *limit <= sizes_.value(v)))
        system_.inequalities.push_back({at(u), at(v)});
    }
    for (const auto& [u, v] : triangles(sizes_))
      if (sizes_.value(u) > 1 && sizes_.value(v) > 1) system_.distinct.insert(system_.distinct.end(), {at(u), at(v)});
    return solve();
  }

 private:
  /// Returns the small value of each size variable.
  std::vector<std::int64_t> solve() {
    std::vector<std::int64_t> found = number::shrink_values(system_), result;
    std::set<int> summed;
    for (int u = 0; u < sizes_.count(); ++u) result.push_back(value(at(u), found, summed));
    return result;
  }

  /// Adds a value to the system of equations between sizes, and returns its index. `fixed`: the value must not change.
  int fresh(std::int64_t value, bool fixed) {
    system_.values.push_back(value);
    system_.fixed.push_back(fixed);
    return static_cast<int>(system_.values.size()) - 1;
  }
  /// Returns the index that size variable u has in the system of equations; adds the variable if it is new.
  int at(int u) {
    const auto place = index_.find(sizes_.find(u));
    if (place != index_.end()) return place->second;
    return index_[sizes_.find(u)] = fresh(sizes_.value(u), kept_.count(sizes_.find(u)) > 0);
  }

  /// Adds the equation whole = product of factors to the system of equations. `whole` is the index of a value in the
  /// system, `factors` are size variables.
  void product(int whole, const std::vector<int>& factors) {
    number::Products::Product product{whole, {}};
    for (int f : factors) product.factors.push_back(at(f));
    in_products_.insert(whole);
    in_products_.insert(product.factors.begin(), product.factors.end());
    system_.products.push_back(product);
  }

  /// Adds the equation whole = sum of parts to the system of equations, which has only products. Writes each of these
  /// values as unit * constant. Only the unit, the greatest common divisor of the parts, may shrink, so that the sum
  /// still holds. Needed if another equation also constrains `whole`; otherwise value() adds up the small parts.
  /// `whole` and `parts` are indices of values in the system.
  void measure(int whole, const std::vector<int>& parts) {
    std::int64_t common = 0;
    for (int part : parts) common = std::gcd(common, system_.values[part]);
    const int unit = fresh(common, false);
    std::vector<int> all = parts;
    all.push_back(whole);
    for (int u : all) system_.products.push_back({u, {unit, fresh(system_.values[u] / common, true)}});
  }

  /// Returns the small value with index u in the system of equations. `found` has the system's solution, by index. If
  /// value u is a sum that measure() has not added to the system, adds up the small values of its parts and stores
  /// the sum in `found`.
  /// `summed`: the indices of the sums that are computed already.
  std::int64_t value(int u, std::vector<std::int64_t>& found, std::set<int>& summed) {
    const auto sum = sums_.find(u);
    if (sum == sums_.end() || !summed.insert(u).second) return found[u];
    std::int64_t total = 0;
    for (int part : *sum->second.begin()) total += value(part, found, summed);
    return found[u] = total;
  }

  const Sizes& sizes_;
  const std::set<int>& kept_;
  number::Products system_;
  std::map<int, int> index_;
  std::map<int, std::set<std::vector<int>>> sums_;  // by whole: the ways in which it is a sum
  // Indices of values that occur in products, or are parts of sums that measure() adds; indices of these sums' wholes.
  std::set<int> in_products_, measured_;
};

/// Sets the sizes in an operator's attributes to their small values. `at`: the variables of these sizes;
/// `values`: the small value of each variable.
void resize(const GraphSizes::Op& at, const std::vector<std::int64_t>& values, graph::Attributes& attributes) {
  if (at.to >= 0) attributes.to = values[at.to];
  for (std::size_t i = 0; i < at.parts.size(); ++i) attributes.sizes[i] = values[at.parts[i]];
}

/// Returns the graph with the sizes `values`, by size variable.
KernelGraph resized(KernelGraph g, const GraphSizes& sizes, const std::vector<std::int64_t>& values) {
  for (graph::KernelTensor& t : g.tensors) t.shape.clear(), t.strides.clear();
  for (int t : g.inputs) {
    for (int extent : sizes.tensors[t]) g.tensors[t].shape.push_back(values[extent]);
    g.tensors[t].strides = graph::row_major(g.tensors[t].shape);
  }
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const GraphSizes::Op& at = sizes.ops[i];
    resize(at, values, g.ops[i].attributes);
    if (g.ops[i].kind != OpKind::custom) continue;
    graph::BlockGraph b = *g.ops[i].block;
    b.grid = {values[at.grid[0]], values[at.grid[1]], values[at.grid[2]]};
    b.loop = values[at.loop];
    for (graph::BlockTensor& t : b.tensors) t.shape.clear();
    for (std::size_t k = 0; k < b.ops.size(); ++k) resize(at.body[k], values, b.ops[k].attributes);
    g.ops[i].block = std::make_shared<const graph::BlockGraph>(std::move(b));
  }
  return graph::infer(std::move(g));
}

/// Two graphs whose sizes are one system.
class Joined {
 public:
  Joined(const GraphPair& pair) : a_(pair.a), b_(pair.b), in_a_(sizes.add(a_)), in_b_(sizes.add(b_)) {
    const auto join = [&](int ta, int tb) {
      for (std::size_t d = 0; d < in_a_.tensors[ta].size(); ++d) sizes.same(in_a_.tensors[ta][d], in_b_.tensors[tb][d]);
    };
    for (std::size_t i = 0; i < a_.inputs.size(); ++i) join(a_.inputs[i], b_.inputs[pair.pairing.inputs[i]]);
    for (std::size_t i = 0; i < a_.outputs.size(); ++i) join(a_.outputs[i], b_.outputs[i]);
  }

  /// Returns those of the size variables `which` that a scalar may represent.
  std::set<int> meant(const std::vector<int>& which) const {
    const std::set<std::int64_t> numbers = numbers_meant(a_, b_);
    std::set<int> found;
    for (int u : which)
      if (numbers.count(sizes.value(u))) found.insert(sizes.find(u));
    return found;
  }

  /// Returns the graphs with the sizes `values`, by size variable. `kept`: as SmallPair::kept.
  SmallPair pair(const std::vector<std::int64_t>& values, bool kept) const {
    SmallPair pair{resized(a_, in_a_, values), resized(b_, in_b_, values)};
    pair.kept = kept;
    const auto same = [](const KernelGraph& x, const KernelGraph& y) {
      return std::ranges::equal(x.tensors, y.tensors, {}, &graph::KernelTensor::shape, &graph::KernelTensor::shape);
    };
    pair.shrunk = !same(pair.a, a_) || !same(pair.b, b_);
    return pair;
  }

  Sizes sizes;

 private:
  const KernelGraph &a_, &b_;
  GraphSizes in_a_, in_b_;
};

/// Returns the work of one operator, in multiplications. A function such as exp counts as twenty
/// multiplications per element, because it takes about that long both in float64 and over the real numbers. x
/// and y are the shapes of the first operand and result.
double work_of(OpKind kind, const graph::Shape& x, const graph::Shape& y) {
  const auto elements = static_cast<double>(std::max(graph::size(x), graph::size(y)));
  if (kind == OpKind::matmul) return static_cast<double>(graph::size(y)) * static_cast<double>(x.back());
  // Elementwise operators that call a function are expensive. Additions, multiplications and comparisons are cheap.
  const bool function = graph::is_elementwise(kind) && graph::elementwise(kind).text.find("zellige::") == 0;
  const bool cheap = kind == OpKind::square || kind == OpKind::relu || kind == OpKind::clamp ||
                     kind == OpKind::maximum || kind == OpKind::minimum || kind == OpKind::abs;
  return function && !cheap ? 20 * elements : elements;
}

}  // namespace

double work(const KernelGraph& g) {
  double sum = 0;
  for (const graph::KernelOp& op : g.ops) {
    if (op.kind != OpKind::custom) {
      sum += work_of(op.kind, g.tensors[op.inputs[0]].shape, g.tensors[op.outputs[0]].shape);
      continue;
    }
    double once = 0, inside = 0;
    const std::vector<bool> varies = graph::varies(*op.block);
    for (const graph::BlockOp& inner : op.block->ops) {
      const int in = inner.inputs.empty() ? inner.outputs[0] : inner.inputs[0];
      const int out = inner.outputs.empty() ? in : inner.outputs[0];
      const double one = work_of(inner.kind, op.block->tensors[in].shape, op.block->tensors[out].shape);
      (varies[out] || varies[in] ? inside : once) += one;
    }
    sum += static_cast<double>(op.block->grid.count()) * (once + inside * static_cast<double>(op.block->loop));
  }
  return sum;
}

double work(const SmallPair& pair) { return work(pair.a) + work(pair.b); }

SmallPair shrink(const GraphPair& pair) {
  Joined joined(pair);
  tie(joined.sizes, related);
  const auto find = [&](const std::set<int>& kept) {
    Shrinking shrinking(joined.sizes, kept);
    SmallPair pair;
    for (const Keep keep : {Keep::all, Keep::reductions, Keep::nothing}) {
      pair = joined.pair(shrinking.values(keep), !kept.empty());
      if (work(pair) <= small_enough) break;
    }
    return pair;
  };
  std::vector<int> all(joined.sizes.count());
  std::iota(all.begin(), all.end(), 0);
  if (const std::set<int> meant = joined.meant(all); !meant.empty())
    if (SmallPair pair = find(meant); work(pair) <= still_small) return pair;
  return find({});
}

std::vector<SmallPair> shrink_distinct(const GraphPair& pair) {
  Joined joined(pair);
  const Sizes& sizes = joined.sizes;
  tie(joined.sizes, related_in_any);
  tie(joined.sizes, triangles);
  const auto find = [&](const std::set<int>& kept) {
    Shrinking shrinking(sizes, kept);
    IndexPairs equal_pairs = counted_distinct(sizes);
    std::vector<SmallPair> pairs;
    // Adds a pair of graphs and removes from `equal_pairs` what differs in it. Returns whether that was possible.
    const auto add = [&](std::optional<std::int64_t> limit, double max_work) {
      const std::vector<std::int64_t> values = shrinking.distinct_values(limit);
      SmallPair pair = joined.pair(values, !kept.empty());
      if (work(pair) > max_work || !keeps_triangles(sizes, values)) return false;
      pairs.push_back(std::move(pair));
      return std::erase_if(equal_pairs, [&](const auto& p) { return values[p.first] != values[p.second]; }) > 0;
    };
    add(std::nullopt, all_distinct);
    while (!equal_pairs.empty())
      if (!add(sizes.value(equal_pairs.begin()->second), still_small)) return std::vector<SmallPair>();
    return pairs;
  };
  const std::set<int> meant = joined.meant(sizes.counted);
  std::vector<SmallPair> pairs = find(meant);
  return pairs.empty() && !meant.empty() ? find({}) : pairs;
}

}  // namespace zellige::search
