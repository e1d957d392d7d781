// CuTe's header for copy traits of SM100: CUTLASS's header if CUTLASS follows on the include path,
// else Zellige's own.
#pragma once
#if __has_include_next(<cute/atom/copy_traits_sm100.hpp>)
#include_next <cute/atom/copy_traits_sm100.hpp>
#else
#include <zellige/atom/byte_matrix.hpp>
#include <zellige/atom/tmem_copy.hpp>
#include <zellige/atom/tmem_from_shared.hpp>
#endif
