// Shared-memory layouts whose pointer is still to come.
#pragma once
#include <cute/pointer.hpp>
