// Learn-CUDA-Programming's two scans, whose three files are compiled as one: bench/counted.tsv names their folder.
#include "scan.cu"
#include "scan_v1.cu"
#include "scan_v2.cu"
