// Ranked overloads.
#pragma once
#include <cute/config.hpp>
#include <zellige/layout/prefer.hpp>
