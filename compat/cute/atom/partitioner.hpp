// CuTe's header for TV_Tiler, which partitions a tile over threads.
#pragma once
#include <cute/atom/copy_atom.hpp>
