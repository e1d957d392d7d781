// Warpgroup instructions of the rarer N: all are in one table.
#pragma once
#include <cute/arch/mma_sm90_gmma.hpp>
