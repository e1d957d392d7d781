// The manifest of a program with sizes that are known at launch, and the manifest of a launch.
#include <gtest/gtest.h>

#include "../thrown.hpp"
#include "chain.hpp"
#include "manifest/launch_sizes.hpp"
#include "run/storage.hpp"

namespace zellige::manifest {
namespace {

using test::thrown;
using tile::SizeExpression;

TEST(SizedManifest, IsReadAsItIsWritten) {
  const Manifest m = test::chain(512).manifest;
  const std::string text = to_json(m);
  const std::string again = to_json(parse_manifest(text, "chain"));  // without the prices of kernels
  EXPECT_EQ(to_json(parse_manifest(again, "chain")), again);
  for (const char* part : {R"("name": "T")", R"("max": 512)", R"("multiple": 1)", R"("relations": [])",
                           R"("number": "T")", R"("ceil(T/)", R"("192*T")"})
    EXPECT_NE(text.find(part), text.npos) << part << " is not in\n" << text;
  EXPECT_EQ(parse_manifest(text, "chain").sized, m.sized);
}

TEST(SizedManifest, OfVersion2IsRead) {
  const graph::KernelGraph g = [] {
    graph::Builder b("plain");
    b.output(softmax(b.input("x", {8, 96}), 1), "y");
    return b.build();
  }();
  std::string text = to_json(test::transpile(g, target::find("sm_80")).manifest);
  const std::string version = R"("version": 3)";
  ASSERT_NE(text.find(version), text.npos);
  EXPECT_EQ(text.find("sizes"), text.npos);
  const auto with = [&](const char* other) {
    std::string changed = text;
    return changed.replace(text.find(version), version.size(), other);
  };
  EXPECT_EQ(unsealed_manifest(with(R"("version": 2)"), "m").tensors.size(), 2u);
  EXPECT_EQ(thrown([&] { unsealed_manifest(with(R"("version": 4)"), "m"); }), "m.version: expected 2 or 3, found 4");
}

TEST(SizedManifest, RefusesWhatIsNone) {
  const std::string text = to_json(test::chain(512).manifest);
  const auto why = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    EXPECT_NE(changed.find(from), changed.npos) << from;
    changed.replace(changed.find(from), from.size(), to);
    return thrown([&] { unsealed_manifest(changed, "m"); });
  };
  EXPECT_EQ(why(R"("min": 1)", R"("min": 600)"),
            "m.sizes[0]: expected multiples of 1 as min and max, the first not above the other, found 600 and 512");
  EXPECT_EQ(why(R"("number": "T")", R"("number": "U")"),
            "m.kernels[0].arguments[2].number: expected an expression of the sizes, found expected an integer, or the "
            "name of a size, at character 1 of \"U\", found U");
  EXPECT_EQ(why(R"("relations": [])", R"("relations": ["T"])"),
            "m.relations[0]: expected two expressions of sizes, as in T2 = T + P, found \"T\"");
}

TEST(SizedManifest, TensorsOfTheWorkspaceNeverOverlap) {
  const Manifest m = test::chain(512).manifest;
  std::int64_t before = 0;
  for (std::int64_t n = 1; n <= 512; ++n) {
    const std::int64_t sizes[] = {n};
    const Manifest launch = at_sizes(m, sizes);
    run::check(launch);  // that it is large enough, and that no two tensors which are needed at once overlap
    EXPECT_GE(launch.buffer_size, before);
    before = launch.buffer_size;
  }
  EXPECT_EQ(before, m.buffer_size);
  const std::int64_t one[] = {1};
  EXPECT_EQ(at_sizes(m, one).buffer_size, 2 * 256);
}

TEST(SizedManifest, RefusesSizesWithBothNumbers) {
  Manifest m = test::chain(512, 8).manifest;
  const auto why = [&](std::vector<std::int64_t> sizes) { return thrown([&] { at_sizes(m, sizes); }); };
  EXPECT_EQ(why({8}), "");
  EXPECT_EQ(why({520}), "program chain: expected T from 8 to 512, found 520");
  EXPECT_EQ(why({0}), "program chain: expected T from 8 to 512, found 0");
  EXPECT_EQ(why({12}), "program chain: expected T to be a multiple of 8, found 12");
  EXPECT_EQ(why({8, 8}), "program chain: expected 1 size, found 2");
  m.sizes.push_back({.name = "P", .low = 1, .high = 9});
  m.relations.push_back({SizeExpression::of(m.sizes, 0), SizeExpression::parse("4*P", m.sizes)});
  EXPECT_EQ(why({8, 2}), "");
  EXPECT_EQ(why({16, 3}), "program chain: expected T = 4*P, found 16 and 12");
}

TEST(SizedManifest, OfALaunchIsSetInPlace) {
  const Manifest m = test::chain(512).manifest;
  const std::int64_t some[] = {70}, others[] = {511};
  Manifest launch = at_sizes(m, some);
  set_sizes(launch, m, others);
  EXPECT_EQ(to_json(launch), to_json(at_sizes(m, others)));
  EXPECT_EQ(launch.kernels[0].constants.at(2), bytes_of(511, 4));
  EXPECT_EQ(launch.tensors[0].shape, (graph::Shape{511, 96}));
}

}  // namespace
}  // namespace zellige::manifest
