// CuTe's header for shared-memory descriptors of wgmma, provided with the wgmma instructions.
#pragma once
#include <cute/arch/mma_sm90_gmma.hpp>
