// Pointers to sparse elements.
#pragma once
#include <cute/pointer_base.hpp>
#include <zellige/tensor/sparse.hpp>
