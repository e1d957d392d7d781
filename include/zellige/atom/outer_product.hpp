// Defines OuterProduct<TM, TN, LM, LN>: how the 32 threads of a warp divide a float32 matmul on FMA units (SIMT), for
// types that have no matrix instruction. LM x LN threads cover a tile, and each thread has TM x TN accumulators in
// registers. One step covers 4 values of k. For each k, a thread adds the outer product of TM elements of A and TN
// elements of B to its accumulators.
//
//   using P = OuterProduct<4, 4, 4, 8>;          // 16 x 32 accumulators per warp
//   P::at(5, 6)                                  // {5, 10}: the lane has rows 4 to 7, columns 8 to 11
//
// Lanes i and i ^ 1 read the same elements of B, and lanes i and i ^ 2 the same elements of A, if LM and LN are at
// least 2. The hardware serves a 16-byte shared-memory load of a warp in four phases, and merges two phases whose
// lanes read equal addresses in this way (emulate/wavefronts.hpp).
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/atom/mma_coordinates.hpp>
#include <zellige/atom/thread_value.hpp>

namespace zellige {

/// Distribution of a warp's m x n accumulators: LM x LN threads with TM x TN accumulators per thread. TM and TN are 1,
/// 2 or 4; LM * LN is 32.
template <int TM, int TN, int LM, int LN>
struct OuterProduct {
  static_assert(LM * LN == 32, "OuterProduct: the lanes of a warp are 32");
  static_assert((TM == 1 || TM == 2 || TM == 4) && (TN == 1 || TN == 2 || TN == 4),
                "OuterProduct: a thread's rows and columns come in loads of 1, 2 or 4");
  static constexpr int rows = TM, columns = TN;  // per thread
  static constexpr int m = TM * LM, n = TN * LN, k = 4;
  static constexpr int together = LM > 1 ? 2 : 1;  // lanes i and i ^ 1 lie along M
  /// The thread-value layout of the accumulators, as of a matrix instruction's: (lane, value) to an index into
  /// (M, N), M fastest.
  static constexpr ThreadValue layout{{{together, TM}, {LN, TN* m}, {LM / together, together* TM}}, {{TN, m}, {TM, 1}}};

  /// Returns the position, row and column in the warp's tile, of accumulator number `value` of lane `lane`. A lane's
  /// accumulators are numbered row by row.
  ZELLIGE_ANYWHERE static constexpr ElementAt at(int lane, int value) {
    return {(lane % together + lane / (together * LN) * together) * TM + value / TN,
            lane / together % LN * TN + value % TN};
  }
};

template <int TM, int TN, int LM, int LN>
struct MmaRowOf<OuterProduct<TM, TN, LM, LN>> {
  static constexpr int m = TM * LM, n = TN * LN, k = OuterProduct<TM, TN, LM, LN>::k;
};

template <int TM, int TN, int LM, int LN>
struct MmaCoordinates<OuterProduct<TM, TN, LM, LN>, MmaPart::c> {
  static constexpr int values = TM * TN, neighbours = TN;
  ZELLIGE_ANYWHERE static constexpr ElementAt at(int lane, int value) {
    return OuterProduct<TM, TN, LM, LN>::at(lane, value);
  }
};

}  // namespace zellige
