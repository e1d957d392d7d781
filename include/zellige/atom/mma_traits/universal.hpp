// The multiplication that needs no instruction of its own.
#pragma once

#include <zellige/atom/mma_traits/row.hpp>

namespace zellige {

/// d = a * b + c by one thread, in the types given.
template <class D, class A = D, class B = A, class C = D>
struct UniversalFMA {
  ZELLIGE_ALGEBRA static constexpr MmaRow row() { return {0, 1, 1, 1}; }
};

}  // namespace zellige
