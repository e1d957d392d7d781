// CuTe's header for the thread-value layouts of matrix instructions of SM70.
#pragma once
#include <cute/atom/mma_atom.hpp>
