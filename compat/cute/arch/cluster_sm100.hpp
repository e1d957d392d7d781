// CuTe's header for clusters of SM100: CUTLASS's header if CUTLASS follows on the include path, else the launch control of
// Zellige, under its own names.
#pragma once
#if __has_include_next(<cute/arch/cluster_sm100.hpp>)
#include_next <cute/arch/cluster_sm100.hpp>
#else
#include <zellige/atom/launch_control.hpp>
#endif
