// The C ABI and its C++ wrapper, as in a user's program.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "floats.hpp"
#include "refused.hpp"

namespace {

using zellige::Graph;
using zellige::Program;

const char* const cached = R"({"zellige_graph": 1, "name": "cached",
  "inputs": [{"name": "K", "dtype": "f32", "shape": [4, 8]}, {"name": "N", "dtype": "int32", "shape": [1]},
             {"name": "U", "dtype": "f32", "shape": [1, 8]}],
  "operators": [{"op": "scatter", "inputs": ["K", "N", "U"], "outputs": [{"name": "K1", "memory": "K"}]}],
  "outputs": ["K1"]})";

struct Case {
  Program program{Graph::from_json(scaled), {ZELLIGE_ON_REFERENCE}};
  Floats x, y;
  std::string refused(const std::function<void(zellige_tensor& x, zellige_tensor& y)>& change) {
    zellige_tensor in = x.tensor(), out = y.tensor();
    change(in, out);
    return why([&] { program.call({in}, {out}); });
  }
};

TEST(Api, ComputesByTheReferenceAndOnTheEmulator) {
  for (const zellige_on on : {ZELLIGE_ON_REFERENCE, ZELLIGE_ON_EMULATOR, ZELLIGE_ON_AUTO}) {
    Program program(Graph::from_json(scaled), {on, "sm_80"});
    Floats x, y;
    for (int i = 0; i < 32; ++i) x.values[i] = static_cast<float>(i) - 7.5f, y.values[i] = NAN;
    program.call({x.tensor()}, {y.tensor()});
    for (int i = 0; i < 32; ++i) EXPECT_EQ(y.values[i], 3 * x.values[i]) << i << " on " << on;
  }
}

// The libraries of the emulator have the names of descriptors, of which the next file gets the same.
TEST(Api, ProgramsOfOneNameAreEachTheirOwn) {
  std::string other = scaled;
  other.replace(other.find("\"scalar\": 3"), 11, "\"scalar\": 5");
  Program three(Graph::from_json(scaled), {ZELLIGE_ON_EMULATOR, "sm_80"}),
      five(Graph::from_json(other), {ZELLIGE_ON_EMULATOR, "sm_80"});
  const auto rounds = [&] {
    for (int round = 0; round < 6; ++round)
      for (Program* const p : {&three, &five}) {
        Floats x{}, y{};
        x.values[7] = 2;
        EXPECT_EQ(why([&] { p->call({x.tensor()}, {y.tensor()}); }), "nothing was refused");
        EXPECT_EQ(y.values[7], p == &three ? 6 : 10);
      }
  };
  rounds();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(rounds);
  for (std::thread& t : threads) t.join();
}

// To the emulator some bits of a NaN mean a register that nothing has written.
TEST(Api, ANanIsGivenWithAnyBits) {
  const char* const halves =
      R"({"zellige_graph": 1, "name": "halves", "inputs": [{"name": "X", "dtype": "f16", "shape": [32]}],
    "operators": [{"op": "neg", "inputs": ["X"], "outputs": ["Y"]}], "outputs": ["Y"]})";
  Program program(Graph::from_json(halves), {ZELLIGE_ON_EMULATOR, "sm_80"});
  alignas(16) std::uint16_t x[32], y[32] = {};
  const std::int64_t shape[1] = {32};
  for (int i = 0; i < 32; ++i) x[i] = static_cast<std::uint16_t>(i % 2 ? 0xfefe : 0x3c00 + i);
  program.call({{x, 1, 0, 1, 2, 16, 1, shape, nullptr, 0}}, {{y, 1, 0, 1, 2, 16, 1, shape, nullptr, 0}});
  for (int i = 0; i < 32; ++i)
    if (i % 2)
      EXPECT_GT(y[i] & 0x7fff, 0x7c00) << i;
    else
      EXPECT_EQ(y[i], 0xbc00 + i) << i;
}

TEST(Api, ThreadsCallOneProgram) {
  Program program(Graph::from_json(scaled), {ZELLIGE_ON_EMULATOR, "sm_80"});
  Floats x[3], y[3];
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    for (int i = 0; i < 32; ++i) x[t].values[i] = static_cast<float>(100 * t + i);
    threads.emplace_back([&, t] { program.call({x[t].tensor()}, {y[t].tensor()}); });
  }
  for (std::thread& t : threads) t.join();
  for (int t = 0; t < 3; ++t)
    for (int i = 0; i < 32; ++i) EXPECT_EQ(y[t].values[i], 3 * x[t].values[i]);
}

