// Arrays aligned for vector accesses.
#pragma once
#include <cute/container/array.hpp>
