// CuTe's header for array_aligned, arrays aligned for vector accesses.
#pragma once
#include <cute/container/array.hpp>
