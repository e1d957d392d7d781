// The marker `_` of slices, and what it keeps.
#pragma once
#include <cute/container/tuple.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout/slice.hpp>