TEST(Api, ACacheIsChangedWhereItLies) {
  for (const zellige_on on : {ZELLIGE_ON_REFERENCE, ZELLIGE_ON_EMULATOR}) {
    Program program(Graph::from_json(cached), {on, "sm_80"});
    EXPECT_EQ(program.outputs()[0].memory, 0);
    Floats k, u;
    u.shape[0] = 1;
    alignas(16) std::int32_t row[4] = {2};
    const std::int64_t one[1] = {1};
    zellige_tensor n{row, 1, 0, 1, 0, 32, 1, one, nullptr, 0};
    for (int i = 0; i < 32; ++i) k.values[i] = static_cast<float>(i), u.values[i] = -1;
    program.call({k.tensor(), n, u.tensor()}, {k.tensor()});
    for (int i = 0; i < 32; ++i) EXPECT_EQ(k.values[i], i / 8 == 2 ? -1 : i);
    row[0] = 4;
    if (on == ZELLIGE_ON_EMULATOR)
      EXPECT_EQ(why([&] {
                  program.call({k.tensor(), n, u.tensor()}, {k.tensor()});
                }),
                "program cached, input N: holds row indices from 0 to 3, found 4 at (0)");
    row[0] = 2;
    Floats other;
    EXPECT_EQ(why([&] {
                program.call({k.tensor(), n, u.tensor()}, {other.tensor()});
              }),
              "program cached, output K1: expected the memory of input K, which it changes in place, found "
              "other memory");
  }
}

TEST(Api, WhatDiffersIsOneSentence) {
  Case c;
  EXPECT_EQ(c.refused([](auto& x, auto&) { x.dtype_bits = 16; }), "program scaled, input X: expected f32, found f16");
  EXPECT_EQ(c.refused([](auto& x, auto&) { x.dtype_bits = 64; }), "program scaled, input X: expected f32, found f64");
  EXPECT_EQ(c.refused([](auto& x, auto&) { x.dtype_code = 9, x.dtype_bits = 8; }),
            "program scaled, input X: expected f32, found a dtype of DLPack's code 9, 8 bits");
  const std::int64_t shape[] = {8, 4}, across[] = {1, 4};
  EXPECT_EQ(c.refused([&](auto& x, auto&) { x.shape = shape; }),
            "program scaled, input X: expected shape (4, 8), found (8, 4)");
  EXPECT_EQ(c.refused([&](auto& x, auto&) { x.rank = 1; }),
            "program scaled, input X: expected shape (4, 8), found (4)");
  EXPECT_EQ(c.refused([&](auto&, auto& y) { y.strides = across; }),
            "program scaled, output Y: expected strides (8, 1), found (1, 4)");
  EXPECT_EQ(c.refused([&](auto& x, auto&) { x.byte_offset = 4; }),
            "program scaled, input X: expected memory that begins at a multiple of 16 bytes, found 4 above one");
  EXPECT_EQ(c.refused([&](auto& x, auto&) { x.data = nullptr; }),
            "program scaled, input X: expected an address, found NULL");
  EXPECT_EQ(c.refused([&](auto&, auto& y) { y.device_type = 2, y.device_id = 1; }),
            "program scaled, output Y: expected it on the host, where input X lies, found it on cuda:1");
  EXPECT_EQ(c.refused([&](auto& x, auto& y) { x.device_type = y.device_type = 2; }),
            "program scaled: was made for the reference, expected tensors on the host, found them on cuda:0");
  EXPECT_EQ(c.refused([&](auto& x, auto& y) { x.device_type = y.device_type = 10; }),
            "program scaled, input X: expected it on the host or on a CUDA device, found it on a device of "
            "DLPack's type 10");
  EXPECT_EQ(c.refused([&](auto& x, auto& y) { y.data = static_cast<float*>(x.data) + 8; }),
            "program scaled, output Y: expected memory of its own, found some of input X");
  EXPECT_EQ(why([&] { c.program.call({}, {c.y.tensor()}); }), "program scaled: expected 1 input, found 0");
  EXPECT_EQ(why([&] { c.program.call({c.x.tensor()}, {c.y.tensor()}, &c); }),
            "program scaled: its tensors lie on the host, where there is no stream");
  EXPECT_EQ(why([&] { c.program.launch({c.x.values}, {c.y.values}, nullptr); }),
            "program scaled: was made for the reference, which takes no addresses of a GPU");
  EXPECT_EQ(why([&] { c.program.launch({}, {c.y.values}, nullptr); }),
            "launch: expected 1 inputs and 1 outputs, found 0 and 1");
}

