#include <gtest/gtest.h>

#include "run/driver_table.hpp"

namespace zellige::run {
namespace {

constexpr std::string_view what_to_do =
    ", and please report this with the graph and its kernels, which `zellige run GRAPH --dump FOLDER` writes "
    "(in Python, "
    "program.graph is the graph)";

TEST(GpuFault, NamesTheKernelThatWasWaitedForAlone) {
  record_wait();
  record_launch("linear", "linear_k0");
  EXPECT_EQ(context_is_gone(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"),
            "program linear, kernel linear_k0: ended in an illegal instruction on the GPU "
            "(CUDA_ERROR_ILLEGAL_INSTRUCTION), "
            "and this process's GPU context is gone with it; restart the process" +
                std::string(what_to_do));
}

TEST(GpuFault, NamesTheLastOfSeveralKernelsAndHowToFindTheOne) {
  record_wait();
  for (const char* kernel : {"mlp_k0", "mlp_k1", "mlp_k2"}) record_launch("mlp", kernel);
  EXPECT_EQ(context_is_gone(700, "CUDA_ERROR_ILLEGAL_ADDRESS"),
            "program mlp, kernel mlp_k2 or one of the 2 launched before it: ended in an access to an illegal "
            "address on the "
            "GPU (CUDA_ERROR_ILLEGAL_ADDRESS), and this process's GPU context is gone with it; restart the "
            "process (with "
            "CUDA_LAUNCH_BLOCKING=1 the message names the kernel)" +
                std::string(what_to_do));
}

TEST(GpuFault, NamesTheKernelOrTheOneBeforeIt) {
  record_wait();
  for (const char* kernel : {"mlp_k0", "mlp_k1"}) record_launch("mlp", kernel);
  EXPECT_TRUE(
      context_is_gone(719, "CUDA_ERROR_LAUNCH_FAILED")
          .starts_with("program mlp, kernel mlp_k1 or the one launched before it: ended in an exception on the GPU "
                       "(CUDA_ERROR_LAUNCH_FAILED), "));
}

TEST(GpuFault, BlamesNoKernelOfOursWhereAllOfThemHaveEnded) {
  record_launch("mlp", "mlp_k0");
  record_wait();
  EXPECT_EQ(context_is_gone(702, "CUDA_ERROR_LAUNCH_TIMEOUT"),
            "GPU: a kernel of this process that Zellige did not launch ended in a launch that took longer "
            "than this GPU "
            "allows (CUDA_ERROR_LAUNCH_TIMEOUT), and the process's GPU context is gone with it; restart the "
            "process");
}

TEST(GpuFault, OtherStatusesLeaveTheContextAlone) {
  for (const int status : {0, 1, 2, 200, 218, 701, 703, 709, 801}) EXPECT_FALSE(breaks_context(status)) << status;
  for (const int status : {700, 702, 710, 714, 715, 716, 717, 718, 719}) EXPECT_TRUE(breaks_context(status)) << status;
}

}  // namespace
}  // namespace zellige::run
