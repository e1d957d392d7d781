// Builds the steps of the second kernel of a split loop (split-K, split-KV), which combines the partial
// results of all blocks and runs the steps that depend on them.
//
// The first dimension of a partial result numbers the blocks. A sum over the whole loop is the sum of its
// partial results s_p. If the sum is of exponentials relative to a running maximum, each s_p is first
// rescaled from the maximum m_p of its block to the overall maximum M: sum_p s_p exp(c (M - m_p)), where c is
// PartialResult::coefficient (-1 for sums of exp(x - m)). Sums of squares of differences from the means m_p of parts are those
// from a mean m after n (m_p - m)^2 is added to each, where n is the number of elements of a part.
#include <set>

#include "candidate/body.hpp"
#include "graph/reductions.hpp"

namespace zellige::candidate {
namespace {

/// Writes the combining steps, from the outputs back to the partial results.
class Merge {
 public:
  Merge(const GroupSteps& steps, const GroupBody& first, std::int64_t parts, const std::vector<int>& tensors)
      : steps_(steps), first_(first), made_(steps.values.size(), -1) {
    for (std::size_t p = 0; p < first.partials.size(); ++p) {
      graph::Shape shape = first.partials[p].shape;
      shape.insert(shape.begin(), parts);
      loaded_.push_back(result_.add({shape, first.partials[p].dtype, tensors[p], true}));
    }
  }

  GroupSteps run() {
    for (int v : steps_.outputs) result_.outputs.push_back(want(v));
    return std::move(result_);
  }

 private:
  const graph::Shape& shape(int v) const { return result_.values[v].shape; }
  graph::DType dtype(int v) const { return result_.values[v].dtype; }

  /// Appends an elementwise step on the values `in` and returns its result, whose shape and dtype are those of in[0].
  int map(graph::OpKind kind, std::vector<int> in, const graph::Attributes& a = {}) {
    StepValue out{shape(in[0]), dtype(in[0])};
    return result_.add(kind, std::move(in), a, std::move(out));
  }
  /// Appends a reduction of value `v` over its first dimension, which numbers the blocks of the split loop.
  /// Returns the result.
  int over_parts(graph::OpKind kind, int v) {
    graph::Shape s = shape(v);
    s[0] = 1;
    return result_.add(kind, {v}, {.dim = 0, .keepdim = true}, {s, graph::computed_in(dtype(v))});
  }

  /// Returns the maximum over all blocks of the partial result `partial`, which has one maximum per block.
  int maximum(int partial) {
    int& m = maxima_.try_emplace(partial, -1).first->second;
    if (m < 0) m = over_parts(graph::OpKind::amax, loaded_[partial]);
    return m;
  }
  /// Returns value `v`, or a copy of it if it is another value of the group's steps already, with a tensor of its own.
  int own(int v) { return taken_.insert(v).second ? v : map(graph::OpKind::mul_scalar, {v}); }
  /// Returns a value with one element per block of the split loop: the maximum to which the block's sums are
  /// relative, minus the overall maximum. `partial` is the partial result with the blocks' maxima.
  int fallen(int partial) {
    if (!first_.partials[partial].exact) return map(graph::OpKind::sub, {loaded_[partial], maximum(partial)});
    const int finite = map(graph::OpKind::maximum, {loaded_[partial]}, {.scalar = graph::monoids::max.start});
    return map(graph::OpKind::sub, {finite, over_parts(graph::OpKind::amax, finite)});
  }

  /// Returns a value with one element per block of the split loop, which is to be added to the block's sum of squares of
  /// differences from the mean of its part: (that mean - centre)^2 times the number of elements of a part.
  int between_parts(const PartialResult& p) {
    const auto count = static_cast<double>(p.count);
    const int mean = map(graph::OpKind::mul_scalar, {loaded_[p.about]}, {.scalar = 1 / count});
    const int away = map(graph::OpKind::square, {map(graph::OpKind::sub, {mean, want(p.centre)})});
    return map(graph::OpKind::mul_scalar, {away}, {.scalar = count});
  }

  /// Returns the sum, or what another reduction joins, over all blocks of the partial result with index `partial`,
  /// multiplied by the factors that were left for the end of the loop.
  int sum(int partial) {
    const PartialResult& p = first_.partials[partial];
    int s = loaded_[partial];
    if (p.below >= 0) {
      int below = fallen(p.below);
      if (p.coefficient != -1) below = map(graph::OpKind::mul_scalar, {below}, {.scalar = -p.coefficient});
      s = map(graph::OpKind::mul, {s, map(graph::OpKind::exp, {below})});
    }
    if (p.about >= 0) s = map(graph::OpKind::add, {s, between_parts(p)});
    s = over_parts(p.join, s);
    for (const DeferredFactor& f : p.factors)
      s = map(f.divide ? graph::OpKind::div : graph::OpKind::mul, {s, want(f.value)});
    return s;
  }

  /// Returns the value, in the kernel that combines partial results, that equals value `v` of the group's
  /// steps. The first call for `v` appends the steps that compute the value to that kernel.
  int want(int v) {
    if (made_[v] >= 0) return made_[v];
    const StepValue& whole = steps_.values[v];
    int made = -1;
    if (const auto s = first_.sums.find(v); s != first_.sums.end())
      made = sum(s->second);
    else if (const auto m = first_.maxima.find(v); m != first_.maxima.end())
      made = own(maximum(m->second));
    else
      made = whole.loaded ? result_.add(whole) : again(step_of(steps_, v));
    result_.values[made].tensor = whole.tensor;
    result_.values[made].dtype = whole.dtype;  // as matmuls read it, and as it is stored
    return made_[v] = made;
  }

  /// Appends step `s` of the group to the kernel that combines partial results, and returns its result.
  /// Operands may have an additional first dimension there, of extent 1; dimension numbers in the step's
  /// attributes are then increased by one.
  int again(const GroupStep& s) {
    std::vector<int> in;
    bool moved = false;
    for (int v : s.inputs) {
      in.push_back(want(v));
      moved = moved || shape(in.back()).size() > steps_.values[v].shape.size();
    }
    StepValue out = steps_.values[s.output];
    if (moved) out.shape.insert(out.shape.begin(), 1);
    graph::Attributes a = s.attributes;
    if (shape(in[0]).size() > steps_.values[s.inputs[0]].shape.size()) {
      if (a.dim >= 0) ++a.dim;
      if (s.kind == graph::OpKind::mask || s.kind == graph::OpKind::permute)
        for (std::int64_t& d : a.sizes) ++d;
      if (s.kind == graph::OpKind::permute) a.sizes.insert(a.sizes.begin(), 0);
    }
    return result_.add(s.kind, std::move(in), a, std::move(out));
  }

  const GroupSteps& steps_;
  const GroupBody& first_;
  GroupSteps result_;
  std::vector<int> loaded_;    // by partial result: the value that loads it
  std::vector<int> made_;      // by value of the given steps: the combined value; -1: none yet
  std::map<int, int> maxima_;  // by partial maximum: the overall one
  std::set<int> taken_;        // overall maxima that are values of the given steps
};

}  // namespace

GroupSteps merged(const GroupSteps& steps, const GroupBody& first, std::int64_t parts,
                  const std::vector<int>& tensors) {
  return Merge(steps, first, parts, tensors).run();
}

}  // namespace zellige::candidate
