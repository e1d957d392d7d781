// Partitions a tile over threads.
#pragma once
#include <cute/atom/copy_atom.hpp>
