// CuTe's header for copy instructions of SM100: CUTLASS's header if CUTLASS follows on the include path,
// else Zellige's own.
#pragma once
#if __has_include_next(<cute/arch/copy_sm100.hpp>)
#include_next <cute/arch/copy_sm100.hpp>
#else
#include <zellige/atom/byte_matrix.hpp>
#include <zellige/atom/tmem_copy.hpp>
#include <zellige/atom/tmem_from_shared.hpp>
#endif
