// CuTe's header for the thread-value layouts of copy instructions of SM50.
#pragma once
#include <cute/atom/copy_atom.hpp>
