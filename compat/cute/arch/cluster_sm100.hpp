// CuTe's header for cluster instructions of SM100. Includes CUTLASS's header if CUTLASS follows on the
// include path, else it is empty.
#pragma once
#if __has_include_next(<cute/arch/cluster_sm100.hpp>)
#include_next <cute/arch/cluster_sm100.hpp>
#endif
