// Attention over sequences that lie one after another in one tensor, with their ends in cu_seqlens: right for any lengths, causal or not,
// and tiles of keys of other sequences are neither copied nor multiplied.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../all_cases.hpp"
#include "emulate_graph.hpp"
#include "graph/sized_graph.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "json/json_text.hpp"
#include "manifest/launch_sizes.hpp"
#include "run/compile.hpp"
#include "system/files.hpp"

namespace zellige::run {
namespace {

using Ends = std::vector<std::int64_t>;  // cu_seqlens

std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

constexpr std::int64_t heads = 8;

/// The graph of examples/sizes/packed_attention.json; not causal, it also masks by the ends of sequences. `separate`: a mask of its own
/// makes it causal.
graph::KernelGraph graph_of(bool causal, bool separate = false) {
  std::string text = system::read_whole(ZELLIGE_SOURCE_DIR "/examples/sizes/packed_attention.json");
  if (causal && separate) {
    text = replaced_once(text, R"(,"first":true,"tril":0})", R"(,"first":true},
      {"op": "mask", "inputs": ["masked"], "outputs": ["before"], "tril": 0})");
    text = replaced_once(text, R"({"op":"softmax","inputs":["masked"])", R"({"op":"softmax","inputs":["before"])");
  }
  if (!causal) {
    text = replaced_once(text, R"(,"first":true,"tril":0})", R"(,"first":true},
      {"op": "mask", "inputs": ["of_tokens", "ends"], "outputs": ["ended"], "dims": [1, 0], "value": 1000000},
      {"op": "amin", "inputs": ["ended"], "outputs": ["next_end"], "dim": 1, "keepdim": true},
      {"op": "cast", "inputs": ["next_end"], "outputs": ["last_keys"], "dtype": "int32"},
      {"op": "mask", "inputs": ["masked", "last_keys"], "outputs": ["within"]})");
    text = replaced_once(text, R"({"op":"softmax","inputs":["masked"])", R"({"op":"softmax","inputs":["within"])");
  }
  return json::from_json(json::parse_json(text, "graph"), "graph");
}

/// Attention of each token over those of its sequence, computed by its definition. Tokens after the last end are a sequence, too.
std::vector<double> attention(const std::vector<reference::Array>& in, const Ends& ends, bool causal) {
  const std::int64_t tokens = in[0].shape[0], depth = in[0].shape[2];
  const auto at = [&](int tensor, std::int64_t t, std::int64_t h, std::int64_t d) {
    return in[static_cast<std::size_t>(tensor)].values[static_cast<std::size_t>((t * heads + h) * depth + d)];
  };
  const auto sequence = [&](std::int64_t t) { return std::ranges::count_if(ends, [&](auto end) { return end <= t; }); };
  std::vector<double> y(in[0].values.size());
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t h = 0; h < heads; ++h) {
      std::vector<double> weights;
      double total = 0;
      for (std::int64_t j = 0; j < tokens; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < depth; ++d) score += at(0, t, h, d) * at(1, j, h, d);
        weights.push_back(sequence(j) != sequence(t) || (causal && j > t) ? 0 : std::exp(score * 0.125 - 10));
        total += weights.back();
      }
      for (std::int64_t j = 0; j < tokens; ++j)
        for (std::int64_t d = 0; d < depth && weights[static_cast<std::size_t>(j)] > 0; ++d)
          y[static_cast<std::size_t>((t * heads + h) * depth + d)] +=
              weights[static_cast<std::size_t>(j)] / total * at(2, j, h, d);
    }
  return y;
}

struct Result {
  double error = 0;
  std::uint64_t products = 0, bytes = 0;
  std::string finding;
};

