#include "emit/sized_manifest.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "emit/parameters.hpp"
#include "graph/error.hpp"
#include "kernel/launches.hpp"
#include "kernel/tensor_map.hpp"
#include "manifest/launch_sizes.hpp"

namespace zellige::emit {
namespace {

using tile::SizeExpression;
using tile::SymbolicNumber;

constexpr std::int64_t unit = 256;  // bytes: tensors begin at multiples of this in the workspace

/// Adds the expressions of a plan's numbers to its manifest.
class SizedNumbers {
 public:
  SizedNumbers(manifest::Manifest& m, const plan::Plan& plan) : m_(m), program_(plan.program), plan_(plan) {}

  void tensors(const std::vector<int>& index) {
    for (std::size_t t = 0; t < index.size(); ++t)
      if (index[t] >= 0) tensor(static_cast<int>(t), index[t]);
  }
  void launches();
  void workspace();

 private:
  SizeExpression of(const SymbolicNumber& n) const { return SizeExpression::of(n, m_.sizes); }
  void set(const manifest::SizedField& field, const SizeExpression& e) {
    if (!e.is_constant()) m_.sized.insert_or_assign(field, e);
  }
  /// Returns the expression of a number of the manifest, of which `largest` is the value now in it.
  SizeExpression get(const manifest::SizedField& field, std::int64_t largest) const {
    const auto found = m_.sized.find(field);
    return found == m_.sized.end() ? SizeExpression(largest) : found->second;
  }
  SizeExpression bytes(int tensor) const;
  void tensor(int tensor, int at);
  SizeExpression larger_of(const SizeExpression& a, const SizeExpression& b) const;

