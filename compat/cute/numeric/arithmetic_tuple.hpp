// CuTe's header for ArithmeticTuple and basis elements: coordinates that can be added and scaled.
#pragma once
#include <cute/algorithm/tuple_algorithms.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout.hpp>
#include <zellige/tensor/iterator.hpp>
