// What a launcher of a public attention kernel is asked to run. A launcher is a shared library with one function:
//   extern "C" int launch(Attention const&);   // on the default stream; 0, or a cudaError_t
// compare.cpp loads two of them, one built with our headers and one with CuTe's, and compares what they write.
#pragma once
#include <cstdint>

/// Row-major tensors of 16-bit floats: q and out (batch, rows, heads, depth), k and v (batch, columns, kv_heads, depth).
/// FlashMLA's: q (batch, rows, heads, 576), k (pages, 64, 576), v is the first 512 of k, out (batch, rows, heads, 512).
struct Attention {
  int batch, heads, kv_heads, rows, columns, depth;
  bool causal;
  float scale;
  void *q, *k, *v, *out;
  float* lse;  // (batch, heads, rows)
  float *partial_out,
      *partial_lse;  // of two halves of the columns, where `halves`: (2 * batch, rows, heads, ...)
  bool halves;
  void* scratch;  // 64 KiB of zeros at first
  int multiprocessors;
};
