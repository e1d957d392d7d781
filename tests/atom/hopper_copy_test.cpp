// TMA and bulk copies on the emulator: what they move, omit and refuse; and the host's messages for
// descriptors that the hardware would refuse.
#include <array>
#include <functional>
#include <zellige/atom.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/tma.hpp>

#include "emulate/box.hpp"
#include "launch.hpp"

namespace zellige {
namespace {

std::string at(const char* tag) { return line_of("hopper_copy_test.cpp", tag); }

int within(std::mt19937& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

TmaTensor draw(std::mt19937& random, bool im2col) {
  for (;;) {
    TmaTensor t;
    t.rank = im2col ? within(random, 3, 5) : within(random, 1, 5);
    t.im2col = im2col;
    t.element = std::array{TmaElement::u8, TmaElement::f16, TmaElement::f32, TmaElement::f64}[random() % 4];
    const int64_t size = tma_element_bytes(t.element);
    t.box[0] = within(random, 1, 3) * 16 / size;
    int64_t stride = 0;
    for (int d = 0; d < t.rank; ++d) {
      t.extent[d] = within(random, 1, d ? 6 : 40);
      if (d) {
        t.box[d] = within(random, 1, 5);
        t.stride[d] = stride = ((d == 1 ? t.extent[0] * size : stride * t.extent[d - 1]) + 15) / 16 * 16;
        t.element_stride[d] = within(random, 1, 3);
      }
    }
    t.channels = static_cast<int>(t.box[0]), t.pixels = within(random, 1, 20);
    t.swizzle = static_cast<SwizzleMode>(random() % 4);
    for (int d = 0; im2col && d < t.rank - 2; ++d)
      t.lower[d] = within(random, -2, 0), t.upper[d] = within(random, -1, 2);
    if (tma_descriptor_error(t, 0).empty()) return t;
  }
}
emulate::TmaMap map_of(const TmaTensor& t) {
  const TmaDescriptor d = make_tma_descriptor_emulated(t, static_cast<uint64_t>(tma_tensor_bytes(t)));
  emulate::TmaMap map;
  std::memcpy(static_cast<void*>(&map), d.bytes, sizeof(map));
  return map;
}

// Element by element: where each of the box comes from; -1 for outside.
std::vector<int64_t> places(const TmaTensor& t, const int* at, const uint16_t* offsets) {
  std::vector<int64_t> all;
  const int64_t size = tma_element_bytes(t.element);
  const auto place = [&](const std::vector<int64_t>& x) {
    int64_t byte = x[0] * size;
    for (int d = 0; d < t.rank; ++d) {
      if (x[d] < 0 || x[d] >= t.extent[d]) return int64_t{-1};
      if (d) byte += x[d] * t.stride[d];
    }
    return byte;
  };
  if (!t.im2col) {
    std::vector<int64_t> i(5);
    const auto count = [&](int d) { return (t.box[d] + t.element_stride[d] - 1) / t.element_stride[d]; };
    const std::function<void(int)> loop = [&](int d) {
      if (d < 0) {
        std::vector<int64_t> x(t.rank);
        for (int e = 0; e < t.rank; ++e) x[e] = at[e] + i[e] * t.element_stride[e];
        all.push_back(place(x));
        return;
      }
      for (i[d] = 0; i[d] < count(d); ++i[d]) loop(d - 1);
    };
    loop(t.rank - 1);
    return all;
  }
  // All pixels of the bounding boxes in order, from the base on.
  std::vector<std::vector<int64_t>> pixels;
  const int dims = t.rank - 2;
  std::vector<int64_t> p(dims);
  for (int64_t n = at[t.rank - 1]; n < at[t.rank - 1] + 90 && pixels.size() < 4000; n += t.element_stride[t.rank - 1]) {
    const std::function<void(int)> loop = [&](int d) {
      if (d < 0) {
        auto q = p;
        q.push_back(n);
        pixels.push_back(q);
        return;
      }
      for (p[d] = t.lower[d]; p[d] <= t.extent[d + 1] - 1 + t.upper[d]; p[d] += t.element_stride[d + 1]) loop(d - 1);
    };
    loop(dims - 1);
  }
  std::vector<int64_t> base;
  for (int d = 0; d < dims; ++d) base.push_back(at[d + 1]);
  base.push_back(at[t.rank - 1]);
  const auto first = std::find(pixels.begin(), pixels.end(), base) - pixels.begin();
  for (int i = 0; i < t.pixels; ++i) {
    for (int c = 0; c < t.channels; ++c) {
      std::vector<int64_t> x{at[0] + c};
      for (int d = 0; d < dims; ++d) x.push_back(pixels[first + i][d] + offsets[d]);
      x.push_back(pixels[first + i][dims]);
      all.push_back(place(x));
    }
  }
  return all;
}

TEST(HopperBox, HoldsWhatElementByElementLoopsFind) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 4000; ++trial) {
    const bool im2col = trial % 2;
    const TmaTensor t = draw(random, im2col);
    int at[5];
    uint16_t offsets[3];
    for (int d = 0; d < t.rank; ++d) at[d] = within(random, -4, static_cast<int>(t.extent[d]) + 2);
    for (uint16_t& o : offsets) o = static_cast<uint16_t>(random() % 3);
    if (im2col) {
      for (int d = 0; d < t.rank - 2; ++d) {
        const int64_t steps = (t.extent[d + 1] - 1 + t.upper[d] - t.lower[d]) / t.element_stride[d + 1];
        at[d + 1] = t.lower[d] + within(random, 0, static_cast<int>(steps)) * static_cast<int>(t.element_stride[d + 1]);
      }
      at[t.rank - 1] = within(random, 0, static_cast<int>(t.extent[t.rank - 1]));
    }
    const emulate::Box box = emulate::box_of(map_of(t), at, im2col ? offsets : nullptr);
    const std::vector<int64_t> want = places(t, at, offsets);
    const auto size = static_cast<std::size_t>(tma_element_bytes(t.element));
    ASSERT_EQ(box.bytes, want.size() * size) << trial;
    EXPECT_EQ(box.bytes, static_cast<std::size_t>(tma_box_bytes(t))) << trial;
    const auto line = static_cast<std::size_t>(t.box[0]) * size;
    for (std::size_t b = 0; b < box.bytes; ++b)  // lines begin at spans
      ASSERT_EQ(box.place(b), b / line * (t.swizzle == SwizzleMode::none ? line : 16u << int(t.swizzle)) + b % line);
    std::vector<int64_t> got(want.size(), -1);
    for (const auto& run : box.runs)
      for (unsigned b = 0; b < run.bytes; b += size) got[(run.to + b) / size] = static_cast<int64_t>(run.from + b);
    ASSERT_EQ(got, want) << trial << (im2col ? " im2col" : "");
  }
}

// A tile goes in and comes out again, elsewhere.
__global__ void carries(const __grid_constant__ TmaDescriptor from, const __grid_constant__ TmaDescriptor to, int x,
                        int to_x, int y, unsigned bytes, gmem<half_t> seen) {
  const auto tile = shared<half_t>("tile", 0, 64 * 16);
  const auto full = shared<uint64_t>("full", 2048, 1);
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(full, bytes);
    tma_load_2d(tile, from, full, x, y);
  }
  __syncthreads();
  mbarrier_wait(full, 0);
  for (unsigned i = threadIdx.x; i < 64 * 16; i += blockDim.x) seen[i] = tile[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    tma_store_2d(to, tile, to_x, y);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
TEST(HopperCopy, EdgesAreZeroInsideAndUntouchedOutside) {
  for (SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b128}) {
    Buffer x = filled<half_t>("x", 100 * 24, [](std::size_t i) { return half_t(static_cast<float>(i % 1000)); });
    Buffer y = filled<half_t>("y", 100 * 24, [](std::size_t) { return half_t(-1.0f); }), seen("seen", 64 * 16 * 2);
    const TmaTensor t{.name = "x", .extent = {96, 24}, .stride = {0, 208}, .box = {64, 16}, .swizzle = mode};
    TmaTensor small = t;
    small.extent[1] = 23;  // stride 104 halves
    Buffer big = filled<half_t>("x", 104 * 24, [](std::size_t i) { return half_t(static_cast<float>(i % 1000)); });
    Buffer out = filled<half_t>("y", 104 * 24, [](std::size_t) { return half_t(-1.0f); });
    LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 2056, .workers = 1};
    config.parameters.emplace_back(make_tma_descriptor_emulated(t, big.bytes()), big, false);
    config.parameters.emplace_back(make_tma_descriptor_emulated(t, out.bytes()), out, true);
    config.parameters.emplace_back(-8);
    config.parameters.emplace_back(64);
    config.parameters.emplace_back(14);
    config.parameters.emplace_back(64u * 16 * 2);
    config.parameters.emplace_back(seen, true);
    EXPECT_EQ(text(emulate::run(entry<carries>, config)), "");
    for (int r = 0; r < 24; ++r)
      for (int c = 0; c < 104; ++c) {
        const bool stored = r >= 14 && c >= 64 && c < 96;
        const half_t value = c < 72 ? half_t(0.0f) : elements<half_t>(big)[r * 104 + c - 72];
        EXPECT_EQ(elements<half_t>(out)[r * 104 + c], stored ? value : half_t(-1.0f)) << r << " " << c;
      }
    for (int r = 0; r < 16; ++r) {
      for (int c = 0; c < 64; ++c) {
        const unsigned place = swizzled(mode, static_cast<unsigned>(r * 128 + c * 2)) / 2;
        const bool inside = c >= 8 && r + 14 < 24;
        EXPECT_EQ(elements<half_t>(seen)[place], inside ? elements<half_t>(big)[(r + 14) * 104 + c - 8] : half_t(0.0f));
      }
    }
  }
}

