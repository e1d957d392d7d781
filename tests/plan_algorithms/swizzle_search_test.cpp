#include "plan/swizzle_search.hpp"

#include <gtest/gtest.h>

#include <random>

#include "failure.hpp"
#include "predict/banks.hpp"

using namespace zellige::plan;

namespace {

using Lanes = std::vector<std::pair<int, int>>;

// ldmatrix.x4 over 16x16 tiles of a matrix of halves: lane l gives row l % 16, column 8 * (l / 16).
AccessPattern ldmatrix(int rows, int columns) {
  AccessPattern p{.bytes = 16, .matrix = true, .name = "ldmatrix"};
  for (int r = 0; r + 16 <= rows; r += 16)
    for (int c = 0; c + 16 <= columns; c += 16) {
      Lanes lanes;
      for (int l = 0; l < 32; ++l) lanes.emplace_back(r + l % 16, c + 8 * (l / 16));
      p.instances.push_back(lanes);
    }
  return p;
}

// Lanes run along the rows, `width` elements each.
AccessPattern along_rows(int rows, int columns, int width, int element_bytes) {
  AccessPattern p{.bytes = width * element_bytes, .name = "rows"};
  Lanes lanes;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c + width <= columns; c += width) {
      lanes.emplace_back(r, c);
      if (lanes.size() == 32) p.instances.push_back(lanes), lanes.clear();
    }
  return p;
}

// Lanes run down the columns, one element each.
AccessPattern down_columns(int rows, int columns, int element_bytes) {
  AccessPattern p{.bytes = element_bytes, .name = "columns"};
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r + 32 <= rows; r += 32) {
      Lanes lanes;
      for (int l = 0; l < 32; ++l) lanes.emplace_back(r + l, c);
      p.instances.push_back(lanes);
    }
  return p;
}

struct Measured {
  double weighted = 0;
  std::int64_t wavefronts = 0, ideal = 0;
  int degree = 0;
};

// The offset, in elements, of element (row, column), as the header defines it.
std::int64_t swizzled_offset(const Footprint& t, const SwizzleChoice& c, std::int64_t row, std::int64_t column) {
  const std::int64_t x = row * (t.row_stride + c.shift) + column, mask = (std::int64_t{1} << c.B) - 1;
  return x ^ ((x & (mask << (c.M + c.S))) >> c.S);
}

// By banks.hpp, one instance at a time.
Measured measure(const Footprint& t, const SwizzleChoice& c, const std::vector<AccessPattern>& accesses) {
  Measured m;
  for (const AccessPattern& p : accesses)
    for (const Lanes& lanes : p.instances) {
      predict::BankAccess a{.bytes = p.bytes};
      for (auto [row, column] : lanes)
        a.address.push_back(row < 0 ? -1 : swizzled_offset(t, c, row, column) * t.element_bytes);
      const predict::Wavefronts w = predict::evaluate(a);
      m.wavefronts += w.total, m.ideal += w.ideal, m.degree = std::max(m.degree, w.degree);
      m.weighted += p.weight * w.total;
    }
  return m;
}

// Every element has its own place inside the footprint; every aligned run of `run` elements stays together.
bool is_arrangement(const Footprint& t, const SwizzleChoice& c, std::int64_t run) {
  const std::int64_t size = t.rows * (t.row_stride + c.shift);
  std::vector<char> seen(size, 0);
  for (std::int64_t row = 0; row < t.rows; ++row)
    for (std::int64_t column = 0; column < t.row_stride; ++column) {
      const std::int64_t at = swizzled_offset(t, c, row, column);
      if (at < 0 || at >= size || seen[at]) return false;
      seen[at] = 1;
      if (run > 1 && column % run && at != swizzled_offset(t, c, row, column - 1) + 1) return false;
    }
  return true;
}

void expect_consistent(const Footprint& t, const SwizzleChoice& c, const std::vector<AccessPattern>& accesses) {
  const Measured m = measure(t, c, accesses);
  EXPECT_EQ(c.wavefronts, m.wavefronts);
  EXPECT_EQ(c.ideal, m.ideal);
  EXPECT_EQ(c.degree, m.degree);
  EXPECT_EQ(c.elements, t.rows * (t.row_stride + c.shift));
  EXPECT_EQ(c.worst_access >= 0, c.degree > 1);
  EXPECT_TRUE(is_arrangement(t, c, t.chunk)) << c.reason;
}

std::string name(const SwizzleChoice& c) { return c.reason.substr(0, c.reason.find(':')); }

}  // namespace

TEST(SwizzleSearch, WorkedExampleOfTheHeader) {
  const Footprint tile{.rows = 16, .columns = 64, .row_stride = 64, .element_bytes = 2, .chunk = 8};
  const AccessPattern p{.bytes = 16, .instances = {{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}}}};
  const SwizzleChoice c = choose_swizzle(tile, {p});
  EXPECT_EQ(c.reason, "Swizzle<3,3,3>: all accesses are conflict-free");
  EXPECT_EQ(c.wavefronts, 1);
  EXPECT_EQ(c.ideal, 1);
  EXPECT_EQ(c.elements, 16 * 64);
}

