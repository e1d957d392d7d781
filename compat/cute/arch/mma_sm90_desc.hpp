// Warpgroup matrix instructions, their operands in shared memory, and what waits for them.
#pragma once
#include <cute/arch/mma_sm90_gmma.hpp>
