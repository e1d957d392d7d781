// TMA: the copies that make_tma_copy makes, and the groups of stores.
#pragma once
#include <cute/atom/copy_traits_sm90_tma.hpp>
