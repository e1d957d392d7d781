// dependent_false<T...>: false, but dependent on template parameters, for static_assert in templates.
#pragma once
#if __has_include_next(<cutlass/detail/dependent_false.hpp>)
#include_next <cutlass/detail/dependent_false.hpp>
#else
#include <cute/config.hpp>

namespace cutlass::detail {

template <class...>
inline constexpr bool dependent_false = false;

template <auto...>
inline constexpr bool dependent_bool_false = false;

}  // namespace cutlass::detail
#endif
