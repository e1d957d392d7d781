// Programs with sizes that are known at launch, on a recording driver: sizes of tensors' shapes or given with addresses, the
// launches that follow, and what is refused.
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "launch.hpp"

namespace {

using zellige::Program;

const std::string sized = R"json({"version": 3, "name": "sized", "target": "sm_90a", "buffer_size": "256*ceil(T/2)",
  "sizes": [{"name": "T", "min": 1, "max": 64, "multiple": 1}, {"name": "P", "min": 2, "max": 16, "multiple": 2}],
  "relations": [],
  "tensors": [
    {"name": "X", "role": "input", "position": 0, "dtype": "f32", "shape": ["T", 8], "strides": [8, 1], "bytes": "32*T"},
    {"name": "K", "role": "input", "position": 1, "dtype": "f32", "shape": ["T+P", 8], "strides": [8, 1],
     "bytes": "32*(T+P)"},
    {"name": "W", "role": "intermediate", "offset": "T-T", "dtype": "f32", "shape": ["T"], "strides": [1], "bytes": "4*T"},
    {"name": "Y", "role": "output", "position": 0, "dtype": "f32", "shape": ["T", 8], "strides": [8, 1], "bytes": "32*T"}],
  "kernels": [{"name": "k", "grid": ["ceil(T/4)", 1, 1], "block": [64, 1, 1], "shared_bytes": 0, "programmatic": true,
    "arguments": [{"tensor": "X", "writes": false}, {"tensor": "K", "writes": false}, {"tensor": "Y", "writes": true},
                  {"number": "T", "size": 4}, {"number": "2*T+P", "size": 8}]}]})json";

struct Sizes : Launch {
  void SetUp() override {
    Launch::SetUp();
    gpu().parameters = {8, 8, 8, 4, 8};
    gpu().arguments_per_kernel = 5;
    zellige_program* made = nullptr;
    const std::string cubin = compiled(), manifest = zellige::sealed(sized, cubin, "sized");
    ASSERT_EQ(zellige_program_load(manifest.c_str(), "sized.manifest.json", cubin.data(), cubin.size(), &made),
              ZELLIGE_OK)
        << zellige_last_error();
    program.reset(made);
  }
  zellige_status launch(std::vector<std::int64_t> sizes) const {
    void* const in[] = {address(0x1000), address(0x2000)};
    void* const out[] = {address(0x4000)};
    return zellige_program_launch_sizes(program.get(), sizes.data(), static_cast<int>(sizes.size()), in, out, nullptr,
                                        address(0x77));
  }
  /// Calls the program with tensors of these extents; returns its error.
  std::string called(std::int64_t x, std::int64_t k, std::int64_t y) const {
    const std::int64_t shapes[3][2] = {{x, 8}, {k, 8}, {y, 8}};
    const auto tensor = [&](std::uintptr_t at, int i) {
      return zellige_tensor{address(at), 2, 1, 2, 2, 32, 1, shapes[i], nullptr, 0};
    };
    const zellige_tensor in[] = {tensor(0x1000, 0), tensor(0x2000, 1)}, out[] = {tensor(0x4000, 2)};
    return zellige_program_call(program.get(), in, 2, out, 1, nullptr) == ZELLIGE_OK ? "" : zellige_last_error();
  }
  std::unique_ptr<zellige_program, void (*)(zellige_program*)> program{nullptr, zellige_program_free};
};

/// With a variant for up to 8 rows, in which P is 4: it has blocks of 2 rows.
std::string with_variant() {
  nlohmann::json whole = nlohmann::json::parse(sized), few = whole;
  few.erase("version"), few.erase("relations");
  few["name"] = "few";
  few["range"] = {{{"name", "T"}, {"min", 1}, {"max", 8}, {"multiple", 1}},
                  {{"name", "P"}, {"min", 4}, {"max", 4}, {"multiple", 1}}};
  few["range"][1]["multiple"] = 2;
  few["sizes"] = {{{"name", "T"}, {"min", 1}, {"max", 8}, {"multiple", 1}}};
  few["buffer_size"] = 32768;
  few["tensors"][1]["shape"][0] = "T+4", few["tensors"][1]["bytes"] = "32*(T+4)";
  few["tensors"][2]["offset"] = 0;
  few["kernels"][0]["grid"][0] = "ceil(T/2)";
  few["kernels"][0]["arguments"][4]["number"] = "2*T+4";
  for (nlohmann::json* of : {&whole, &few}) std::swap((*of)["tensors"][2], (*of)["tensors"][3]);  // callers' first
  whole["variants"] = {few};
  return whole.dump();
}

