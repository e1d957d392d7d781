// Algorithms on tuples.
#pragma once
#include <cute/algorithm/functional.hpp>
#include <cute/container/tuple.hpp>
#include <cute/numeric/integer_sequence.hpp>
#include <zellige/layout/tuple_modes.hpp>
