// Static integers.
#pragma once
#include <cute/numeric/math.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout/integer.hpp>
