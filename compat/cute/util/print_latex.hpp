// Layouts as LaTeX.
#pragma once
#include <cute/layout.hpp>
