// Part of <cutlass/numeric_types.h>.
#pragma once
#include <cutlass/numeric_types.h>
