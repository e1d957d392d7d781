// The tuple that needs no space for empty elements: the only one there is.
#pragma once
#include <cute/container/tuple.hpp>
