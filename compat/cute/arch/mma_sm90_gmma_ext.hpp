// Warpgroup instructions for the less frequent N.
#pragma once
#include <cute/arch/mma_sm90_gmma.hpp>
#include <zellige/atom/gmma_names_ext.hpp>
