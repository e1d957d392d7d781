// Masks partial tiles: if tiles do not divide an axis that is reduced over, elements beyond the axis's end
// must not change the sum or maximum.
//
//   softmax(q k) v over 77 keys in tiles of 48    ->    the scores are masked from key 77 on
//
// Loads return 0 beyond the end. No mask is needed if the elements beyond the end are the neutral element of
// the reduction where it reads them: 0 for a sum, −∞ for a maximum. Otherwise a mask by length is inserted
// before the reduction, or an existing mask is extended.
#include <algorithm>

#include "candidate/axes.hpp"
#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"
#include "rules/table.hpp"

namespace zellige::candidate {
namespace {

using graph::Image;

/// Inserts the masks for one axis.
class Masking {
 public:
  Masking(GroupSteps s, int axis) : s_(std::move(s)), axes_(axes_of(s_)), axis_(axis), now_(s_.values.size()) {
    for (std::size_t v = 0; v < s_.values.size(); ++v) {
      now_[v] = static_cast<int>(v);
      out_of_bounds_.push_back(!has(static_cast<int>(v)) ? Image::same
                               : s_.values[v].loaded     ? Image::zero
                                                         : Image::anything);
    }
  }

  /// Returns the steps with masks for one axis (axis_) that has a partial tile; nullopt if it needs none. A mask is
  /// inserted before a reduction over the axis if the operand's elements beyond the end of the axis are not the
  /// reduction's neutral element.
  std::optional<GroupSteps> run() {
    const std::vector<GroupStep> steps = std::move(s_.steps);
    s_.steps.clear();
    for (GroupStep s : steps) {
      for (std::size_t i = 0; i < s.inputs.size(); ++i) {
        int& v = s.inputs[i];
        v = now_[v];
        const double neutral = graph::monoid_of(s.kind).identity;
        if (axes_.reduces(s, axis_) && has(v) && out_of_bounds_[v] != graph::image(neutral)) v = masked(v, neutral);
      }
      if (has(s.output)) out_of_bounds_[s.output] = of(s);
      s_.steps.push_back(std::move(s));
    }
    return changed_ ? std::optional(std::move(s_)) : std::nullopt;
  }

 private:
  /// Returns whether a dimension of value `v` lies along the masked axis (axis_).
  bool has(int v) const { return axes_.has(v, axis_); }

  /// Returns a value that equals `v`, with the elements beyond the end of the axis set to `value`. If `v` is
  /// the result of a mask that can be extended to do this, extends the mask and returns `v`. Otherwise adds a
  /// mask, whose result later steps read in place of `v`.
  int masked(int v, double value) {
    const Image wanted = graph::image(value);
    const std::int64_t end = axes_.axes[axis_].extent;
    const int d = axes_.dim(v, axis_), rank = static_cast<int>(s_.values[v].shape.size());
    if (const auto mask = std::ranges::find(s_.steps, v, &GroupStep::output);
        mask != s_.steps.end() && mask->kind == graph::OpKind::mask && mask->attributes.value == value &&
        key(*mask) == d) {
      std::optional<std::int64_t>& length = mask->attributes.kept.length;
      changed_ = changed_ || length.value_or(end + 1) > end;
      length = std::min(length.value_or(end), end);
      out_of_bounds_[v] = wanted;
      return v;
    }
    if (rank < 2) fail("{} has no second dimension that a mask could name", graph::to_string(s_.values[v].shape));
    changed_ = true;
    StepValue out = s_.values[v];
    out.tensor = -1, out.loaded = false;
    graph::Attributes a{.value = value};
    a.kept.length = end;
    a.sizes = {d == 0 ? 1 : 0, d};
    if (d == rank - 1) a.sizes = d == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{rank - 2, d};
    const int to = s_.add(graph::OpKind::mask, {v}, a, std::move(out));
    axes_.of.push_back(std::vector(axes_.of[v]));
    now_.push_back(to), out_of_bounds_.push_back(wanted);
    for (int& n : now_)
      if (n == v) n = to;
    return to;
  }

  /// Returns the dimension whose index a mask compares with a length: elements from the length on are masked.
  int key(const GroupStep& mask) const {
    const auto rank = static_cast<int>(s_.values[mask.output].shape.size());
    return mask.attributes.sizes.empty() ? rank - 1 : static_cast<int>(mask.attributes.sizes[1]);
  }

  /// Returns what a step's result contains beyond the end of the axis, given what its operands contain there.
  Image of(const GroupStep& s) const {
    std::vector<Image> x;
    for (int v : s.inputs) x.push_back(out_of_bounds_[v]);
    if (graph::is_elementwise(s.kind)) return graph::image(s.kind, s.attributes, x);
    if (is_reduction(s.kind))  // along another axis
      return x[0] == graph::image(graph::monoid_of(s.kind).identity) ? x[0] : Image::anything;
    const bool moves = s.kind == graph::OpKind::permute;
    const bool keeps = s.kind == graph::OpKind::mask && x[0] == graph::image(s.attributes.value);
    return moves || keeps ? x[0] : Image::anything;
  }

  GroupSteps s_;
  Axes axes_;  // a masked copy has the dimensions of the value that it replaces
  int axis_;
  bool changed_ = false;
  std::vector<int> now_;              // by value: the masked value that later steps read in its place
  std::vector<Image> out_of_bounds_;  // by value
};

}  // namespace

/// An axis has the same index in axes_of() of the result. Throws Error if a tensor that needs a mask has only one
/// dimension, because a mask needs two.
std::optional<GroupSteps> mask_partial_tiles(const GroupSteps& steps, const StepsContext& of) {
  std::optional<GroupSteps> made;
  for (const int axis : of.partial)
    if (std::optional<GroupSteps> masked = Masking(made ? *made : steps, axis).run()) made = std::move(masked);
  return made;
}

}  // namespace zellige::candidate
