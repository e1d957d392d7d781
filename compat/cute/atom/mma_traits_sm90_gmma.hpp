// CuTe's header for the traits of wgmma: thread-value layouts, shared-memory descriptors, waits.
#pragma once
#include <cute/arch/mma_sm90_gmma.hpp>
