// CuTe's header for packed_tuple, whose empty elements take no space: Zellige's only tuple.
#pragma once
#include <cute/container/tuple.hpp>
