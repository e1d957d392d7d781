// CuTe's header for copy instructions: the operations that Copy_Atoms name.
#pragma once
#include <cute/atom/copy_atom.hpp>