  manifest::Manifest& m_;
  const tile::TilePrograms& program_;
  const plan::Plan& plan_;
};

/// Returns the bytes from the first element of a tensor to the last.
SizeExpression SizedNumbers::bytes(int tensor) const {
  const graph::KernelTensor& t = program_.tensors[tensor];
  const std::int64_t width = graph::whole_bytes(t.dtype);
  SymbolicNumber all = width;
  for (int d = 0; d < static_cast<int>(t.shape.size()); ++d) {
    const SymbolicNumber extent = program_.extent(tensor, d), stride = program_.stride(tensor, d);
    all = all + ((extent.is_constant() ? SymbolicNumber(t.shape[d]) : extent) + -1) * stride * width;
  }
  return of(all);
}

void SizedNumbers::tensor(int tensor, int at) {
  for (int d = 0; d < static_cast<int>(program_.tensors[tensor].shape.size()); ++d)
    set({manifest::SizedField::extent, at, 0, d}, of(program_.extent(tensor, d))),
        set({manifest::SizedField::stride, at, 0, d}, of(program_.stride(tensor, d)));
  set({manifest::SizedField::bytes, at}, bytes(program_.memory_of(tensor)));
}

void SizedNumbers::launches() {
  std::size_t at = 0;
  for (const kernel::LaunchGroup& l : kernel::launches(plan_.kernels)) {
    const int index = static_cast<int>(at++);
    const kernel::Kernel& k = plan_.kernels[l.first];
    const std::vector<SymbolicNumber> grid = k.program.grid_of(program_.sizes);
    for (int axis = 0; axis < 3; ++axis) {
      if (grid[axis].is_constant()) continue;
      if (l.count() > 1 || k.blocks > 0)
        fail("{}: its grid is {} along {}, and its blocks share a launch of a constant number", k.name(),
             grid[axis].text(), "xyz"[axis]);
      set({manifest::SizedField::grid, index, 0, axis}, of(grid[axis]));
    }
    const std::span<const kernel::Kernel> programs(&k, l.count());
    const std::vector<Parameter> list = l.count() > 1 ? parameters(programs, program_) : parameters(k, program_);
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      if (list[i].size >= 0)
        set({manifest::SizedField::scalar, index, i}, of(SymbolicNumber::of(program_.sizes, list[i].size)));
      if (list[i].node < 0) continue;
      const std::vector<SymbolicNumber> extents = kernel::tensor_map_extents(k, program_, list[i].node);
      for (int d = 0; d < static_cast<int>(extents.size()); ++d)
        set({manifest::SizedField::map_extent, index, i, d}, of(extents[d]));
      const std::vector<SymbolicNumber> strides = kernel::tensor_map_strides(k, program_, list[i].node);
      for (int d = 0; d < static_cast<int>(strides.size()); ++d)
        set({manifest::SizedField::map_stride, index, i, d}, of(strides[d]));
    }
  }
}

/// Returns the larger of two expressions of sizes from 0 on: one of them, where it is the larger one for all values.
SizeExpression SizedNumbers::larger_of(const SizeExpression& a, const SizeExpression& b) const {
  constexpr std::int64_t maximum = 1 << 14;
  std::set<int> sizes = a.sizes();
  sizes.merge(b.sizes());
  if (sizes.size() > 1) return larger(a, b);
  std::vector<std::int64_t> values = manifest::largest(m_.sizes);
  bool first = true, second = true;
  if (sizes.empty()) return std::max(a.at(values), b.at(values));
  const tile::Size& s = m_.sizes[*sizes.begin()];
  if ((s.high - s.low) / s.multiple > maximum) return larger(a, b);
  for (std::int64_t& value = values[*sizes.begin()]; (first || second) && value >= s.low; value -= s.multiple) {
    const std::int64_t x = a.at(values), y = b.at(values);
    first = first && x >= y, second = second && y >= x;
  }
  return first ? a : second ? b : larger(a, b);
}

/// Puts the intermediate tensors, in the order of the packing of the largest ones, each as low as those allow that are below
/// it and needed at the same time: so they stay separate at all sizes.
void SizedNumbers::workspace() {
  constexpr std::size_t longest = 64;  // of an expression; beyond it the tensor stays where the largest ones let it be
  struct Part {
    int tensor, first = -1, last = -1;  // kernels that use it
  };
  std::vector<Part> parts;
  for (int t = 0; t < static_cast<int>(m_.tensors.size()); ++t)
    if (m_.tensors[t].role == manifest::Role::intermediate) parts.push_back({t});
  for (Part& part : parts)
    for (int k = 0; k < static_cast<int>(m_.kernels.size()); ++k)
      if (std::ranges::count(m_.kernels[k].tensors, part.tensor) > 0)
        part.first = part.first < 0 ? k : part.first, part.last = k;
  std::ranges::sort(parts, {}, [&](const Part& p) { return m_.tensors[p.tensor].offset; });
  const auto end_of = [&](int t) {
    const SizeExpression bytes = get({manifest::SizedField::bytes, t}, m_.tensors[t].bytes);
    return get({manifest::SizedField::offset, t}, m_.tensors[t].offset) + SizeExpression(unit) * ceil_div(bytes, unit);
  };
  const std::vector<std::int64_t> values = manifest::largest(m_.sizes);
  SizeExpression total = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    SizeExpression offset = 0;
    for (std::size_t below = 0; below < i; ++below) {
      const bool separate = parts[below].first >= 0 && parts[i].first >= 0 &&
                            (parts[below].last < parts[i].first || parts[i].last < parts[below].first);
      if (!separate) offset = larger_of(offset, end_of(parts[below].tensor));
    }
    const int t = parts[i].tensor;
    if (offset.length() <= longest)
      set({manifest::SizedField::offset, t}, offset), m_.tensors[t].offset = offset.at(values);
    total = larger_of(total, end_of(t));
  }
  if (total.length() > longest) return;
  set({manifest::SizedField::buffer_size}, total), m_.buffer_size = total.at(values);
}

}  // namespace

void add_sizes(manifest::Manifest& m, const plan::Plan& plan, const std::vector<int>& index) {
  std::ranges::copy_if(plan.program.sizes, std::back_inserter(m.sizes),
                       [](const tile::Size& s) { return !s.computed; });
  for (tile::Size& s : m.sizes) s.of.clear();
  SizedNumbers sizes(m, plan);
  sizes.tensors(index), sizes.launches(), sizes.workspace();
}

}  // namespace zellige::emit
