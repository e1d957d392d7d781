// Impossible requests are refused, with a message of what was requested and what would be valid.
#include <gtest/gtest.h>

#include <zellige/atom/evaluate.hpp>

namespace zellige {
namespace {

std::string refusal(std::string_view op, std::vector<std::string> const& args) {
  try {
    return "accepted: " + evaluate_atom(op, args).value_or("not an operation");
  } catch (LayoutError const& e) {
    return e.what();
  }
}

TEST(Refusals, Instructions) {
  EXPECT_EQ(refusal("mma_traits", {"SM80_16x8x48_F32F16F16F32_TN"}),
            "there is no instruction SM80_16x8x48_F32F16F16F32_TN");
  EXPECT_EQ(refusal("mma_traits", {"SM120_16x8x32_TN<float_e4m3,float_e4m3,double>"}),
            "there is no instruction SM120_16x8x32_TN<float_e4m3,float_e4m3,double>");
  EXPECT_EQ(refusal("copy_traits", {"SM100_TMEM_LOAD_32dp32b256x"}),
            "SM100_TMEM_LOAD_32dp32b256x: sparse instructions of SM100, and those with scales, are not in the tables; "
            "the others "
            "are");
  EXPECT_EQ(refusal("mma_traits", {"SM100_MMA_MXF8F6F4_SS<float_e4m3,float_e4m3,float,float_ue8m0,128,256,K,K>"}),
            "SM100_MMA_MXF8F6F4_SS<float_e4m3,float_e4m3,float,float_ue8m0,128,256,K,K>: sparse instructions of SM100, "
            "and those "
            "with scales, are not in the tables; the others are");
}
TEST(Refusals, ElementsThatThreadsWouldShare) {
  EXPECT_EQ(refusal("copy_atom_print", {"SM75_U16x2_LDSM_T", "float"}),
            "copy_atom_print: elements of 32 bits cannot be copied by an instruction whose threads hold runs of 32 "
            "bits");
  EXPECT_EQ(refusal("copy_atom_print", {"SM80_CP_ASYNC_CACHEGLOBAL<uint32_t>", "half_t"}),
            "copy_atom_print: cp.async cannot copy 4 bytes at once; 16 would do");
}
TEST(Refusals, TiledCopies) {
  std::vector<std::string> const mma{"SM80_16x8x16_F16F16F16F16_TN", "(_2,_2,_1):(_1,_2,_0)", "(_,_,_)", "B"};
  EXPECT_EQ(refusal("tiled_copy_mma_print", {"SM75_U32x4_LDSM_N", "half_t", mma[0], mma[1], mma[2], mma[3]}),
            "tiled_copy_mma_print: the tiled copy has 4 values a thread, which is not a multiple of the 8 of its "
            "instruction");
  EXPECT_EQ(refusal("tiled_copy_print", {"SM75_U32x1_LDSM_N", "half_t", "_16:_1", "_2:_1"}),
            "tiled_copy_print: the tiled copy has 16 threads, which is not a multiple of the 32 of its "
            "instruction");
  EXPECT_EQ(refusal("cotiled_copy", {"UniversalCopy<float>", "float", "(_2,_8):(_8,_2)", "(_4,_2):(_2,_1)"}),
            "cotiled_copy: the values of the threads reach address 15, which the data of 8 addresses do not have");
}
TEST(Refusals, Tma) {
  EXPECT_EQ(refusal("tma_copy", {"SM90_TMA_LOAD", "half_t", "4096:_1", "_512:_1", "_512", "_1"}),
            "tma_copy: the TMA box has an extent of 512; at most 256 elements are possible");
  EXPECT_EQ(
      refusal("tma_copy", {"SM90_TMA_LOAD", "float", "(256,256):(256,_1)", "(_64,_32):(_1,_64)", "(_64,_32)", "_1"}),
      "tma_copy: the innermost mode of the TMA box has stride 256 in global memory; it must be 1: shared and "
      "global memory differ in their major mode");
  EXPECT_EQ(
      refusal("tma_copy", {"SM90_TMA_LOAD", "half_t", "(256,255):(255,_1)", "(_64,_32):(_32,_1)", "(_64,_32)", "_1"}),
      "tma_copy: a global stride of 4080 bits is not a multiple of 128 bits (16 bytes)");
  EXPECT_EQ(
      refusal("tma_copy", {"SM90_TMA_LOAD", "half_t", "(256,256):(256,_1)", "(_64,_32):(_32,_1)", "(_64,_16)", "_1"}),
      "tma_copy: tensors of sizes 2048 and 1024: they must be the same");
}
TEST(Refusals, GmmaDescriptors) {
  EXPECT_EQ(refusal("gmma_desc", {"K", "SW128", "half_t", "(_128,_32)"}),
            "gmma_desc: the tile has extent 4 along K in 16-byte units or elements; the descriptor needs 2");
}

// The majors and signs of a warpgroup instruction, however they are spelt: they change no layout, and only those that
// exist are taken.
TEST(Names, ArgumentsOfWarpgroupInstructions) {
  auto const traits = [](std::string const& name) { return refusal("mma_traits", {name}); };
  std::string const simple = traits("SM90::GMMA::MMA_64x128x16_F32F16F16_SS");
  for (char const* arguments : {"<MN,MN>", "<K,MN>", "<Major::MN, Major::K>", "<GMMA::Major::MN,SM90::GMMA::Major::MN>",
                                "<MN,MN,ScaleIn::One,ScaleIn::Neg>"})
    EXPECT_EQ(traits("SM90::GMMA::MMA_64x128x16_F32F16F16_SS" + std::string(arguments)), simple) << arguments;
  EXPECT_EQ(traits("SM90::GMMA::MMA_64x64x32_F32E4M3E4M3_RS_TN<Neg,One>"),
            traits("SM90::GMMA::MMA_64x64x32_F32E4M3E4M3_RS_TN"));
  for (char const* wrong :
       {"SM90::GMMA::MMA_64x128x16_F32F16F16_SS<MN>", "SM90::GMMA::MMA_64x128x16_F32F16F16_SS<MN,KN>",
        "SM90::GMMA::MMA_64x128x16_F32F16F16_SS<MN,MN", "SM90::GMMA::MMA_64x128x16_F32F16F16_RS<MN,K>",
        "SM90::GMMA::MMA_64x64x32_F32E4M3E4M3_SS_TN<MN,MN>"})
    EXPECT_EQ(traits(wrong), "there is no instruction " + std::string(wrong));
}

}  // namespace
}  // namespace zellige
