// Alignment.
#pragma once
#include <cute/numeric/int.hpp>
#include <zellige/container/alignment.hpp>

#define CUTE_ALIGNAS(n) alignas(n)