TEST_F(Sizes, ChooseTheVariant) {
  const std::string cubin = compiled(), manifest = zellige::sealed(with_variant(), cubin, "sized");
  zellige_program* made = nullptr;
  ASSERT_EQ(zellige_program_load(manifest.c_str(), "sized.manifest.json", cubin.data(), cubin.size(), &made),
            ZELLIGE_OK)
      << zellige_last_error();
  program.reset(made);
  EXPECT_EQ(zellige_program_workspace(program.get()), 32768);
  for (const auto& [t, p, few] :
       {std::tuple{8, 4, true}, {9, 4, false}, {8, 2, false}, {1, 4, true}, {64, 16, false}}) {
    gpu().launches.clear();
    ASSERT_EQ(launch({t, p}), ZELLIGE_OK) << zellige_last_error();
    ASSERT_EQ(gpu().launches.size(), 1U);
    EXPECT_EQ(gpu().launches[0].grid, static_cast<unsigned>(few ? (t + 1) / 2 : (t + 3) / 4)) << t << " " << p;
    const std::int64_t values[] = {t, p};
    EXPECT_EQ(zellige_program_workspace_sizes(program.get(), values, 2), few ? 32768 : 256 * ((t + 1) / 2));
  }
}

TEST_F(Sizes, RefuseAVariantForValuesWithoutAProof) {
  const std::string cubin = compiled();
  nlohmann::json wrong = nlohmann::json::parse(with_variant());
  wrong["variants"][0]["range"][0]["max"] = 9;
  try {
    zellige::sealed(wrong.dump(), cubin, "sized");
    FAIL() << "expected an error";
  } catch (const std::exception& e) {
    EXPECT_EQ(std::string(e.what()),
              "program sized, variant 1: expected values of T from 1 to 8, for which its kernels are proved, found T "
              "from 1 to 9");
  }
}

TEST_F(Sizes, AreDescribed) {
  EXPECT_EQ(zellige_program_sizes(program.get()), 2);
  zellige_size_info size{};
  ASSERT_EQ(zellige_program_size(program.get(), 1, &size), ZELLIGE_OK);
  EXPECT_EQ(std::string(size.name), "P");
  EXPECT_EQ(size.min, 2);
  EXPECT_EQ(size.max, 16);
  EXPECT_EQ(size.multiple, 2);
  EXPECT_EQ(zellige_program_size(program.get(), 2, &size), ZELLIGE_REFUSED);
  EXPECT_EQ(std::string(zellige_last_error()), "program sized: has 2 sizes, counted from 0, found 2");
  zellige_tensor_info info{};
  ASSERT_EQ(zellige_program_input(program.get(), 1, &info), ZELLIGE_OK);
  EXPECT_EQ(info.shape[0], -1);
  EXPECT_EQ(info.shape[1], 8);
  EXPECT_EQ(info.bytes, 32 * 80);
  const std::int64_t some[] = {5, 2};
  EXPECT_EQ(zellige_program_workspace_sizes(program.get(), some, 2), 3 * 256);
  EXPECT_EQ(zellige_program_workspace(program.get()), 32 * 256);
  EXPECT_EQ(zellige_program_workspace_sizes(program.get(), some, 1), -1);
  EXPECT_EQ(std::string(zellige_last_error()), "program sized: expected 2 sizes, found 1");
}

TEST_F(Sizes, AreFoundInInputsAndGiveTheShapesOfOutputs) {
  const std::int64_t shapes[2][2] = {{7, 8}, {11, 8}};
  const auto tensor = [&](int i) { return zellige_tensor{nullptr, 2, 0, 2, 2, 32, 1, shapes[i], nullptr, 0}; };
  const zellige_tensor in[] = {tensor(0), tensor(1)};
  std::int64_t sizes[2] = {}, shape[2] = {}, strides[2] = {}, bytes = 0;
  ASSERT_EQ(zellige_program_find_sizes(program.get(), in, 2, sizes, 2), ZELLIGE_OK) << zellige_last_error();
  EXPECT_EQ(sizes[0], 7);
  EXPECT_EQ(sizes[1], 4);
  ASSERT_EQ(zellige_program_output_sizes(program.get(), 0, sizes, 2, shape, strides, &bytes), ZELLIGE_OK);
  EXPECT_EQ(shape[0], 7);
  EXPECT_EQ(shape[1], 8);
  EXPECT_EQ(strides[0], 8);
  EXPECT_EQ(bytes, 7 * 32);
  EXPECT_EQ(zellige_program_output_sizes(program.get(), 1, sizes, 2, shape, strides, &bytes), ZELLIGE_REFUSED);
  EXPECT_EQ(std::string(zellige_last_error()), "program sized: has 1 outputs, counted from 0, found 1");
}

