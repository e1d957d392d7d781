// Swizzles of layouts.
#pragma once
#include <cute/layout.hpp>
