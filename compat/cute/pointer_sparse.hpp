// Pointers to elements of which some are left out.
#pragma once
#include <cute/pointer_base.hpp>
#include <zellige/tensor/sparse.hpp>
