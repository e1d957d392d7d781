// Defines prefer<N>, a tag type that orders overloads. If f has the overloads f(x, prefer<0>) and f(x, prefer<1>), the
// call f(x, prefer<1>{}) selects the overload for prefer<1> if its constraints are satisfied, else the overload for
// prefer<0>.
#pragma once

namespace zellige {

template <unsigned N>
struct prefer : prefer<N - 1> {};
template <>
struct prefer<0> {};

}  // namespace zellige
