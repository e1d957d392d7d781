// The swizzles that TMA knows.
#pragma once
#include <cute/atom/copy_traits_sm90_tma.hpp>
