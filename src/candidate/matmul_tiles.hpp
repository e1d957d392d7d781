// The tiles that are tried for matmuls in fused kernels.
#pragma once

namespace zellige::fuse {

/// Tiles that are tried for matmuls on tensor cores: M, N, K and threads. K is of 16-bit operands; wider ones have as
/// many bytes of K.
inline constexpr int products[][4] = {
    {128, 256, 64, 256}, {128, 192, 64, 256}, {128, 128, 64, 256}, {128, 128, 128, 256}, {128, 64, 64, 256},
    {64, 256, 64, 128},  {64, 128, 64, 128},  {64, 64, 64, 128},   {64, 64, 128, 128},   {64, 32, 128, 128},
    {64, 64, 32, 128},   {32, 128, 64, 128},  {32, 64, 128, 128},  {16, 128, 128, 128},  {16, 64, 128, 128},
    {16, 64, 256, 128},  {16, 32, 128, 128},  {16, 32, 256, 128},  {16, 256, 64, 128}};

/// Tiles that are tried for float32 matmuls on FMA units (M, N, K and threads): 8 x 8 or 8 x 4 accumulators
/// per thread, or streamed weights for small M.
inline constexpr int outer_product_tiles[][4] = {
    {128, 128, 32, 256}, {128, 64, 32, 256}, {64, 128, 32, 256}, {64, 64, 64, 256}, {128, 64, 32, 128},
    {64, 128, 32, 128},  {64, 64, 32, 128},  {64, 64, 64, 128},  {64, 32, 32, 128}, {32, 64, 32, 128},
    {32, 32, 64, 128},   {16, 64, 64, 128},  {16, 32, 128, 128}, {8, 32, 256, 256}, {16, 128, 32, 128}};

}  // namespace zellige::fuse
