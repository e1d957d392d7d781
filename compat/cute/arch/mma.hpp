// CuTe's header for matrix instructions: the operations that MMA_Atoms name.
#pragma once
#include <cute/atom/mma_atom.hpp>