__global__ void adds(const __grid_constant__ TmaDescriptor map) {
  const auto tile = shared<float>("tile", 0, 64);
  tile[threadIdx.x] = float(threadIdx.x + blockIdx.x);
  fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    tma_reduce_add_1d(map, tile, 0);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
TEST(HopperCopy, ReductionsOfManyBlocksAddUp) {
  Buffer sum = filled<float>("sum", 64, [](std::size_t) { return 1.0f; });
  const TmaTensor t{.name = "sum", .element = TmaElement::f32, .rank = 1, .extent = {64}, .box = {64}};
  LaunchConfig config{.grid = {8}, .block = {64}, .shared_bytes = 256, .workers = 2};
  config.parameters.emplace_back(make_tma_descriptor_emulated(t, sum.bytes()), sum, true);
  EXPECT_EQ(text(emulate::run(entry<adds>, config)), "");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(elements<float>(sum)[i], float(1 + 8 * i + 28));
}

// A store's bytes are in global memory after tma_store_wait_complete; tma_store_wait frees the tile alone.
__global__ void reads_back(gmem<float> y, gmem<float> seen, bool complete) {
  const auto tile = shared<float>("tile", 0, 4);
  if (threadIdx.x < 4) tile[threadIdx.x] = 7.0f;
  fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(y, tile, 16);
    tma_store_commit();
    complete ? tma_store_wait_complete<0>() : tma_store_wait<0>();
    tile[0] = 8.0f;
    seen[0] = y[0];
  }
}
TEST(HopperCopy, AStoreIsVisibleAfterTheCompleteWait) {
  for (bool complete : {true, false}) {
    Buffer y = filled<float>("y", 4, [](std::size_t) { return 1.0f; }), seen("seen", 4);
    LaunchConfig config{.grid = {1}, .block = {32}, .shared_bytes = 16, .workers = 1};
    config.parameters.emplace_back(y, true);
    config.parameters.emplace_back(seen, true);
    config.parameters.emplace_back(complete);
    const std::string found = text(emulate::run(entry<reads_back>, config));
    EXPECT_EQ(found.find("is in flight, no tma_store_wait_complete lies between") != found.npos, !complete) << found;
    EXPECT_EQ(elements<float>(seen)[0], complete ? 7.0f : 1.0f);
    EXPECT_EQ(elements<float>(y)[0], 7.0f);
  }
}

