// The tuple whose empty elements take no space: the only one in Zellige.
#pragma once
#include <cute/container/tuple.hpp>
