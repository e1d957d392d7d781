// Numbers and tuples of numbers.
#pragma once
#include <cute/algorithm/tuple_algorithms.hpp>
#include <cute/container/array.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout.hpp>
