// CuTe's header for ComposedLayout.
#pragma once
#include <cute/layout.hpp>
