// Included by every generated unit of the compile-time API: the library, and element types to print.
#pragma once
#include <iostream>
#include <sstream>
#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/layout/gmma_atoms.hpp>
#include <zellige/numeric/int.hpp>
#include <zellige/tensor/print.hpp>

#include "answer.hpp"

using namespace zellige;
