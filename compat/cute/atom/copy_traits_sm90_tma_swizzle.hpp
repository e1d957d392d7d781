// CuTe's header for the swizzles that TMA supports.
#pragma once
#include <cute/atom/copy_traits_sm90_tma.hpp>
