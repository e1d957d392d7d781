// CuTe's header for the thread-value layouts of warp-level matrix instructions of SM90.
#pragma once
#include <cute/atom/mma_atom.hpp>
