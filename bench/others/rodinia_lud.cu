// gpu-rodinia's LU decomposition, whose three files are compiled as one: bench/counted.tsv names their folders.
#include "common.c"
#include "lud.cu"
#include "lud_kernel.cu"