// Rows by bulk copies, in a ring; `bug` plants one.
enum class RowBug {
  none,
  size_not_whole,
  one_row_too_many,
  source_not_aligned,
  read_before_the_wait,
  no_fence_before_the_store,
  overwritten_before_the_store_has_read,
  no_arrival_expected,
  off_by_one_predicate,
  barrier_used_as_data,
};
__global__ void rows(gmem<const float> x, gmem<float> y, unsigned count, RowBug bug) {
  const auto in = shared<float>("in", 0, 2 * 128), out = shared<float>("out", 1024, 128);
  const auto full = shared<uint64_t>("full", 1536, 2);
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);  // <makes>
    mbarrier_init(full + 1, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  const auto fetch = [&](unsigned row) {
    if (threadIdx.x != 0) return;
    if (bug == RowBug::no_arrival_expected)
      mbarrier_expect_tx(full + row % 2, 512);
    else
      mbarrier_arrive_expect_tx(full + row % 2, bug == RowBug::size_not_whole ? 508 : 512);
    bulk_load(in + row % 2 * 128, x + row * 128 + (bug == RowBug::source_not_aligned ? 1 : 0),  // <fetch>
              bug == RowBug::size_not_whole ? 508 : 512, full + row % 2);
  };
  fetch(0);
  const unsigned rows_to_fetch = bug == RowBug::one_row_too_many ? count + 1 : count;
  for (unsigned row = 0; row < count; ++row) {
    if (row + 1 < rows_to_fetch) fetch(row + 1);
    if (bug != RowBug::read_before_the_wait) mbarrier_wait(full + row % 2, row / 2 % 2);  // <wait>
    const unsigned i = threadIdx.x;
    if (bug != RowBug::overwritten_before_the_store_has_read && i == 0) tma_store_wait_read<0>();
    __syncthreads();
    if (bug == RowBug::barrier_used_as_data && row == 1 && i == 0) recast<float>(full)[0] = 1.0f;      // <overwrites>
    const float v = in[row % 2 * 128 + i + (bug == RowBug::off_by_one_predicate && row % 2 ? 1 : 0)];  // <reads>
    out[i] = 2 * v;                                                                                    // <writes>
    if (bug != RowBug::no_fence_before_the_store) fence_proxy_async_shared();
    __syncthreads();
    if (i == 0) {
      bulk_store(y + row * 128, out, 512);  // <store>
      tma_store_commit();
    }
  }
  if (threadIdx.x == 0) tma_store_wait_read<0>();
}
struct Rows {
  Buffer x = filled<float>("x", 6 * 128, [](std::size_t i) { return float(i); }), y{"y", 6 * 128 * 4};
  EmulationReport report;
  explicit Rows(RowBug bug) {
    LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 1552, .workers = 1};
    config.parameters.emplace_back(x, false);
    config.parameters.emplace_back(y, true);
    config.parameters.emplace_back(6u);
    config.parameters.emplace_back(bug);
    report = emulate::run(entry<rows>, config);
  }
};
TEST(HopperRows, RightOnesRaiseNothing) {
  Rows r(RowBug::none);
  EXPECT_EQ(text(r.report), "");
  for (int i = 0; i < 6 * 128; ++i) EXPECT_EQ(elements<float>(r.y)[i], float(2 * i));
  EXPECT_TRUE(r.y.initialised(0, r.y.bytes()));
}
std::string expected(RowBug bug) {
  const std::string t0 = "thread 0 (warp 0) of block (0,0,0)", who = "thread 0 (warp 0)";
  switch (bug) {
    case RowBug::size_not_whole:
      return "instruction at " + at("fetch") + ", " + t0 + ": bulk_load of 508 bytes; there must be a multiple of 16";
    case RowBug::one_row_too_many:
      return "out of bounds on global tensor x: " + t0 + " reads bytes 3072..3584 at " + at("fetch") +
             "; the tensor has 3072";
    case RowBug::source_not_aligned:
      return "misaligned address in global tensor x: " + t0 + " reads bytes 4..516 at " + at("fetch") +
             "; the address must be a multiple of 16 bytes";
    case RowBug::read_before_the_wait:
      return "race on shared tensor in: thread 95 (warp 2) of block (0,0,0) reads bytes 380..384 at " + at("reads") +
             "; the bulk_load that " + who + " issued at " + at("fetch") + " is still in flight";
    case RowBug::no_fence_before_the_store:
      return "missing fence on shared tensor out: " + t0 + " stores by bulk_store bytes 0..16 at " + at("store") +
             "; " + who + " wrote them at " + at("writes") + " and no fence_proxy_async lies between";
    case RowBug::overwritten_before_the_store_has_read:
      return "race on shared tensor out: thread 95 (warp 2) of block (0,0,0) writes bytes 380..384 at " + at("writes") +
             "; the bulk_store that " + who + " issued at " + at("store") +
             " may still read them, no tma_store_wait_read and barrier lie between";
    case RowBug::no_arrival_expected:
      return "deadlock of block (0,0,0): each of threads 0..127 waits at mbarrier full[0] for parity 0 (it "
             "is in phase 0: "
             "1 of 1 arrivals are missing) at " +
             at("wait");
    case RowBug::off_by_one_predicate:
      return "out of bounds on shared tensor in: thread 127 (warp 3) of block (0,0,0) reads bytes 1024..1028 "
             "at " +
             at("reads") + "; the tensor has 1024";
    case RowBug::barrier_used_as_data:
      return "race on mbarrier full[0]: " + t0 + " arrives at it at ";  // and its line; it has been overwritten
    case RowBug::none:
      break;
  }
  return "";
}
class HopperRowBug : public testing::TestWithParam<int> {};
TEST_P(HopperRowBug, IsNamed) {
  const RowBug bug = static_cast<RowBug>(GetParam());
  const Rows r(bug);
  if (bug != RowBug::barrier_used_as_data) {
    EXPECT_TRUE(says(r.report, expected(bug)));
  } else {
    EXPECT_NE(text(r.report).find(expected(bug)), std::string::npos) << text(r.report);
    EXPECT_NE(text(r.report).find("its bytes have been overwritten since it was initialised at " + at("makes")),
              std::string::npos);
  }
}
INSTANTIATE_TEST_SUITE_P(All, HopperRowBug, testing::Range(1, int(RowBug::barrier_used_as_data) + 1));