TEST_F(Sizes, DecideGridAndScalars) {
  for (const std::int64_t t : {std::int64_t{1}, std::int64_t{4}, std::int64_t{5}, std::int64_t{63}, std::int64_t{64}}) {
    ASSERT_EQ(launch({t, 4}), ZELLIGE_OK) << zellige_last_error();
    ASSERT_EQ(called(t, t + 4, t), "");
    for (std::size_t back : {1, 2}) {
      const FakeLaunch& l = gpu().launches[gpu().launches.size() - back];
      EXPECT_EQ(l.grid, static_cast<unsigned>((t + 3) / 4));
      EXPECT_EQ(l.arguments[0], 0x1000u);
      EXPECT_EQ(l.arguments[3] & 0xffffffff, static_cast<std::uint64_t>(t));
      EXPECT_EQ(l.arguments[4], static_cast<std::uint64_t>(2 * t + 4));
    }
  }
  EXPECT_EQ(gpu().modules_loaded, 2) << "once a context";
  EXPECT_EQ(gpu().allocations, 2) << "a workspace for the largest sizes, once a stream";
}

TEST_F(Sizes, ThatAreNoneOfTheProgramsAreRefused) {
  EXPECT_EQ(launch({65, 4}), ZELLIGE_REFUSED);
  EXPECT_EQ(std::string(zellige_last_error()), "program sized: expected T from 1 to 64, found 65");
  EXPECT_EQ(launch({6, 3}), ZELLIGE_REFUSED);
  EXPECT_EQ(std::string(zellige_last_error()), "program sized: expected P to be a multiple of 2, found 3");
  EXPECT_EQ(launch({6}), ZELLIGE_REFUSED);
  EXPECT_EQ(std::string(zellige_last_error()), "program sized: expected 2 sizes, found 1");
  void* const in[] = {address(0x1000), address(0x2000)};
  void* const out[] = {address(0x4000)};
  EXPECT_EQ(zellige_program_launch(program.get(), in, out, nullptr, nullptr), ZELLIGE_REFUSED);
  EXPECT_EQ(
      std::string(zellige_last_error()),
      "program sized: T is known at launch only, and addresses do not say it; zellige_program_launch_sizes takes it");
}

TEST_F(Sizes, OfTensorsThatDisagreeAreNamedWithWhereTheyCameFrom) {
  EXPECT_EQ(called(5, 7, 5), "");
  EXPECT_EQ(called(5, 7, 6), "program sized: T is 5, dimension 0 of input X, and 6, dimension 0 of output Y");
  EXPECT_EQ(called(70, 72, 70), "program sized: expected T from 1 to 64, found 70, dimension 0 of input X");
  EXPECT_EQ(called(5, 8, 5), "program sized: expected P to be a multiple of 2, found 3, dimension 0 of input K");
  EXPECT_EQ(called(5, 4, 5), "program sized: expected P from 2 to 16, found -1, dimension 0 of input K");
  EXPECT_EQ(gpu().launches.size(), 1u);
}

TEST_F(Sizes, AreBoundInFarLessTimeThanALaunchTakes) {
  const std::int64_t first[] = {1, 2};
  ASSERT_EQ(zellige_program_workspace_sizes(program.get(), first, 2), 256);
  const auto took = [&](int n) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < n; ++i) {
      const std::int64_t sizes[] = {1 + i % 64, 2 + i / 64 % 8 * 2};  // 512 combinations, more than are kept
      EXPECT_GT(zellige_program_workspace_sizes(program.get(), sizes, 2), 0);
    }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / n;
  };
  double minimum = took(2000);
  for (int i = 0; i < 20; ++i) minimum = std::min(minimum, took(2000));
  std::cout << "binding takes " << minimum << " us\n";
  EXPECT_LT(minimum, 50) << "on a machine that others use too";
}

}  // namespace
