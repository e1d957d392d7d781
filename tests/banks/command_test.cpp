// zellige banks as it is run.
#include "cli/command.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace {

using json = nlohmann::json;

TEST_F(Command, SaysWhatAnAccessCostsAndHowToAvoidIt) {
  expect({"banks", "(8,64):(64,1)", "--access", "ldmatrix.x1"}, 0,
         "(8,64):(64,1): 512 elements of 16 bits, 1024 bytes\n"
         "\n"
         "ldmatrix.x1: 8 wavefronts, 1 would do; by phase 8; conflict degree 8\n"
         "  the worst of 8 accesses, which take 64 of them where 8 would do\n"
         "phase 0, lanes 0-7: 8 wavefronts\n"
         "bank  0        8        16       24\n"
         "   0  1111.... ........ ........ ........\n"
         "   1  2222.... ........ ........ ........\n"
         "   2  3333.... ........ ........ ........\n"
         "   3  4444.... ........ ........ ........\n"
         "   4  5555.... ........ ........ ........\n"
         "   5  6666.... ........ ........ ........\n"
         "   6  7777.... ........ ........ ........\n"
         "   7  8888.... ........ ........ ........\n"
         "\n"
         "cheapest swizzle: Sw<3,3,3> o _0 o (8,64):(64,1) (the 128-byte swizzle of TMA and WGMMA), no more "
         "memory, no "
         "conflicts: 8 wavefronts\n"
         "or padding: (8,64):(72,1), 112 bytes more, no conflicts: 8 wavefronts\n");
  expect({"banks", "64:1", "--type", "f32", "--access", "ld.shared.b32", "--no-picture"}, 0,
         "64:1: 64 elements of 32 bits, 256 bytes\n"
         "\n"
         "ld.shared.b32: 1 wavefront, 1 would do; by phase 1; conflict degree 1\n"
         "  the worst of 2 accesses, which take 2 of them where 2 would do\n"
         "\n"
         "no conflicts: nothing to remedy\n");
}

TEST_F(Command, JsonSaysTheSame) {
  const auto f = run({"banks", "(32,32):(32,1)", "--type", "f32", "--access", "32:1", "--access", "32:32", "--json"});
  ASSERT_EQ(f.status, 0) << f.output;
  const json out = json::parse(f.output);
  EXPECT_EQ(out["accesses"][0]["wavefronts"], 32);
  EXPECT_EQ(out["accesses"][0]["phases"], json({32}));
  EXPECT_EQ(out["accesses"][0]["addresses"][31], 31 * 128);
  EXPECT_EQ(out["accesses"][1]["degree"], 1);
  EXPECT_EQ(out["remedies"][0]["layout"], "Sw<5,0,5> o _0 o (32,32):(32,1)");
  EXPECT_EQ(out["remedies"][1]["extra_bytes"], 124);
}

TEST_F(Command, PicturesOfBanks) {
  const auto f =
      run({"banks", "(8,64):(64,1)", "--access", "ldmatrix.x1", "--svg", path("b.svg"), "--html", path("b.html")});
  ASSERT_EQ(f.status, 0) << f.output;
  std::ifstream in(path("b.svg"));
  const std::string svg(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(svg.find("<title>lane 7: byte 896, word 227 of bank 3, wavefront 8</title>"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  expect({"banks", "8:1", "--access", "ld.shared.b16", "--access", "8:1", "--svg", path("c.svg")}, 2,
         "zellige: --svg: one picture is one access; --html draws several\n");
}

TEST_F(Command, WrongUseOfBanksIsOneMessageAndStatus2) {
  expect({"banks", "(8,64):(64,1)"}, 2, "zellige: --access is required (zellige banks --help shows the usage)\n");
  expect({"banks", "(8,64", "--access", "ldmatrix"}, 2, "zellige: ) is expected\n  (8,64\n       ^\n");
  expect({"banks", "(8,64):(64,1)", "--access", "ldmatrix", "--type", "f13"}, 2,
         "zellige: type f13: unknown; f16, bf16, f32, f64, e4m3, i8, ... or 4, 8, 16, 32, 64 or 128 bits are "
         "known; did you mean f16?\n");
  expect({"banks", "(8,64):(64,1)", "--access", "st.global"}, 2, "zellige: access st.global: st.shared is needed\n");
}

}  // namespace