// cp.async that arrive at an mbarrier, and a thread that asks instead of waiting.
__global__ void arrives_by_cp_async(gmem<const float> x, gmem<float> y) {
  const auto tile = shared<float>("tile", 0, 128);
  const auto full = shared<uint64_t>("full", 512, 1);
  if (threadIdx.x == 0) mbarrier_init(full, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    cp_async<16>(tile + 4 * threadIdx.x, x + 4 * threadIdx.x);
    cp_async_mbarrier_arrive(full);
  } else {
    while (!mbarrier_test_wait(full, 0)) {
    }
    for (int i = 0; i < 4; ++i) y[threadIdx.x - 32 + 32 * i] = tile[threadIdx.x - 32 + 32 * i];
  }
}
TEST(HopperCopy, CpAsyncArrivesAtAnMbarrier) {
  Buffer x = filled<float>("x", 128, [](std::size_t i) { return float(i); }), y("y", 512);
  LaunchConfig config{.grid = {1}, .block = {64}, .shared_bytes = 520, .workers = 1};
  config.parameters.emplace_back(x, false);
  config.parameters.emplace_back(y, true);
  EXPECT_EQ(text(emulate::run(entry<arrives_by_cp_async>, config)), "");
  for (int i = 0; i < 128; ++i) EXPECT_EQ(elements<float>(y)[i], float(i));
}

