// Pointers to elements of which some are left out.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor.hpp>
