// The textual form on the command line: transpile --emit ir, emit, run --ir, and what is reported of a source that is
// wrong.
#include <algorithm>

#include "command.hpp"
#include "graphs.hpp"
#include "system/files.hpp"

namespace {

using zellige::system::read_whole;
using zellige::system::write_whole;

struct Ir : Command {
  const std::string gemm = ZELLIGE_SOURCE_DIR "/examples/gemm.json";

  /// Writes gemm.ir of the target, with the graph's own tiles.
  std::string written(const std::string& target) {
    const auto f = run({"transpile", gemm, "--target", target, "--tiling", "given", "-o", path("out"), "--emit", "ir"});
    EXPECT_EQ(f.status, 0) << f.output;
    EXPECT_EQ(f.output, path("out/gemm.ir") + "\n" + path("out/gemm.manifest.json") + "\n");
    return read_whole(path("out/gemm.ir"));
  }
  /// Writes gemm.ir for sm_80 with every `from` replaced by `to`; lines that contain `without` are omitted.
  void edit(const std::string& from, const std::string& to, const std::string& without = "") {
    std::string text = written("sm_80");
    ASSERT_NE((from + without), "");
    for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
    for (std::size_t at = 0; !without.empty() && (at = text.find(without, at)) != text.npos;) {
      at = text.rfind('\n', at) + 1;
      text.erase(at, text.find('\n', at) + 1 - at);
    }
    write_whole(path("gemm.ir"), text);
  }
  /// That the source is refused, with this sentence after the file's name, with which the message begins.
  void refused(const std::string& sentence) {
    expect({"emit", path("gemm.ir"), "-o", path("out")}, 2, path("gemm.ir") + ":" + sentence + "\n");
  }
};

TEST_F(Ir, EmitWritesWhatTranspileWrites) {
  for (const std::string target : {"sm_80", "sm_90a"}) {
    written(target);
    ASSERT_EQ(run({"transpile", gemm, "--target", target, "--tiling", "given", "-o", path("direct")}).status, 0);
    expect({"emit", path("out/gemm.ir"), "-o", path("again")}, 0,
           path("again/gemm.cu") + "\n" + path("again/gemm.manifest.json") + "\n");
    for (const std::string file : {"gemm.cu", "gemm.manifest.json"})
      EXPECT_EQ(read_whole(path("direct/" + file)), read_whole(path("again/" + file))) << target;
  }
}

TEST_F(Ir, EmitReplacesNoFileOfSomebody) {
  written("sm_80");
  write_whole(path("out/gemm.cu"), "mine\n");
  EXPECT_EQ(run({"emit", path("out/gemm.ir"), "-o", path("out")}).status, 2);
  EXPECT_EQ(read_whole(path("out/gemm.cu")), "mine\n");
  EXPECT_EQ(run({"emit", path("out/gemm.ir"), "-o", path("out"), "--force"}).status, 0);
}

TEST_F(Ir, AnEditedPlanIsVerifiedAndRuns) {
  const std::string before = written("sm_80");
  edit("wait_group pending 1", "wait_group pending 0  # a shorter pipeline");
  ASSERT_EQ(run({"emit", path("gemm.ir"), "-o", path("edited")}).status, 0);
  ASSERT_EQ(run({"emit", path("out/gemm.ir"), "-o", path("unedited")}).status, 0);
  const std::string edited = read_whole(path("edited/gemm.cu")), unedited = read_whole(path("unedited/gemm.cu"));
  EXPECT_NE(edited, unedited);
  const auto f = run({"run", gemm, "--ir", path("gemm.ir"), "--on", "emulator"});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(f.output.find("correct   emulator sm_80"), f.output.npos) << f.output;
}

TEST_F(Ir, AProgramThatComputesSomethingElseIsRefusedBeforeItRuns) {
  edit("map gelu", "map relu");
  const auto f = run({"run", gemm, "--ir", path("gemm.ir"), "--on", "emulator"});
  EXPECT_EQ(f.status, 2) << f.output;
  EXPECT_NE(
      f.output.find(path("gemm.ir") + ":26:5: gemm_k0: store %7 writes 0 to C (46, 34), where the graph has -0.169971"),
      f.output.npos)
      << f.output;
}

TEST_F(Ir, WithoutAFullCheckNothingIsInterpretedAndANoteSaysSo) {
  edit("map gelu", "map relu");
  const auto f = run({"run", gemm, "--ir", path("gemm.ir"), "--on", "emulator", "--check", "none"});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(f.output.find("note: the tile programs are not interpreted: the graph is large, or its check is not full"),
            f.output.npos)
      << f.output;
}

TEST_F(Ir, OfAnotherGraphIsRefused) {
  written("sm_80");
  write_whole(path("three.json"), three_graphs);
  const auto f = run({"run", path("three.json"), "--ir", path("out/gemm.ir"), "--on", "emulator"});
  EXPECT_EQ(f.status, 2) << f.output;
  EXPECT_NE(f.output.find("--ir: input 1 of program gemm is A bf16 (384, 512); graph scaled has A f16 (16, 16)"),
            f.output.npos)
      << f.output;
}

TEST_F(Ir, AnUnknownInstructionHasANearestOne) {
  edit("by SM80_16x8x16_F32BF16BF16F32_TN", "by SM80_16x8x16_F32BF16BF16F32_TM");
  refused(
      "29:164: sm_80 has no instruction SM80_16x8x16_F32BF16BF16F32_TM; did you mean "
      "SM80_16x8x16_F32BF16BF16F32_TN?");
}

TEST_F(Ir, ALayoutIsInCutesNotation) {
  edit("(_64,_128):(_1,_64)", "(_64,_128):(_1,)");
  refused("36:61: a layout in CuTe's notation: a number is expected");
}

TEST_F(Ir, AMissingTensorIsNamed) {
  edit("", "", "smem sA ");
  refused("37:16: smem sA: unknown; known names are sC_out, sB, s_bias; did you mean sB?");
}

TEST_F(Ir, AWordThatIsNoFactHasANearestOne) {
  edit(" vector 8", " vectr 8");
  refused("43:61: expected 'vector', found vectr; did you mean vector?");
  edit(" own global", " owm global");
  refused("43:139: 'owm' is no fact of this line, or stands before one that it follows; did you mean own?");
}

TEST_F(Ir, AnUnknownLineIsRefused) {
  edit("  channel A", "  chanel A");
  refused(
      "38:3: no line that begins with 'chanel' is expected here; expected smem, channel, setup; did you mean "
      "channel?");
}

TEST_F(Ir, ALineInAWrongPlaceIsRefused) {
  edit("  setup", "      setup");
  refused("40:7: a line that begins with 'setup' is indented by 6 blanks; expected 2");
}

TEST_F(Ir, LinesThatDoTheSameAgree) {
  edit("loads SM75_U32x4_LDSM_N reads", "reads");
  refused(
      "54:45: '(1,2,4,1) size (1,128,128,64) by SM80_16x8x16_F32BF16BF16F32_TN' differs from '(1,2,4,1) size "
      "(1,128,128,64) by SM80_16x8x16_F32BF16BF16F32_TN loads SM75_U32x4_LDSM_N' of line 42, which does the "
      "same");
}

TEST_F(Ir, StepsThatCopyTheSameTileAgree) {
  edit("ahead 2 do copy_in %0 over t2 tensor sA vector 8 bytes 16",
       "ahead 2 do copy_in %0 over t2 tensor sA vector 4 bytes 8");
  refused(
      "51:64: 'vector 4 bytes 8 by SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>' differs from 'vector 8 bytes "
      "16 by SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>' of line 45, which does the same");
}

TEST_F(Ir, ACopyHasTheBytesOfItsElements) {
  edit("vector 8 bytes 16", "vector 8 bytes 8");
  refused("43:5: step 'copy in bias': 8 elements of bf16 are 16 bytes, not 8");
}

TEST_F(Ir, ATileThatNobodyCopiesIsRefused) {
  edit("", "", "\"copy in bias\"");
  refused("19:5: %2: no step copies this load, and its line does not say that it is read in_place");
}

TEST_F(Ir, ADeletedWaitIsRefusedByTheProof) {
  edit("", "", "wait_group");
  refused(
      "53:7: gemm_k0: block reads A[0] in step 'mma ab' of iteration 0, but the cp.async copy of step 'copy "
      "in A' of "
      "iteration 0 may still write it: 2 groups were committed after its own, and block has waited for none; "
      "wait_group 2 and then a barrier or release must come before this step");
}

TEST_F(Ir, ADeletedMatmulIsRefusedByTheProof) {
  edit("", "", "work \"mma ab\"");
  refused("22:5: gemm_k0: %3 is carried over 8 iterations, and no step updates it");
}

TEST_F(Ir, AnEditedTileIsRefused) {
  edit("view (by, -) -> (_3,_1,_128):(_128,_0,_1)", "view (by, -) -> (_3,_1,_128):(_64,_0,_1)");
  refused("14:23: the tiles of this grid and loop lie as (_3,_1,_128):(_128,_0,_1), or as the like");
}

TEST_F(Ir, TheFileNamesTheTarget) {
  edit("for sm_80", "for sm_81");
  refused(
      "1:25: sm_81: unknown; known words here are sm_80, sm_86, sm_87, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, "
      "sm_121a; did you mean sm_80?");
  expect({"run", gemm, "--ir", path("gemm.ir"), "--target", "sm_80"}, 2,
         "zellige: --target excludes --ir (zellige run --help shows the usage)\n");
}

TEST_F(Ir, AnEmptyFileIsRefused) {
  write_whole(path("gemm.ir"), "# nothing\n");
  refused("1:1: the text ends; expected a line that begins with program");
}

}  // namespace
