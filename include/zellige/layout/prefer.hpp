// Defines prefer<N>, a tag type that orders overloads. If f is overloaded for f(x, prefer<0>) and f(x, prefer<1>), the
// call f(x, prefer<1>{}) selects the second one if its constraints are satisfied, else the first one.
#pragma once

namespace zellige {

template <unsigned N>
struct prefer : prefer<N - 1> {};
template <>
struct prefer<0> {};

}  // namespace zellige