TEST(SwizzleSearch, MatricesOfHalves) {
  auto choice = [](int rows, int columns, int stride) {
    const Footprint t{.rows = rows, .columns = columns, .row_stride = stride, .element_bytes = 2, .chunk = 8};
    const std::vector<AccessPattern> accesses{ldmatrix(rows, columns), along_rows(rows, columns, 8, 2)};
    const SwizzleChoice c = choose_swizzle(t, accesses);
    expect_consistent(t, c, accesses);
    EXPECT_EQ(c.degree, 1) << c.reason;
    return name(c);
  };
  EXPECT_EQ(choice(64, 64, 64), "Swizzle<3,3,3>");
  EXPECT_EQ(choice(64, 128, 128), "Swizzle<3,3,4>");
  EXPECT_EQ(choice(64, 32, 32), "Swizzle<2,3,3>");
  EXPECT_EQ(choice(64, 16, 16), "Swizzle<1,3,3>");
  EXPECT_EQ(choice(64, 64, 72), "no swizzle");
  EXPECT_EQ(choice(32, 48, 48), "Swizzle<1,3,3>");  // rows of 96 bytes
  EXPECT_EQ(choice(16, 96, 96), "Swizzle<2,3,3>");  // the xor does not ask for a power of two
}

TEST(SwizzleSearch, WordsDownColumns) {
  const Footprint t{.rows = 32, .columns = 32, .row_stride = 32, .element_bytes = 4};
  const std::vector<AccessPattern> accesses{down_columns(32, 32, 4), along_rows(32, 32, 1, 4)};
  EXPECT_EQ(name(choose_swizzle(t, accesses)), "Swizzle<5,0,5>");
  EXPECT_EQ(name(choose_swizzle(t, accesses, {.may_xor = false})), "rows 1 elements longer");
  const SwizzleChoice stuck = choose_swizzle(t, accesses, {.may_xor = false, .may_shift = false});
  EXPECT_EQ(stuck.reason,
            "no swizzle: columns keeps a conflict of degree 32, 1056 wavefronts of an ideal 64 in all; "
            "no candidate has fewer");
  EXPECT_EQ(stuck.worst_access, 0);
  EXPECT_EQ(stuck.degree, 32);
}

TEST(SwizzleSearch, SaysWhenTheChunksForbidMore) {
  // Words down a column whose 16-byte chunks stay whole: 32 chunks share 8 places.
  const Footprint t{.rows = 32, .columns = 32, .row_stride = 32, .element_bytes = 4, .chunk = 4};
  const std::vector<AccessPattern> accesses{down_columns(32, 32, 4)};
  const SwizzleChoice c = choose_swizzle(t, accesses);
  EXPECT_EQ(c.reason,
            "Swizzle<3,2,3>: columns keeps a conflict of degree 4, 128 wavefronts of an ideal 32 in all; "
            "no arrangement of its chunks has fewer");
  expect_consistent(t, c, accesses);
}

TEST(SwizzleSearch, EqualsTryingEveryCandidate) {
  std::mt19937 rng(14);
  int xors = 0, shifts = 0, both = 0, stuck = 0;
  for (int i = 0; i < 100; ++i) {
    Footprint t;
    t.element_bytes = 2 << rng() % 2;
    t.chunk = 1 << rng() % 3;
    t.rows = 1 + rng() % 24;
    t.columns = 1 + rng() % 40;
    t.row_stride = (t.columns + t.chunk - 1) / t.chunk * t.chunk;
    if (rng() % 2) t.columns = t.row_stride = 8 << rng() % 4;
    const int widest = rng() % 2 ? t.chunk : 1;
    std::vector<AccessPattern> accesses(1 + rng() % 2);
    for (AccessPattern& p : accesses) {
      const int width = std::min<int>(widest, 16 / t.element_bytes);
      p.bytes = width * t.element_bytes;
      p.weight = 1 + rng() % 3;
      const int down = rng() % t.rows + 1, across = rng() % 5;
      for (int k = 1 + rng() % 3; k > 0; --k) {
        Lanes lanes;
        const int row = rng() % t.rows, column = rng() % t.row_stride;
        for (int l = 0; l < 32; ++l)
          lanes.emplace_back(rng() % 16 ? (row + l * down) % t.rows : -1,
                             (column + l * across) % (t.row_stride / width) * width);
        p.instances.push_back(lanes);
      }
    }
    const SwizzleChoice got = choose_swizzle(t, accesses);
    expect_consistent(t, got, accesses);

    const std::int64_t run =
        std::max<std::int64_t>(t.chunk, std::max(accesses.front().bytes, accesses.back().bytes) / t.element_bytes);
    bool any_free = false;
    std::int64_t minimum = 0;
    double fewest = 1e300;
    for (std::int64_t shift = 0; shift < (t.rows > 1 ? 128 / t.element_bytes : 1); shift += run)
      for (int B = 0; B <= 5; ++B)
        for (int M = 0; M <= (B ? 6 : 0); ++M)
          for (int S = B; S <= (B ? 10 : 0); ++S) {
            SwizzleChoice c;
            c.B = B, c.M = M, c.S = S, c.shift = shift;
            if (any_free && t.rows * (t.row_stride + shift) >= minimum) continue;
            if (B && ((1 << M) < run || !is_arrangement(t, c, run))) continue;
            const Measured m = measure(t, c, accesses);
            fewest = std::min(fewest, m.weighted);
            if (m.degree <= 1) any_free = true, minimum = t.rows * (t.row_stride + shift);
          }
    ASSERT_EQ(got.degree <= 1, any_free) << "case " << i << ": " << got.reason;
    EXPECT_TRUE(any_free ? got.elements == minimum : measure(t, got, accesses).weighted == fewest)
        << "case " << i << ": " << got.reason;
    xors += got.B && !got.shift, shifts += !got.B && got.shift, both += got.B && got.shift, stuck += !any_free;
  }
  EXPECT_GT(xors, 10);
  EXPECT_GT(shifts, 5);
  EXPECT_GT(stuck, 5);
  RecordProperty("both", both);
}