TEST(Api, WhatCannotBeMadeIsOneSentence) {
  EXPECT_EQ(why([] { Graph::from_json("{}", "empty"); }),
            "empty: expected a graph (an object with \"zellige_graph\") or a list of graphs, found an object");
  EXPECT_EQ(why([] { Graph::from_file("no/such.json"); }), "no/such.json: cannot be read");
  const Graph g = Graph::from_json(scaled);
  EXPECT_EQ(why([&] {
              Program(g, {ZELLIGE_ON_AUTO, "sm_7"});
            }),
            "target sm_7: unknown; known targets are sm_80, sm_86, sm_87, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, "
            "sm_121a; did you mean sm_87?");
  EXPECT_EQ(why([&] {
              Program(g, {ZELLIGE_ON_EMULATOR, "sm_80", "", {"Z"}});
            }),
            "graph scaled has no input Z, which --constant names; known inputs are X; did you mean X?");
  EXPECT_EQ(why([&] {
              Program(g, {ZELLIGE_ON_EMULATOR, "sm_80", "", {}, 4});
            }),
            "tune: needs a GPU; this runs on the host");
  EXPECT_EQ(why([&] {
              Program(g, {ZELLIGE_ON_EMULATOR, "sm_80", "", {}, -1});
            }),
            "tune: expected 0 or how many tilings to measure, found -1");
  zellige_graph* none = nullptr;
  EXPECT_EQ(zellige_graph_from_json("[", nullptr, &none), ZELLIGE_REFUSED);
  EXPECT_EQ(none, nullptr);
}

// The manifest of a decomposed custom operator also reproduces the program.
TEST(Api, ReplaysAManifest) {
  const char* const scores = R"({"zellige_graph": 1, "name": "scores",
    "inputs": [{"name": "Q", "dtype": "f16", "shape": [32, 16, 64]}, {"name": "K", "dtype": "f16", "shape": [32, 64, 4096]}],
    "operators": [{"op": "matmul", "inputs": ["Q", "K"], "outputs": ["S"]}, {"op": "exp", "inputs": ["S"], "outputs": ["P"]},
      {"op": "custom", "inputs": ["P"], "outputs": ["Y"], "grid": [32, 2, 1], "block": [128, 1, 1], "body": [
        {"op": "input", "from": "P", "map": {"x": 0, "y": 1}, "outputs": ["p"]},
        {"op": "accum_red_sum", "inputs": ["p"], "outputs": ["s"]},
        {"op": "output", "inputs": ["s"], "map": {"x": 0, "y": 1}, "to": "Y"}]}],
    "outputs": ["Y"]})";
  const Graph g = Graph::from_json(scores);
  const Program first(g, {ZELLIGE_ON_EMULATOR, "sm_90a"});
  const std::string manifest = first.text(ZELLIGE_MANIFEST);
  EXPECT_NE(manifest.find("\"apart\": true"), std::string::npos);
  const Program again(g, {ZELLIGE_ON_EMULATOR, "sm_90a", manifest});
  EXPECT_EQ(std::string(first.text(ZELLIGE_SOURCE)), again.text(ZELLIGE_SOURCE));
  EXPECT_EQ(manifest, again.text(ZELLIGE_MANIFEST));
}

