// How many of its cases a test takes: a sample by default, all of them with ZELLIGE_ALL=1.
//
//   for (std::size_t i = 0; i < graphs.size(); i += test::every(9)) check(graphs[i]);
//   const int seeds = test::all_cases() ? 40 : 12;
#pragma once
#include <cstddef>
#include <cstdlib>

namespace zellige::test {

/// Returns true if tests take all of their cases.
inline bool all_cases() { return std::getenv("ZELLIGE_ALL") != nullptr; }

/// Returns the step from one case that is taken to the next: n by default, 1 if all are taken.
inline std::size_t every(std::size_t n) { return all_cases() ? 1 : n; }

/// Returns true if the case is taken: by default one of each row of `columns` cases, each row's one further than the
/// row's before, so that every row has a case, and every column where there are as many rows.
inline bool one_a_row(std::size_t place, std::size_t columns) {
  return all_cases() || place % columns == place / columns % columns;
}

}  // namespace zellige::test
