// TMA: the copies made by make_tma_copy, and the groups of stores.
#pragma once
#include <cute/atom/copy_traits_sm90_tma.hpp>
