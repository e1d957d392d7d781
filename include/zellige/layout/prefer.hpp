// Ranks overloads: of f(x, prefer<0>) and f(x, prefer<1>), the call f(x, prefer<1>{}) selects the second if
// its constraints are satisfied, else the first.
#pragma once

namespace zellige {

template <unsigned N>
struct prefer : prefer<N - 1> {};
template <>
struct prefer<0> {};

}  // namespace zellige
