// Not here.
#pragma once
#error \
    "cute/arch/copy_sm100.hpp: Zellige has the instructions up to SM90a; those of SM100 (tcgen05, tensor memory) and SM120 are not there"
