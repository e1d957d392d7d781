// Not here.
#pragma once
#error \
    "cute/atom/copy_traits_sm100_tma.hpp: Zellige has the instructions up to SM90a; those of SM100 (tcgen05, tensor memory) and SM120 are not there"