TEST(SwizzleSearch, SettlesRealTiles) {
  const Footprint t{.rows = 128, .columns = 64, .row_stride = 64, .element_bytes = 2, .chunk = 8};
  const std::vector<AccessPattern> typical{ldmatrix(128, 64), along_rows(128, 64, 8, 2)};
  const Footprint loose{.rows = 128, .columns = 128, .row_stride = 128, .element_bytes = 2};
  const std::vector<AccessPattern> hard{down_columns(128, 128, 2), along_rows(128, 128, 1, 2),
                                        along_rows(128, 128, 4, 2)};
  const SwizzleChoice easy = choose_swizzle(t, typical), worst = choose_swizzle(loose, hard);
  EXPECT_EQ(easy.wavefronts, easy.ideal) << easy.reason;
  EXPECT_EQ(worst.wavefronts, 1792) << worst.reason;
  EXPECT_EQ(worst.ideal, 1280);
}

TEST(SwizzleSearch, NoAccessNeedsNoSwizzle) {
  const SwizzleChoice c = choose_swizzle({.rows = 8, .columns = 64, .row_stride = 64}, {});
  EXPECT_EQ(c.reason, "no swizzle: all accesses are conflict-free");
  EXPECT_EQ(c.wavefronts, 0);
}

TEST(SwizzleSearch, BadInputSaysWhatIsWrong) {
  const Footprint t{.rows = 8, .columns = 64, .row_stride = 64, .element_bytes = 2, .chunk = 8};
  auto with = [&](AccessPattern p) { return failure([&] { choose_swizzle(t, {p}); }); };
  EXPECT_EQ(failure([] { choose_swizzle({.rows = 0}, {}); }), "swizzle: a tensor of 0x1; both must be positive");
  EXPECT_EQ(failure([] { choose_swizzle({.rows = 2, .columns = 8, .row_stride = 4}, {}); }),
            "swizzle: a row stride of 4 with 8 columns; the stride must not be less");
  EXPECT_EQ(failure([] { choose_swizzle({.element_bytes = 3}, {}); }),
            "swizzle: elements of 3 bytes; 1, 2, 4, 8 or 16 are possible");
  EXPECT_EQ(failure([] { choose_swizzle({.rows = 2, .columns = 57, .row_stride = 57, .chunk = 8}, {}); }),
            "swizzle: a chunk of 8 elements with a row stride of 57; a power of two that divides the stride "
            "is needed");
  EXPECT_EQ(with({.bytes = 1, .instances = {{{0, 0}}}}),
            "swizzle: access 0 takes 1 bytes per lane of elements of 2; a power of two between those and 16 "
            "is needed");
  EXPECT_EQ(with({.bytes = 8, .matrix = true, .name = "A"}),
            "swizzle: A moves matrices with 8 bytes per lane; ldmatrix and stmatrix take rows of 16");
  EXPECT_EQ(with({.weight = 0}), "swizzle: access 0 has weight 0; more than 0 is needed");
  EXPECT_EQ(with({.bytes = 16, .instances = {{{7, 64}}}}),
            "swizzle: access 0 reaches (7, 64) and 8 elements on, outside 8 rows of 64");
  EXPECT_EQ(with({.bytes = 16, .instances = {{{1, 4}}}}),
            "swizzle: access 0 takes 16 bytes at (1, 4), offset 68 elements; a multiple of 8 is needed");
}
