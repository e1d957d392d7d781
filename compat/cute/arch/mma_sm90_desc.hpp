// Warpgroup matrix instructions, their shared-memory operands, and their waits.
#pragma once
#include <cute/arch/mma_sm90_gmma.hpp>
