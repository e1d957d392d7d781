// Overloads in an order of preference.
#pragma once
#include <cute/config.hpp>
#include <zellige/layout/prefer.hpp>
