// CuTe's header for swizzled layouts, that is compositions of a Swizzle and a Layout.
#pragma once
#include <cute/layout.hpp>
