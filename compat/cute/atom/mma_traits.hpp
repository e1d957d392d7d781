// CuTe's header for MMA_Traits, the thread-value layouts of matrix instructions.
#pragma once
#include <cute/atom/mma_atom.hpp>