TEST(Api, TellsOfItself) {
  const Program p(Graph::from_json(scaled), {ZELLIGE_ON_EMULATOR, "sm_90a", "", {"X"}});
  const zellige_tensor_info x = p.inputs()[0], y = p.outputs()[0];
  EXPECT_STREQ(x.name, "X");
  EXPECT_STREQ(x.dtype, "f32");
  EXPECT_EQ(std::vector<std::int64_t>(x.shape, x.shape + x.rank), (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(x.bytes, 128);
  EXPECT_EQ(x.alignment, 16);
  EXPECT_EQ(x.memory, -1);
  EXPECT_EQ(x.constant, 1);
  EXPECT_EQ(std::vector<std::int64_t>(y.strides, y.strides + y.rank), (std::vector<std::int64_t>{8, 1}));
  EXPECT_NE(p.text(ZELLIGE_SOURCE).find("#include <zellige/block/tile.hpp>"), std::string::npos);
  EXPECT_EQ(p.text(ZELLIGE_STANDALONE).find("#include <zellige/block/"), std::string::npos);
  EXPECT_NE(p.text(ZELLIGE_MANIFEST).find("\"target\": \"sm_90a\""), std::string::npos);
  EXPECT_NE(p.text(ZELLIGE_PLAN).find("workspace 0 bytes"), std::string::npos);
  EXPECT_NE(p.text(ZELLIGE_PRICE).find("cost of"), std::string::npos);
  EXPECT_EQ(p.text(ZELLIGE_TARGET), "sm_90a");
  EXPECT_GT(p.price(), 0);
  EXPECT_EQ(p.workspace(), 0);
  EXPECT_EQ(zellige_api_version(), ZELLIGE_API_VERSION);
}

/// exp(X) + X, twice.
constexpr const char* sums = R"({"zellige_graph": 1, "name": "sums",
  "inputs": [{"name": "X", "dtype": "f32", "shape": [4, 8]}],
  "operators": [{"op": "exp", "inputs": ["X"], "outputs": ["E"]}, {"op": "add", "inputs": ["E", "X"], "outputs": ["S"]},
                {"op": "exp", "inputs": ["S"], "outputs": ["F"]}, {"op": "add", "inputs": ["F", "S"], "outputs": ["Y"]}],
  "outputs": ["Y"]})";

TEST(Api, AWatchSeesTheSearchAndMayEndIt) {
  std::vector<std::string> phases;
  zellige::ProgramOptions o{.on = ZELLIGE_ON_EMULATOR, .target = "sm_90a"};
  o.watch = [&](std::string_view phase, std::int64_t done, std::int64_t of) {
    EXPECT_LE(done, of) << phase;
    if (phases.empty() || phases.back() != phase) phases.emplace_back(phase);
    return true;
  };
  const auto kernels = [](const Program& p) {
    const std::string text = p.text(ZELLIGE_MANIFEST);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("\"shared_bytes\"", at)) != text.npos; ++at) ++count;
    return count;
  };
  const Graph g = Graph::from_json(sums);
  EXPECT_EQ(kernels(Program(g, o)), 1u);
  EXPECT_EQ(phases, (std::vector<std::string>{"operators estimated", "groups grown", "kernels planned"}));
  o.watch = [](std::string_view, std::int64_t, std::int64_t) { return false; };
  EXPECT_EQ(kernels(Program(g, o)), 4u);
  o.watch = [](std::string_view, std::int64_t, std::int64_t) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(Program(g, o), std::runtime_error);
}

TEST(Api, AStructureMayBeOfAnEarlierHeader) {
  const Graph g = Graph::from_json(scaled);
  zellige_options early{};
  early.size = offsetof(zellige_options, tune);  // knows `on` alone
  early.on = ZELLIGE_ON_REFERENCE;
  early.tune = -1;  // not read
  zellige_program* made = nullptr;
  ASSERT_EQ(zellige_program_new(g.handle(), &early, &made), ZELLIGE_OK) << zellige_last_error();
  zellige_program_free(made);
}

TEST(Api, EvaluatesLayouts) {
  char* text = nullptr;
  ASSERT_EQ(zellige_layout("composition((_4,_8):(_8,_1), _16:_2)", &text), ZELLIGE_OK);
  EXPECT_EQ(zellige::detail::taken(text), "(_2,_8):(_16,_1)");
  EXPECT_EQ(zellige_layout("coalesced(4:1)", &text), ZELLIGE_REFUSED);
  EXPECT_STREQ(zellige_last_error(),
               "coalesced is no operation; zellige layout --list shows them; did you mean coalesce?");
  ASSERT_EQ(zellige_layout_svg("(4,8):(8,1)", 16, &text), ZELLIGE_OK);
  EXPECT_EQ(zellige::detail::taken(text).substr(0, 4), "<svg");
}

}  // namespace
