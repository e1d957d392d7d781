// The reference's matmuls, by a BLAS and by Zellige's own loop, against loops in higher precision.
#include "reference/gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "reference/blas.hpp"
#include "reference/parallel.hpp"

namespace zellige::graph {
namespace {

using Product = decltype(reference::gemm);

struct Case {
  std::int64_t m, n, k, lda, ldb, ldc;
  std::vector<double> a, b;
};

Case draw(std::mt19937_64& random, std::int64_t limit) {
  std::uniform_int_distribution<std::int64_t> extent(1, limit), more(0, 3);
  std::normal_distribution<double> bell;
  Case c{extent(random), extent(random), extent(random), 0, 0, 0, {}, {}};
  c.lda = c.k + more(random), c.ldb = c.n + more(random), c.ldc = c.n + more(random);
  c.a.resize(c.m * c.lda), c.b.resize(c.k * c.ldb);
  for (double& v : c.a) v = std::ldexp(bell(random), static_cast<int>(more(random)) * 4);
  for (double& v : c.b) v = bell(random);
  return c;
}

std::vector<double> product(Product* f, const Case& c) {
  std::vector<double> to(c.m * c.ldc, std::numeric_limits<double>::quiet_NaN());
  f(c.m, c.n, c.k, c.a.data(), c.lda, c.b.data(), c.ldb, to.data(), c.ldc);
  return to;
}

// The guarantee of gemm.hpp: |found - exact| <= k 2^-53 sum |a b|, and no write outside the matrix.
void within_the_bound(Product* f) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 60; ++n) {
    const Case c = draw(random, n < 40 ? 40 : 150);
    const std::vector<double> found = product(f, c);
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.ldc; ++j) {
        const double x = found[i * c.ldc + j];
        if (j >= c.n) {
          EXPECT_TRUE(std::isnan(x));
          continue;
        }
        long double exact = 0, size = 0;
        for (std::int64_t p = 0; p < c.k; ++p) {
          const long double term = static_cast<long double>(c.a[i * c.lda + p]) * c.b[p * c.ldb + j];
          exact += term, size += std::fabs(term);
        }
        ASSERT_LE(std::fabs(x - exact), static_cast<long double>(c.k) * 0x1p-53L * size)
            << c.m << " " << c.n << " " << c.k << " at " << i << ", " << j;
      }
  }
}

TEST(Gemm, IsWithinItsBound) { within_the_bound(reference::gemm); }
TEST(Gemm, OurOwnIsWithinItToo) { within_the_bound(reference::own_gemm); }

TEST(Gemm, InfinitiesAndNaNComeThrough) {
  for (Product* f : {reference::gemm, reference::own_gemm}) {
    std::mt19937_64 random(2);
    Case c = draw(random, 4);
    c.m = c.n = c.k = c.lda = c.ldb = c.ldc = 64;
    c.a.assign(64 * 64, 1), c.b.assign(64 * 64, 1);
    c.a[3 * 64 + 5] = INFINITY, c.a[4 * 64 + 6] = NAN, c.a[7 * 64 + 1] = INFINITY, c.b[1 * 64 + 9] = 0;
    const std::vector<double> found = product(f, c);
    EXPECT_EQ(found[3 * 64 + 2], INFINITY);
    EXPECT_TRUE(std::isnan(found[4 * 64 + 2]));
    EXPECT_TRUE(std::isnan(found[7 * 64 + 9]));  // infinity times 0
    EXPECT_EQ(found[0], 64);
  }
}

// Concurrent calls do not affect one another.
TEST(Gemm, IsTheSameInManyThreads) {
  std::mt19937_64 random(3);
  std::vector<Case> cases;
  std::vector<std::vector<double>> alone;
  for (int i = 0; i < 24; ++i) {
    cases.push_back(draw(random, 120));
    alone.push_back(product(reference::gemm, cases.back()));
  }
  reference::parallel_for(24 * 20, 8, [&](std::int64_t i, int) {
    const Case& c = cases[static_cast<std::size_t>(i % 24)];
    const std::vector<double> found = product(reference::gemm, c);
    for (std::int64_t r = 0; r < c.m; ++r)
      for (std::int64_t j = 0; j < c.n; ++j)
        EXPECT_EQ(found[r * c.ldc + j], alone[static_cast<std::size_t>(i % 24)][r * c.ldc + j]);
  });
}

// The project's own setup installs one; where somebody took it away on purpose, our own loop does the work.
TEST(Blas, IsThereOrSaysWhyNot) {
  const std::string text = reference::describe_blas();
  if (reference::has_blas())
    EXPECT_NE(text.find("OpenBLAS"), std::string::npos) << text;
  else
    EXPECT_TRUE(text.starts_with("no BLAS: ")) << text;
}

// A library that cannot be loaded, or multiplies incorrectly, is not used.
TEST(BlasDeathTest, ABadLibraryIsRefused) {
  const auto with = [](const char* value, const auto& act) {
    return [=] {
      setenv("ZELLIGE_BLAS", value, 1);
      act();
    };
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto say = [] {
    std::fputs(reference::describe_blas().c_str(), stderr), std::exit(reference::has_blas() ? 1 : 0);
  };
  const auto caught = [] {
    try {
      reference::has_blas();
    } catch (const std::exception& e) {
      std::fputs(e.what(), stderr), std::exit(3);
    }
  };
  EXPECT_EXIT(with("none", say)(), testing::ExitedWithCode(0), "^no BLAS: ZELLIGE_BLAS is none$");
  EXPECT_EXIT(with("libnowhere.so", caught)(), testing::ExitedWithCode(3),
              "^ZELLIGE_BLAS: libnowhere.so: cannot open shared object file: No such file or directory$");
  EXPECT_EXIT(with("libm.so.6", caught)(), testing::ExitedWithCode(3), "^ZELLIGE_BLAS: libm.so.6 has no cblas_dgemm$");
  EXPECT_EXIT(with(WRONG_BLAS, say)(), testing::ExitedWithCode(0),
              "^no BLAS: .*wrong_blas.* multiplies integers wrongly here$");
}

}  // namespace
}  // namespace zellige::graph