/// Runs `source` for sequences with these ends, and compares it with the definition.
Result ran(const emit::EmittedProgram& p, const std::string& source, const Ends& ends, std::int64_t tokens, bool causal,
           const toolchain::Cache& cache) {
  std::vector<reference::Array> in;
  std::mt19937 random(6012);
  for (int i = 0; i < 3; ++i) {
    in.push_back({{tokens, heads, 64}, std::vector<double>(static_cast<std::size_t>(tokens * heads * 64))});
    for (double& x : in.back().values) x = (static_cast<int>(random() % 2048) - 1024) / 512.0;  // exact in f16
  }
  in.push_back({{std::ssize(ends)}, std::vector<double>(ends.begin(), ends.end())});
  std::vector<std::int64_t> sizes;
  for (const tile::Size& s : p.manifest.sizes) sizes.push_back(s.name == "T" ? tokens : std::ssize(ends) - 1);
  const manifest::Manifest m = manifest::at_sizes(p.manifest, sizes);
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : m.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, in.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun run = run_emulated(source, m, storage, cache, 2);
  Result r;
  for (const auto& f : run.findings) r.finding = f.message;
  for (const EmulatedKernel& k : run.kernels) {
    r.products += k.counters[emulate::Counter::mma] + k.counters[emulate::Counter::wgmma];
    for (const emulate::Counter c : {emulate::Counter::cp_async_source_bytes, emulate::Counter::tma_load_bytes})
      r.bytes += k.counters[c];
  }
  const std::vector<double> right = attention(in, ends, causal);
  for (std::size_t t = 0; t < storage.size(); ++t) {
    if (m.tensors[t].role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(m.tensors[t], storage[t]);
    for (std::size_t i = 0; i < right.size(); ++i)
      r.error = std::fabs(found[i] - right[i]) <= 1e9 ? std::max(r.error, std::fabs(found[i] - right[i])) : 1e9;
  }
  return r;
}

constexpr double allowed = 0.01;

/// Ends of a few sequences: some empty, some of one token, some long.
Ends drawn(std::mt19937& random, std::int64_t tokens) {
  Ends ends{0};
  const int count = std::uniform_int_distribution(1, 6)(random);
  while (std::ssize(ends) <= count) {
    const std::int64_t left = tokens - ends.back();
    const std::int64_t lengths[] = {0, 1, std::uniform_int_distribution<std::int64_t>(0, left)(random)};
    ends.push_back(ends.back() + std::min(left, lengths[random() % 3]));
  }
  if (random() % 2) ends.back() = tokens;
  return ends;
}

emit::EmittedProgram program(bool causal, const char* target) {
  return compile(graph_of(causal), target::find(target), {.fuse = true, .variants = 1}).program;
}

TEST(Packed, AttentionStaysWithinItsSequence) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(6010);
  for (std::size_t i = 0; i < 4; ++i) {
    if (!test::all_cases() && i != 1) continue;
    const bool causal = i < 2;
    const char* target = i % 2 ? "sm_90a" : "sm_80";
    const emit::EmittedProgram p = program(causal, target);
    const std::string text = ir::print(p);
    SCOPED_TRACE(fmt::format("{} on {}", causal ? "causal" : "full", target));
    EXPECT_NE(text.find(" starts %"), std::string::npos) << text;
    EXPECT_EQ(text.find(" lengths %") != std::string::npos, !causal) << text;
    EXPECT_EQ(ir::print(ir::compile(text, "printed.ir").program), text);
    const Result one = ran(p, p.source, {0, 384}, 384, causal, cache);
    const Result six = ran(p, p.source, {0, 64, 128, 192, 256, 320, 384}, 384, causal, cache);
    EXPECT_LE(one.error, allowed);
    EXPECT_LE(six.error, allowed);
    EXPECT_LT(six.products, one.products / 2);
    EXPECT_LT(six.bytes, one.bytes);
    for (int n = test::all_cases() ? 40 : 2; n > 0; --n) {
      const auto tokens = std::uniform_int_distribution<std::int64_t>(1, 300)(random);
      const Ends ends = drawn(random, tokens);
      const Result r = ran(p, p.source, ends, tokens, causal, cache);
      EXPECT_EQ(r.finding, "") << fmt::format("{} tokens, ends {}", tokens, fmt::join(ends, ", "));
      EXPECT_LE(r.error, allowed) << fmt::format("{} tokens, ends {}", tokens, fmt::join(ends, ", "));
    }
  }
}

TEST(Packed, TwoMasksBecomeOne) {
  const auto printed = [](bool separate) {
    const std::string text =
        ir::print(compile(graph_of(true, separate), target::find("sm_80"), {.fuse = true, .variants = 1}).program);
    const std::size_t at = text.find(" scalar -inf along 1 key 2 ");
    return text.substr(at, text.find('\n', at) - at - 1);
  };
  EXPECT_NE(printed(false).find("tril 0 length T first"), std::string::npos) << printed(false);
  EXPECT_NE(printed(true).find("tril 0 length T first"), std::string::npos) << printed(true);
}

TEST(Packed, WrongFirstOrLastIterationsAreFound) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const emit::EmittedProgram p = program(false, "sm_80");
  const Ends ends{0, 130, 131, 300};
  const std::vector<std::pair<std::string, std::string>> faults{
      {"at_most((length + 63) / 64", "at_most((length - begin * 64 + 63) / 64"},
      {"start = min(start, ", "start = max(start, "},
      {"length = max(length, ", "length = min(length, "},
      {"const int begin = at_most(start", "const int begin = at_most(start + 64"}};
  for (std::size_t i = 0; i < faults.size(); i += test::every(4)) {
    const Result r = ran(p, replaced_once(p.source, faults[i].first, faults[i].second), ends, 384, false, cache);
    EXPECT_TRUE(r.error > allowed || !r.finding.empty()) << faults[i].second;
  }
}

TEST(Packed, WrongBoundsAreRefused) {
  const std::string text = ir::print(program(false, "sm_80"));
  const std::size_t at = text.find(" starts %"), end = text.find_first_of(" \n", at + 8);
  ASSERT_NE(at, std::string::npos);
  std::string without = text;
  without.erase(at, end - at);
  const auto refusal = refused([&] { ir::compile(without, "without.ir"); });
  ASSERT_TRUE(refusal.has_value());
  EXPECT_NE(std::string(refusal->what())
                .find("its iterations begin at a key %-1 (-1: none); those that masks leave begin at %" +
                      text.substr(at + 9, end - at - 9)),
            std::string::npos)
      << refusal->what();
}

}  // namespace
}  // namespace zellige::run
