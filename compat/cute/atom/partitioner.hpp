// The parts that threads get of a tile.
#pragma once
#include <cute/atom/copy_atom.hpp>
