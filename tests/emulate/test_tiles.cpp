// Tiles of shared memory: the layout through which they were written, their stages and parts, and the lanes
// and partial results that belong together; correct uses have no finding.
#include <zellige/block/reduce.hpp>
#include <zellige/block/tile.hpp>

#include "kernel.hpp"
#include "zellige/emulate/arrangement.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

std::string at(const char* tag) { return line_of(__FILE__, tag); }

using Unswizzled = Layout<Shape<_8, _64>, Stride<_64, _1>>;
using Swizzled = decltype(composition(Swizzle<3, 3, 3>{}, Unswizzled{}));

template <class Written, class Read>
__global__ void two_sides(In, Out y) {
  const auto tile = shared_tile<half_t, Written>("X", 0, 640);
  const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
  write<8>(tile(row, 8 * chunk), Vec<float, 8>{{float(row)}});  // <written>
  __syncthreads();
  y[threadIdx.x] = read<8>(view<Read>(tile)(row, 8 * chunk))[0];  // <read>
}

std::string swizzle_of_one_side(int thread, const char* bytes, const char* from, const char* as, const char* instead) {
  return "another layout on shared tensor X: thread " + std::to_string(thread) + " (warp " +
         std::to_string(thread / 32) + ") of block (0,0,0) reads bytes " + bytes + " at " + at("read") + "; thread " +
         from + " wrote them at " + at("written") + " through another layout, " + as + " instead of " + instead;
}

TEST(Tiles, ASwizzleOfOneSide) {
  Trial r(__FILE__, {1}, {64}, 1280);
  EXPECT_EQ(messages(r.run<two_sides<Swizzled, Unswizzled>>()),
            (Messages{swizzle_of_one_side(63, "1008..1024", "56 (warp 1)", "Swizzle<3,4,3> of bytes at strides 2, 128",
                                          "bytes at strides 2, 128")}));
  using Other = decltype(composition(Swizzle<2, 3, 3>{}, Unswizzled{}));
  EXPECT_EQ(messages(r.run<two_sides<Swizzled, Other>>()).size(), 1u);
}

TEST(Tiles, AStrideOfOneSide) {
  Trial r(__FILE__, {1}, {64}, 1280);
  using Longer = Layout<Shape<_8, _64>, Stride<Int<72>, _1>>;
  const EmulationReport report = r.run<two_sides<Unswizzled, Longer>>();
  EXPECT_EQ(std::count_if(report.findings.begin(), report.findings.end(),
                          [](const Finding& f) { return f.kind == Finding::Kind::layout; }),
            1);
}

// The same order of elements, seen otherwise.
TEST(Tiles, ViewsOfOneOrder) {
  const auto a = [](auto layout) { return arrangement(layout, 2); };
  const Unswizzled unswizzled{};
  EXPECT_TRUE(a(unswizzled).agrees(a(Layout<Shape<_64, _8>, Stride<_1, _64>>{})));                        // permuted
  EXPECT_TRUE(a(unswizzled).agrees(a(Layout<Shape<_1, _8, _64>, Stride<_0, _64, _1>>{})));                // a mode more
  EXPECT_TRUE(a(unswizzled).agrees(a(Layout<Shape<_8, Shape<_8, _8>>, Stride<_64, Stride<_1, _8>>>{})));  // split
  EXPECT_TRUE(a(unswizzled).agrees(a(Layout<Shape<Int<512>>, Stride<_1>>{})));                            // joined
  EXPECT_TRUE(a(unswizzled).agrees(a(Layout<Shape<_8, _1>, Stride<_64, _1>>{})));                         // sliced
  EXPECT_FALSE(a(unswizzled).agrees(a(Layout<Shape<_8, _64>, Stride<Int<72>, _1>>{})));
  EXPECT_FALSE(a(unswizzled).agrees(a(composition(Swizzle<3, 3, 3>{}, unswizzled))));
  // A swizzle that no offset reaches is none.
  const Layout<Shape<_1, _64>, Stride<_64, _1>> row;
  EXPECT_TRUE(a(row).agrees(a(composition(Swizzle<3, 3, 3>{}, row))));
}

// Four stages of 64 floats, one filled and read after the other; Bug: what the reader does instead.
enum class Bug { none, always_the_first, the_one_before };
template <Bug bug>
__global__ void ring(In x, Out y) {
  const auto tile = shared_ring<float, 4, Layout<Shape<_1, _64>, Stride<_64, _1>>>("ring", 0, 256);
  const int t = threadIdx.x;
  for (int s = 0; s < 4; ++s) tile.shift(s * 64)(0, t)[0] = x[s * 64 + t];  // <filled>
  __syncthreads();
  float sum = 0;
  for (int s = 0; s < 4; ++s) {
    const int stage = bug == Bug::always_the_first ? 0 : bug == Bug::the_one_before && s == 3 ? 1 : s;
    sum += tile.shift(stage * 64)(0, 63 - t)[0];  // <consumed>
  }
  y[t] = sum;
}

TEST(Tiles, StagesAreReadOnceFilledAndInOrder) {
  Trial r(__FILE__, {1}, {64}, 1024);
  EXPECT_EQ(messages(r.run<ring<Bug::none>>()), Messages{});
  EXPECT_EQ(messages(r.run<ring<Bug::always_the_first>>()),
            (Messages{"unread stage 1 of shared tensor ring: thread 0 (warp 0) of block (0,0,0) began to fill it at " +
                      at("filled") + " and nobody has read it"}));
  const Messages old = messages(r.run<ring<Bug::the_one_before>>());
  ASSERT_GE(old.size(), 1u);
  EXPECT_EQ(old[0], "an old stage of shared tensor ring: thread 63 (warp 1) of block (0,0,0) reads at " +
                        at("consumed") + " the stage that thread 0 (warp 0) began to fill at " + at("filled") +
                        ", and has read a later one since");
}

template <int Parts, int Lanes>
__global__ void sums(In x, Out y) {
  const auto tile = shared_sums<float, 4, Layout<Shape<_4, _8, _1>, Stride<_8, _1, _1>>>("s", 0, 32);
  const int lane = threadIdx.x, row = lane / 4;
  const float sum = sum_lanes<Lanes>(x[lane], row);  // <lanes>
  tile(lane % 4, row, 0)[0] = sum;
  __syncwarp();
  y[lane] = read_sum<1, Parts>(tile, lane % 8, 0)[0];  // <parts>
}

TEST(Tiles, LanesAndPartialSumsThatBelongTogether) {
  Trial r(__FILE__, {1}, {32}, 128);
  EXPECT_EQ(messages(r.run<sums<4, 4>>()), Messages{});
  const Messages few = messages(r.run<sums<3, 4>>());
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0], "instruction at " + at("parts") +
                        ", thread 30 (warp 0) of block (0,0,0): it puts 3 partial results of a tile of 4 together");
  EXPECT_EQ(few[1].substr(0, few[1].find(':')), "unread part 3 of shared tensor s");
  const auto lanes = [&](const Messages& m) { return m.empty() ? "" : m[0].substr(m[0].find("sum_lanes")); };
  EXPECT_EQ(lanes(messages(r.run<sums<4, 2>>())),
            "sum_lanes<2>: lanes 31 and 28 hold parts of one result and are not put together");
  EXPECT_EQ(lanes(messages(r.run<sums<4, 8>>())),
            "sum_lanes<8>: lanes 31 and 24 hold parts of different results and are put together");
}

}  // namespace
}  // namespace zellige::emulate
