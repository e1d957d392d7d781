#include "run/nvrtc.hpp"

#include "emit/emit.hpp"
#include "failing.hpp"
#include "folder.hpp"
#include "graph/load.hpp"
#include "kernel.hpp"
#include "target/target.hpp"

namespace zellige::run {
namespace {

struct Nvrtc : testing::Test {
  void SetUp() override {
    try {
      nvrtc_version();
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  Folder folder;
  Cache cache{folder.path};
};

TEST_F(Nvrtc, CompilesAndCaches) {
  const std::string source = hand_written().source;
  const Cubin made = compile_cubin(source, "sm_90a", cache);
  EXPECT_FALSE(made.cached);
  EXPECT_EQ(made.bytes.substr(1, 3), "ELF");
  EXPECT_GT(made.compile_ms, 0);
  const Cubin again = compile_cubin(source, "sm_90a", cache);
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.bytes, made.bytes);
  EXPECT_EQ(again.compile_ms, made.compile_ms);
  EXPECT_FALSE(compile_cubin(source, "sm_80", cache).cached) << "another target is another kernel";
  RecordProperty("compile_ms", static_cast<int>(made.compile_ms));
}

// NVRTC is not nvcc: it knows none of the host compiler's own words.
TEST_F(Nvrtc, CompilesWhatIsEmitted) {
  const graph::KernelGraph lora = graph::load(ZELLIGE_SOURCE_DIR "/examples/lora.json").front(),
                           gemm = graph::load(ZELLIGE_SOURCE_DIR "/examples/gemm.json").front();
  EXPECT_EQ(
      compile_cubin(emit::transpile(lora, target::find("sm_80")).source, "sm_80", cache).bytes.substr(1, 3),
      "ELF");
  EXPECT_EQ(
      compile_cubin(emit::transpile(gemm, target::find("sm_90a")).source, "sm_90a", cache).bytes.substr(1, 3),
      "ELF");
}

TEST_F(Nvrtc, TheLogOfAFailureIsInTheMessage) {
  const std::string bad = changed(hand_written().source, "threadIdx.x;", "no_such_name;");
  const std::string message = message_of([&] { compile_cubin(bad, "sm_80", cache); });
  EXPECT_EQ(
      message.find("NVRTC " + nvrtc_version() + " does not compile the kernel: NVRTC_ERROR_COMPILATION\n"),
      0u)
      << message;
  EXPECT_NE(message.find("identifier \"no_such_name\" is undefined"), std::string::npos) << message;
}

}  // namespace
}  // namespace zellige::run
