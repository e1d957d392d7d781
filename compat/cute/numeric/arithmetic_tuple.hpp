// Coordinates as a module: arithmetic tuples and basis elements.
#pragma once
#include <cute/algorithm/tuple_algorithms.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout.hpp>
#include <zellige/tensor/iterator.hpp>
