#include "lower/size_marks.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::lower {

using tile::SymbolicNumber;

void SizeMarks::add_slices() {
  for (int s = 0; s < static_cast<int>(p_.sizes.size()); ++s)
    for (const auto& [name, dim] : p_.sizes[s].marks)
      for (int t = 0; t < static_cast<int>(p_.tensors.size()); ++t) {
        if (dim < 0 || p_.tensors[t].name != name || dim >= static_cast<int>(p_.tensors[t].shape.size())) continue;
        const SymbolicNumber number = SymbolicNumber::of(p_.sizes, s);
        if (const auto there = in_memory(t, dim); there && p_.starts(t)[dim] == 0) add(*there, number.high(), number);
      }
}

void SizeMarks::add(const MemoryDimension& where, std::int64_t at, const SymbolicNumber& number) {
  if (at == 0 || number.is_constant()) return;
  const auto [found, is_new] = marks_[where].try_emplace(at, number);
  if (!is_new && found->second != number)
    fail("{}: element {} of dimension {} of {} is {} and {}, which differ at other sizes: give them other maxima",
         p_.name, at, where.second, p_.tensors[where.first].name, found->second.text(), number.text());
}

std::optional<MemoryDimension> SizeMarks::in_memory(int tensor, int dim) const {
  const int memory = p_.memory_of(tensor);
  if (memory == tensor) return MemoryDimension{memory, dim};
  const graph::KernelTensor &seen = p_.tensors[tensor], &base = p_.tensors[memory];
  for (int k = 0; k < static_cast<int>(base.shape.size()); ++k)
    if (base.shape[k] > 1 && base.strides[k] == seen.strides[dim] && seen.shape[dim] <= base.shape[k])
      return MemoryDimension{memory, k};
  return std::nullopt;
}

bool SizeMarks::has(int tensor) const {
  return std::ranges::any_of(marks_, [&](const auto& of) { return of.first.first == tensor; });
}

std::optional<SymbolicNumber> SizeMarks::at(int tensor, int dim, std::int64_t at) const {
  if (at == 0) return SymbolicNumber(0);
  const auto where = in_memory(tensor, dim);
  if (!where) return std::nullopt;
  if (const auto marks = marks_.find(*where); marks != marks_.end())
    if (const auto found = marks->second.find(at); found != marks->second.end()) return found->second;
  const SymbolicNumber extent = p_.extent(where->first, where->second);
  return at == p_.tensors[where->first].shape[where->second] && !extent.is_constant() ? std::optional(extent)
                                                                                      : std::nullopt;
}

std::optional<SizedPartOfDimension> SizeMarks::part(int tensor, int dim, std::int64_t begin, std::int64_t end) const {
  const auto where = in_memory(tensor, dim);
  if (!where || (begin == 0 && end == p_.tensors[where->first].shape[where->second])) return std::nullopt;
  const auto first = at(tensor, dim, begin), last = at(tensor, dim, end);
  const auto depends = [](const std::optional<SymbolicNumber>& n) { return n && !n->is_constant(); };
  if (!depends(first) && !depends(last)) return std::nullopt;
  const SymbolicNumber from = first.value_or(begin);
  const bool to_the_end = end == p_.tensors[where->first].shape[where->second];
  if (!last && !to_the_end) return SizedPartOfDimension{from, end - begin};  // as many elements at all sizes
  return SizedPartOfDimension{from, last.value_or(end) + from * -1};
}

std::optional<SymbolicNumber> SizeMarks::merged_extent(int view, int dim) const {
  const int memory = p_.memory_of(view);
  const graph::KernelTensor &seen = p_.tensors[view], &base = p_.tensors[memory];
  const std::int64_t step = seen.strides[dim];
  for (int k = 0; step > 0 && memory != view && k < static_cast<int>(base.shape.size()); ++k) {
    const std::int64_t row = base.strides[k], first = p_.starts(view)[dim] * step, reach = seen.shape[dim] * step;
    if (base.shape[k] == 1 || row <= step || row % step != 0 || first % row != 0 || reach % row != 0) continue;
    if (!p_.stride(memory, k).is_constant()) continue;
    std::int64_t before = 0;  // rows before those that the dimension begins with
    for (int e = 0; e < static_cast<int>(seen.shape.size()); ++e)
      if (e != dim && seen.strides[e] == row) before += p_.starts(view)[e];
    if (const auto of = part(memory, k, before + first / row, before + reach / row)) return of->extent * (row / step);
  }
  return std::nullopt;
}

}  // namespace zellige::lower
