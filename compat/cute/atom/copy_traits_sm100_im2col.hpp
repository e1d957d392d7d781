// Instructions of SM100 and SM120: CUTLASS's own, where it stands behind on the path; else nothing.
#pragma once
#if __has_include_next(<cute/atom/copy_traits_sm100_im2col.hpp>)
#include_next <cute/atom/copy_traits_sm100_im2col.hpp>
#endif
