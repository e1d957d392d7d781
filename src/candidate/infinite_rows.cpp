// Checks that a fused kernel of a group of operators returns NaN for a row of minus infinities if the operators,
// computed one by one, return NaN. For such a row exp(x - maximum) is NaN if computed exactly, but 0 in the kernel,
// because the running maximum of the kernel's loop starts at the lowest finite float32. A softmax becomes NaN again: it
// divides 0 by a sum of 0. Other uses of these zeros would lose the NaN:
//
//   e / sum(e), (e @ v) / sum(e), x - maximum - log(sum(e))     accepted: 0 / 0, or infinity - infinity
//   sum(e) + 1e-6, e @ v as an output                           rejected
//
// A maximum that is clamped from below by a finite number, as in safe_softmax, needs no check.
#include <algorithm>
#include <utility>

#include "candidate/deferred.hpp"
#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"

namespace zellige::candidate {
namespace {

using graph::Image;

/// What a fused kernel computes for a value in a row that consists of minus infinities, if this is not the NaN that the
/// unfused operators compute.
struct Lost {
  // Image::same: what the operators compute. Else x - maximum is `lowest`, and exp(x - maximum) is `zero`.
  Image is = Image::same;
  std::pair<int, int> of{-1, -1};  // which maximum: the value and dimension that it is taken of
  int maximum = -1;                // a value of Steps that is this maximum
  // Before a sum: where a later kernel computes such values again, from the exact maximum, they are NaN there.
  bool early = true;

  explicit operator bool() const { return is != Image::same; }
};

class InfiniteRows {
 public:
  InfiniteRows(const GroupSteps& steps, const std::vector<Deferred>& deferred, bool again)
      : steps_(steps), deferred_(deferred), again_(again), lost_(steps.values.size()) {}

  void check() {
    for (const GroupStep& s : steps_.steps) {
      if (subtracts_running_maximum(s))
        lost_[s.output] = {Image::lowest, {deferred_[s.inputs[1]].of, deferred_[s.inputs[1]].dim}, s.inputs[1]};
      else if (std::ranges::any_of(s.inputs, [&](int v) { return bool(lost_[v]); }))
        lost_[s.output] = result(s);
    }
    for (int v : steps_.outputs)
      if (lost_[v] && !(again_ && lost_[v].early))
        fail("an output of the group would be a number where a row of -inf alone gives NaN");
  }

 private:
  [[noreturn]] static Lost refused(const GroupStep& s) {
    fail("{} would read a number where a row of -inf alone gives NaN", graph::name(s.kind));
  }

  /// Returns whether the step subtracts a maximum that a running maximum replaces inside the loop, and that is not
  /// clamped to a finite number.
  bool subtracts_running_maximum(const GroupStep& s) const {
    if (s.kind != graph::OpKind::sub || s.inputs.size() != 2) return false;
    const Deferred& h = deferred_[s.inputs[1]];
    return h.kind == Deferred::Kind::maximum && !h.bounded_below();
  }

  /// Returns how the fused kernel's result of step `s`, in a row of minus infinities, differs from the NaN that the
  /// unfused operators compute. Throws Error if the result would be a number that later steps are not known to turn
  /// into NaN.
  Lost result(const GroupStep& s) const {
    if (s.inputs.size() > 2) refused(s);
    const bool two = s.inputs.size() == 2;
    const Lost x = lost_[s.inputs[0]], y = two ? lost_[s.inputs[1]] : Lost();
    const bool same = x && y && x.of == y.of;
    const bool linear = graph::is_elementwise(s.kind) && graph::elementwise(s.kind).law.linear != graph::Linearity::no;
    if (again_ && two && linear && same && x.early != y.early) return {};  // NaN, computed again, with what a sum lost
    if (is_matmul(s) || is_reduction(s.kind)) return summed(s, x, y);
    // NaN here, too: 0 / 0, and a difference of infinities.
    if (same && x.is == y.is && s.kind == (x.is == Image::zero ? graph::OpKind::div : graph::OpKind::sub)) return {};
    Lost lost = x ? x : y;
    std::vector<Image> of{x.is};
    if (two) of.push_back(y.is);
    const bool masked = s.kind == graph::OpKind::mask && x.is == graph::image(s.attributes.value) && !y;
    if (!masked) lost.is = graph::is_elementwise(s.kind) ? graph::image(s.kind, s.attributes, of) : Image::anything;
    if ((x && y && !same) || (lost.is != Image::lowest && lost.is != Image::zero)) refused(s);
    lost.early = x && y ? x.early && y.early : lost.early;
    return lost;
  }

  /// Returns how the result of a matmul or reduction differs from NaN, or throws Error, like result(). A sum of zeros
  /// within one row is a zero, too, after a sum. It stays within one if the row maximum that was subtracted has extent 1
  /// along the dimension that is summed.
  Lost summed(const GroupStep& s, Lost x, Lost y) const {
    const bool right = is_matmul(s) && !x;
    Lost& lost = right ? y : x;
    const int v = s.inputs[0];
    const std::size_t back =
        is_matmul(s) ? right : steps_.values[v].shape.size() - 1 - static_cast<std::size_t>(s.attributes.dim);
    if (&graph::monoid_of(s.kind) != &graph::monoids::sum || (x && y) || lost.is != Image::zero ||
        from_last(steps_.values[lost.maximum].shape, back) != 1)
      refused(s);
    lost.early = false;
    return lost;
  }

  const GroupSteps& steps_;
  const std::vector<Deferred>& deferred_;
  const bool again_;
  std::vector<Lost> lost_;
};

}  // namespace

void require_nan_rows(const GroupSteps& steps, const std::vector<Deferred>& deferred, bool again) {
  InfiniteRows(steps, deferred, again).check();
}

}  // namespace zellige::candidate
