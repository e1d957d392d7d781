#include "run/result.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace zellige::run {
namespace {

RunResult example() {
  RunResult r{.file = "graphs/gqa_bs1.json",
              .index = 3,
              .graph = "gqa_bs1[3]",
              .target = "sm_80",
              .on = "emulator",
              .seed = 7,
              .status = Status::wrong,
              .reason = "Y0: not equal"};
  r.scales = {{"X0", 0.5}, {"X1", 0.25}};
  r.tensors = {{"Y0", true, "f16", {2, 256, 64}, 1e-4, 0.5, ""},
               {"t3", false, "f16", {2, 64}, std::nan(""), INFINITY, "element (0, 1) is nan; the reference has 1"}};
  r.kernels = {{"gqa_0", {2, 4, 1}, {128, 1, 1}, 49152, 96, 0}, {"gqa_1", {1, 1, 1}, {32, 1, 1}, 0, -1, -1}};
  r.buffer_size = 65536;
  r.counters = {{"mma", 12345678901ull}, {"barrier", 3}};
  r.findings = {"race on \"s\" at line 3\n"};
  r.notes = {"kernel k0: compiled again"};
  r.compile_ms = 812.3456;
  r.run_ms = 1500;
  r.compile_cached = true;
  r.times = {
      .how = Timing::rotated, .sets = 3, .samples = {7.5, 6.5, 9}, .without_overlap = {8, 8.5}, .ordered = {9.5, 10}};
  r.tried = {{R"([{"block":[128,1,1],"grid":[2,4,1],"loop":1,"operator":0}])", 9.25, 8.5}};
  r.kernel = "/cache/gqa.cu";
  r.device = "NVIDIA H200, driver 13.0";
  return r;
}

TEST(Result, SurvivesItsJson) {
  const RunResult r = example();
  const std::string line = to_json(r);
  EXPECT_EQ(line.find('\n'), line.npos) << "one line";
  const RunResult back = parse_result(line);
  EXPECT_EQ(to_json(back), line);
  EXPECT_EQ(back.status, Status::wrong);
  EXPECT_EQ(back.counters, r.counters);
  ASSERT_EQ(back.tried.size(), 1u);
  EXPECT_EQ(back.tried[0].us, 8.5);
  EXPECT_EQ(back.scales, r.scales);
  EXPECT_EQ(back.findings, r.findings);
  EXPECT_EQ(back.notes, r.notes);
  EXPECT_EQ(back.times.samples, r.times.samples);
  EXPECT_EQ(back.times.without_overlap, r.times.without_overlap);
  EXPECT_EQ(back.times.ordered, r.times.ordered);
  EXPECT_EQ(back.times.how, Timing::rotated);
  EXPECT_EQ(back.times.sets, 3);
  EXPECT_EQ(back.kernels[0].grid, r.kernels[0].grid);
  EXPECT_TRUE(std::isnan(back.tensors[1].norm_error));
  EXPECT_EQ(back.tensors[1].worst, INFINITY);
  EXPECT_EQ(back.compile_ms, 812.346);
}

TEST(Result, EveryStatusSurvives) {
  for (const Status s : {Status::correct, Status::borderline, Status::wrong, Status::refused, Status::failed,
                         Status::reference, Status::unchecked}) {
    EXPECT_EQ(parse_result(to_json(RunResult{.status = s})).status, s);
  }
}

TEST(Result, ASampleSurvivesAndIsToldInWords) {
  RunResult r{.file = "dir/large.json",
              .index = 2,
              .target = "sm_90a",
              .on = "gpu",
              .seed = 5,
              .check = "sampled",
              .status = Status::correct};
  r.tensors.push_back({.name = "Y", .output = true, .dtype = "f16", .shape = {8192, 8192}});
  TensorResult& t = r.tensors[0];
  t.tiles = 149, t.of_tiles = 4096, t.tile = {128, 128}, t.from = {"X", "t3"}, t.staged = true;
  r.check_ms = 1234;
  const RunResult back = parse_result(to_json(r));
  EXPECT_EQ(to_json(back), to_json(r));
  EXPECT_EQ(back.check, "sampled");
  EXPECT_EQ(summary(back),
            "large[2]               correct   gpu sm_90a  error 0.0e+00  check 1.2 s\n"
            "    Y by sample: 149 of 4096 tiles of 128x128 (3.64%, seed 5), stage by stage from X, t3");
}

TEST(Result, TextThatIsNotUtf8IsReplaced) {
  RunResult r;
  r.reason = "bad \xff byte";
  EXPECT_EQ(parse_result(to_json(r)).reason, "bad \xEF\xBF\xBD byte");
}

TEST(Result, MedianAndPercentiles) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(percentile({5, 1, 4, 2, 3}, 0), 1);
  EXPECT_EQ(percentile({5, 1, 4, 2, 3}, 1), 5);
  EXPECT_EQ(percentile({10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.9), 9);
}

TEST(Result, Summary) {
  RunResult r = example();
  EXPECT_EQ(summary(r),
            "gqa_bs1[3]             wrong     emulator sm_80  error nan  compile 0.81 s (cached)  run 1.50 s"
            "  time 7.50 us (min 6.50, p90 9.00), 8.25 without overlap, 9.75 in order\n    Y0: not equal\n   "
            " note: "
            "kernel k0: compiled again\n    1 "
            "tilings measured: 8.50 us at "
            "best, 8.50 us of that which was expected to take least");
  EXPECT_EQ(summary({.file = "a.json", .target = "sm_90a", .on = "gpu", .reason = "no"}),
            "a[0]                   refused   gpu sm_90a\n    no");
}

}  // namespace
}  // namespace zellige::run
