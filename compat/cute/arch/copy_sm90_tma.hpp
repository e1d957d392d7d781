// CuTe's header for TMA instructions: the copies that make_tma_copy selects, and commits and waits of stores.
#pragma once
#include <cute/atom/copy_traits_sm90_tma.hpp>
