// OuterProduct: a warp's float32 matmul on FMA units (SIMT), for types without a matrix instruction. Each
// thread keeps TM x TN accumulators in registers, LM x LN threads tile the warp, and a step takes 4 of K:
// four outer products of the elements that the thread reads of each operand.
//
//   using P = OuterProduct<4, 4, 4, 8>;          // 16 x 32 accumulators per warp
//   P::at(5, 6)                                  // {5, 10}: the lane has rows 4 to 7, columns 8 to 11
//
// Lanes are numbered so that lane ^ 1 reads the same of B, and lane ^ 2 the same of A: then two phases of a
// 16-byte load are merged (emulate/wavefronts.hpp). That needs at least two lanes in each direction.
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/atom/mma_coordinates.hpp>
#include <zellige/atom/thread_value.hpp>

namespace zellige {

template <int TM, int TN, int LM, int LN>
struct OuterProduct {
  static_assert(LM * LN == 32, "OuterProduct: the lanes of a warp are 32");
  static_assert((TM == 1 || TM == 2 || TM == 4) && (TN == 1 || TN == 2 || TN == 4),
                "OuterProduct: a thread's rows and columns come in loads of 1, 2 or 4");
  static constexpr int rows = TM, columns = TN;  // per thread
  static constexpr int m = TM * LM, n = TN * LN, k = 4;
  static constexpr int together = LM > 1 ? 2 : 1;  // adjacent lanes along M
  /// In the form of matrix instructions: (lanes, values) -> index into (M, N), M fastest.
  static constexpr ThreadValue layout{{{together, TM}, {LN, TN* m}, {LM / together, together* TM}},
                                      {{TN, m}, {TM, 1}}};

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
