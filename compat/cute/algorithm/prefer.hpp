// CuTe's header for prefer<N>, which ranks overloads.
#pragma once
#include <cute/config.hpp>
#include <zellige/layout/prefer.hpp>
