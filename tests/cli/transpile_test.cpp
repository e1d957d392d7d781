#include <nlohmann/json.hpp>

#include "command.hpp"
#include "graphs.hpp"
#include "system/files.hpp"

namespace {

using zellige::system::read_whole;
using zellige::system::write_whole;

struct Transpile : Command {
  Transpile() { write_whole(path("three.json"), three_graphs); }
};

TEST_F(Transpile, WritesTextAndManifest) {
  expect({"transpile", path("three.json"), "--index", "1", "-o", path("out")}, 0,
         path("out/product.cu") + "\n" + path("out/product.manifest.json") + "\n");
  EXPECT_NE(read_whole(path("out/product.cu")).find("#include <zellige/block/tile.hpp>"), std::string::npos);
  const auto manifest = nlohmann::json::parse(read_whole(path("out/product.manifest.json")));
  EXPECT_EQ(manifest.at("version"), 3);
  EXPECT_EQ(manifest.at("name"), "product");
  EXPECT_EQ(manifest.at("buffer_size"), 0);
  EXPECT_EQ(manifest.at("tensors").size(), 3u);
  EXPECT_EQ(manifest.at("kernels").size(), 1u);
  EXPECT_EQ(manifest.at("kernels").at(0).at("arguments").size(), 3u);
  int files = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator(path("out"))) ++files;
  EXPECT_EQ(files, 2);
}

TEST_F(Transpile, ConstantInputsAreNamed) {
  const auto f = run(
      {"transpile", path("three.json"), "--index", "1", "-o", path("out"), "--target", "sm_90a", "--constant", "B"});
  ASSERT_EQ(f.status, 0) << f.output;
  const auto manifest = nlohmann::json::parse(read_whole(path("out/product.manifest.json")));
  for (const auto& t : manifest.at("tensors")) EXPECT_EQ(t.value("constant", false), t.at("name") == "B") << t;
  EXPECT_EQ(manifest.at("kernels").at(0).at("programmatic"), true);
  expect({"transpile", path("three.json"), "--index", "1", "-o", path("out"), "--constant", "b2"}, 2,
         "zellige: graph product has no input b2, which --constant names; known inputs are A, B; did you "
         "mean B?\n");
}

TEST_F(Transpile, StandaloneNeedsNoHeaders) {
  const auto f =
      run({"transpile", path("three.json"), "--index", "1", "-o", path("out"), "--standalone", "--target", "sm_90a"});
  ASSERT_EQ(f.status, 0) << f.output;
  const std::string text = read_whole(path("out/product.cu"));
  EXPECT_EQ(text.find("#include <zellige/block/"), std::string::npos);
  EXPECT_EQ(text.find("#pragma once"), std::string::npos);
  EXPECT_NE(text.find("__global__"), std::string::npos);
}

TEST_F(Transpile, ExplainPrintsThePlanFirst) {
  const auto f = run({"transpile", path("three.json"), "--index", "1", "-o", path("out"), "--explain"});
  EXPECT_EQ(f.status, 0);
  EXPECT_GT(f.output.find(path("out/product.cu")), 50u) << f.output;
}

TEST_F(Transpile, ARefusedGraphLeavesNoFile) {
  const auto f = run({"transpile", path("three.json"), "--index", "2", "-o", path("out")});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.output.find("(3, 8)"), std::string::npos) << f.output;
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(Transpile, AnUnwritableFolderIsOneMessage) {
  write_whole(path("file"), "in the way");
  expect({"transpile", path("three.json"), "-o", path("file")}, 2,
         "zellige: " + path("file") + ": cannot create the folder: Not a directory\n");
  // The manifest's place is taken by a folder: neither file may stay.
  std::filesystem::create_directories(path("out/scaled.manifest.json"));
  expect({"transpile", path("three.json"), "-o", path("out")}, 2,
         "zellige: " + path("out/scaled.manifest.json") + ": cannot be written: Is a directory\n");
  EXPECT_FALSE(std::filesystem::exists(path("out/scaled.cu")));
}

}  // namespace
