// CuTe's header for copy instructions of SM50, provided by Zellige's copy instructions.
#pragma once
#include <cute/atom/copy_atom.hpp>
