// The words of the textual form for the values of enums. Printer and parser use the same ones: those that name() returns,
// with underscores in place of blanks.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops.hpp"
#include "kernel/kernel.hpp"

namespace zellige::kernel {

inline std::string_view name(kernel::Global global) {
  static constexpr std::string_view names[] = {"nothing", "constants", "anything"};
  return names[static_cast<std::size_t>(global)];
}
inline std::string_view name(kernel::Loop::Kind kind) {
  static constexpr std::string_view names[] = {"iterations", "prologue", "slices", "tiles"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace zellige::kernel

namespace zellige::ir {

/// Returns all values of an enum whose last one is `last`.
template <class E>
std::vector<E> up_to(E last) {
  std::vector<E> all;
  for (int i = 0; i <= static_cast<int>(last); ++i) all.push_back(static_cast<E>(i));
  return all;
}
inline std::vector<graph::DType> values_of(graph::DType) { return graph::all_dtypes(); }
inline std::vector<graph::OpKind> values_of(graph::OpKind) { return graph::all_ops(); }
inline auto values_of(tile::NodeKind) { return up_to(tile::NodeKind::store); }
inline auto values_of(kernel::WorkKind) { return up_to(kernel::WorkKind::from_cluster); }
inline auto values_of(kernel::Synchronisation) { return up_to(kernel::Synchronisation::mbarrier_commit); }
inline auto values_of(kernel::Global) { return up_to(kernel::Global::anything); }
inline auto values_of(kernel::Loop::Kind) { return up_to(kernel::Loop::tiles); }

/// Returns the word of a value.
template <class E>
std::string word_of(E value) {
  std::string word(name(value));
  std::ranges::replace(word, ' ', '_');
  return word;
}

}  // namespace zellige::ir
