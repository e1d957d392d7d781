// A row-major tensor of float32 on the host, as the tests of the C ABI pass it.
#pragma once
#include <zellige/api.h>

#include <cstdint>

struct Floats {
  alignas(64) float values[32];
  std::int64_t shape[2] = {4, 8}, strides[2] = {8, 1};
  zellige_tensor tensor() {
    zellige_tensor t{};
    t.data = values, t.device_type = 1, t.rank = 2;
    t.dtype_code = 2, t.dtype_bits = 32, t.dtype_lanes = 1;
    t.shape = shape, t.strides = strides;
    return t;
  }
};