__global__ void asks_forever(gmem<float>) {
  const auto full = shared<uint64_t>("full", 0, 1);
  mbarrier_init(full, 2);
  while (!mbarrier_test_wait(full, 0)) {  // <asks>
  }
}
TEST(HopperCopy, AskingForeverIsADeadlock) {
  Buffer y("y", 16);
  LaunchConfig config{.grid = {1}, .block = {1}, .shared_bytes = 8, .workers = 1};
  config.parameters.emplace_back(y, true);
  EXPECT_TRUE(says(emulate::run(entry<asks_forever>, config),
                   "deadlock of block (0,0,0): thread 0 waits at mbarrier full for parity 0 (it is in phase 0: 2 of 2 "
                   "arrivals are missing) at " +
                       at("asks")));
}

__global__ void misuses(const __grid_constant__ TmaDescriptor map, gmem<float> y, int how) {
  const auto tile = shared<float>("tile", 0, 64);
  const auto full = shared<uint64_t>("full", 256, 1);
  if (how == 0) mbarrier_arrive(full);   // <not made>
  if (how == 1) mbarrier_init(full, 0);  // <no arrivals>
  if (how >= 2) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
  }
  if (how == 2) tma_load_1d(tile, map, full, 0);          // <one dimension>
  if (how == 3) tma_load_2d(tile + 4, map, full, 0, 0);   // <not at 128>
  if (how == 4) tma_load_2d(tile + 32, map, full, 0, 0);  // <over the end>
  if (how == 5) {
    mbarrier_arrive(full, 2);  // <two for one>
  }
  if (how == 6) tma_store_2d(map, y, 0, 0);  // <from global>
  if (how == 7) {
    TmaDescriptor other{};
    prefetch_tma_descriptor(other);  // <not a map>
  }
  if (how == 8) tma_load_im2col_3d(tile, map, full, 0, 0, 0, 0);  // <not im2col>
  if (how == 9) mbarrier_wait(full + 1, 0);                       // <beyond>
  if (how == 10) tma_load_2d(tile, map, full, -2, 0);             // <no chunk's start>
  if (how == 11) tma_store_2d(map, tile, 4, -1);                  // <before the start>
  if (how == 12) tma_prefetch_2d(map, 6, 0);                      // <prefetch off a chunk>
  if (how == 13) {
    tma_store_2d(map, tile, 0, 14);  // <whole chunks>
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
TEST(HopperCopy, MisusesAreNamed) {
  const std::string t0 = "thread 0 (warp 0) of block (0,0,0)", i = "instruction at ";
  const std::string wanted[] = {
      "uninitialised read of mbarrier full: " + t0 + " arrives at it at " + at("not made") +
          ", and nobody has initialised it",
      i + at("no arrivals") + ", " + t0 + ": mbarrier full is initialised for 0 arrivals; there must be 1 to 1048575",
      i + at("one dimension") + ", " + t0 + ": a tma_load of 1 dimensions with a descriptor of 2, for tensor x",
      "misaligned address in shared tensor tile: " + t0 + " copies by tma_load into bytes 16..144 at " +
          at("not at 128") + "; the address must be a multiple of 128 bytes",
      "out of bounds on shared tensor tile: " + t0 + " copies by tma_load into bytes 128..384 at " +
          at("over the end") + "; the tensor has 256",
      i + at("two for one") + ", " + t0 +
          ": mbarrier full gets more arrivals than the 1 that it was initialised for: 2 in phase 0",
      i + at("from global") + ", " + t0 +
          ": it stores by tma_store y, which is in global memory; it must be in shared memory",
      i + at("not a map") + ", " + t0 +
          ": the descriptor of a prefetch is not one that the launch passes as a parameter",
      i + at("not im2col") + ", " + t0 + ": a tma_load of 3 dimensions with a descriptor of 2, for tensor x",
      "out of bounds on shared tensor full: " + t0 + " waits at an mbarrier at bytes 8..16 at " + at("beyond") +
          "; the tensor has 8",
      i + at("no chunk's start") + ", " + t0 +
          ": in the tma_load of tensor x, coordinate 0 is -2, byte -8 of its line; it must be a multiple of "
          "16 bytes",
      i + at("before the start") + ", " + t0 +
          ": in the tma_store of tensor x, coordinate 1 is -1; a store's must not be negative",
      i + at("prefetch off a chunk") + ", " + t0 +
          ": in the tma_prefetch of tensor x, coordinate 0 is 6, byte 24 of its line; it must be a multiple "
          "of 16 bytes",
      "out of bounds on global tensor x: the store by TMA that " + t0 + " issued at " + at("whole chunks") +
          " writes bytes 960..1024, in whole chunks of 16; the tensor has 1016"};
  for (int how = 0; how < 14; ++how) {
    Buffer x = filled<float>("x", how == 13 ? 254 : 256, [](std::size_t) { return 1.0f; }), y("y", 1024);
    TmaTensor t{.name = "x", .element = TmaElement::f32, .extent = {16, 16}, .stride = {0, 64}, .box = {16, 4}};
    if (how == 3) t.box[1] = 2;
    if (how == 13) t.extent[0] = 14, t.box[1] = 2;
    LaunchConfig config{.grid = {1}, .block = {1}, .shared_bytes = 512, .workers = 1};
    config.parameters.emplace_back(make_tma_descriptor_emulated(t, x.bytes()), x, true);
    config.parameters.emplace_back(y, true);
    config.parameters.emplace_back(how);
    EXPECT_TRUE(says(emulate::run(entry<misuses>, config), wanted[how])) << how;
  }
}

}  // namespace
}  // namespace zellige
