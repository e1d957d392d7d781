#include "fuse/past.hpp"

#include <algorithm>
#include <limits>

#include "graph/error.hpp"

namespace zellige::fuse {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The value of an out-of-bounds element.
enum class Past : std::uint8_t { anything, zero, lowest, nowhere };  // nowhere: it lacks the axis

class Masking {
 public:
  Masking(Steps s, const Axes& axes, int axis)
      : s_(std::move(s)), axes_(axes), axis_(axis), now_(s_.values.size()) {
    for (std::size_t v = 0; v < s_.values.size(); ++v) {
      now_[v] = static_cast<int>(v);
      past_.push_back(!has(static_cast<int>(v)) ? Past::nowhere
                      : s_.values[v].loaded     ? Past::zero
                                                : Past::anything);
    }
  }

  Steps run() {
    const std::vector<Step> steps = std::move(s_.steps);
    s_.steps.clear();
    for (Step s : steps) {
      for (std::size_t i = 0; i < s.inputs.size(); ++i) {
        int& v = s.inputs[i];
        v = now_[v];
        if (const auto [summed, wanted] = summed_over(s, i); summed && past_[v] != wanted)
          v = masked(v, wanted);
      }
      if (past_[s.output] != Past::nowhere) past_[s.output] = of(s);
      s_.steps.push_back(std::move(s));
    }
    return std::move(s_);
  }

 private:
  /// Values that replace others have their dimensions.
  bool has(int v) const { return dim(v) >= 0; }
  int dim(int v) const { return axes_.dim(like(v), axis_); }
  int like(int v) const {
    while (v >= static_cast<int>(axes_.of.size())) v = stands_for_.at(v);
    return v;
  }

  /// Returns whether the step reduces over the axis of its i-th operand, and what that operand must be out of
  /// bounds.
  std::pair<bool, Past> summed_over(const Step& s, std::size_t i) const {
    const int v = s.inputs[i], d = dim(v), rank = static_cast<int>(s_.values[v].shape.size());
    if (d < 0) return {false, Past::nowhere};
    if (s.kind == OpKind::matmul) return {d == (i == 0 ? rank - 1 : rank - 2), Past::zero};
    if (!is_reduction(s.kind)) return {false, Past::nowhere};
    return {d == s.attributes.dim, s.kind == OpKind::amax ? Past::lowest : Past::zero};
  }

  int masked(int v, Past wanted) {
    const double value = wanted == Past::zero ? 0 : -infinity;
    const std::int64_t end = axes_.axes[axis_].extent;
    const int d = dim(v), rank = static_cast<int>(s_.values[v].shape.size());
    if (Step* mask = producer(v);
        mask && mask->kind == OpKind::mask && mask->attributes.value == value && key(*mask) == d) {
      mask->attributes.kept.length = std::min(mask->attributes.kept.length.value_or(end), end);
      past_[v] = wanted;
      return v;
    }
    if (rank < 2)
      fail("{} has no second dimension that a mask could name", graph::to_string(s_.values[v].shape));
    Value out = s_.values[v];
    out.tensor = -1, out.loaded = false;
    const int to = static_cast<int>(s_.values.size());
    s_.values.push_back(std::move(out));
    stands_for_[to] = like(v);
    now_.push_back(to), past_.push_back(wanted);
    for (int& n : now_)
      if (n == v) n = to;
    Step mask;
    mask.kind = OpKind::mask, mask.inputs = {v}, mask.output = to;
    mask.attributes.value = value;
    mask.attributes.kept.length = end;
    mask.attributes.sizes = {d == 0 ? 1 : 0, d};
    if (d == rank - 1)
      mask.attributes.sizes = d == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{rank - 2, d};
    s_.steps.push_back(std::move(mask));
    return to;
  }

  Step* producer(int v) {
    const auto s = std::ranges::find_if(s_.steps, [&](const Step& step) { return step.output == v; });
    return s == s_.steps.end() ? nullptr : &*s;
  }
  int key(const Step& mask) const {
    const auto rank = static_cast<int>(s_.values[mask.output].shape.size());
    return mask.attributes.sizes.empty() ? rank - 1 : static_cast<int>(mask.attributes.sizes[1]);
  }

  Past of(const Step& s) const {
    const Past x = past_[s.inputs[0]];
    const bool two = s.inputs.size() == 2;
    const Past y = two ? past_[s.inputs[1]] : Past::nowhere;
    switch (s.kind) {
      case OpKind::mul:
        if (x == Past::zero || y == Past::zero)
          return x != Past::anything && y != Past::anything && x != Past::lowest && y != Past::lowest
                     ? Past::zero
                     : Past::anything;
        return Past::anything;
      case OpKind::div:
        return x == Past::zero && y == Past::nowhere ? Past::zero : Past::anything;
      case OpKind::add:
      case OpKind::sub: {
        if (!two) return x == Past::lowest ? x : Past::anything;
        if (x == Past::zero && y == Past::zero) return x;
        const bool finite = y == Past::nowhere || y == Past::zero;
        const bool other =
            s.kind == OpKind::add && y == Past::lowest && (x == Past::nowhere || x == Past::zero);
        return (x == Past::lowest && finite) || other ? Past::lowest : Past::anything;
      }
      case OpKind::mul_scalar:
        return x == Past::zero || (x == Past::lowest && s.attributes.scalar > 0) ? x : Past::anything;
      case OpKind::cast:
        return graph::is_integer(s.attributes.dtype) || s.attributes.saturate ? Past::anything : x;
      case OpKind::exp:
        return x == Past::lowest ? Past::zero : Past::anything;
      case OpKind::neg:
      case OpKind::abs:
      case OpKind::square:
      case OpKind::sqrt:
      case OpKind::relu:
      case OpKind::silu:
      case OpKind::gelu:
      case OpKind::gelu_tanh:
      case OpKind::tanh:
      case OpKind::permute:
        return x == Past::zero ? x : Past::anything;
      case OpKind::mask: {
        const bool same =
            s.attributes.value == 0 ? x == Past::zero : s.attributes.value == -infinity && x == Past::lowest;
        return same ? x : Past::anything;
      }
      case OpKind::reduction:  // along another axis
        return x == Past::zero ? x : Past::anything;
      case OpKind::amax:
        return x == Past::lowest ? x : Past::anything;
      default:
        return Past::anything;
    }
  }

  Steps s_;
  const Axes& axes_;
  int axis_;
  std::vector<int> now_;  // by value: its masked replacement for later steps
  std::vector<Past> past_;
  std::map<int, int> stands_for_;
};

}  // namespace

Steps masked_past(Steps s, const std::map<int, std::int64_t>& extents) {
  for (const auto& [axis, extent] : extents) {
    const Axes axes = axes_of(s);
    s = Masking(std::move(s), axes, axis).run();
  }
  return s;
}

}  // namespace zellige::fuse
