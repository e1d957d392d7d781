// The swizzles supported by TMA.
#pragma once
#include <cute/atom/copy_traits_sm90_tma.hpp>
