// Layouts as SVG.
#pragma once
#include <cute/layout.hpp>
