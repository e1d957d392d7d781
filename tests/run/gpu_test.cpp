#include "run/gpu.hpp"

#include "failing.hpp"
#include "folder.hpp"
#include "kernel.hpp"
#include "run/driver.hpp"
#include "run/run.hpp"

namespace zellige::run {
namespace {

/// Returns why there is no usable GPU; "" if there is one.
std::string why_no_gpu() {
  try {
    device();
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Gpu, HandWrittenProgramRuns) {
  const std::string why_not = why_no_gpu();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  const Folder folder;
  const toolchain::Cache cache(folder.path);
  emit::EmittedProgram p = hand_written();
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : p.manifest.tensors) {
    storage.push_back(t.role == manifest::Role::input ? pack(t, hand_input()) : poisoned(t));
  }
  const toolchain::Cubin cubin = toolchain::compile_cubin(p.source, architecture_for(p.manifest.target), cache);
  const GpuRun r = run_on_gpu(p.manifest, cubin, storage, Timing::hot);
  EXPECT_EQ(unpack(p.manifest.tensors[2], storage[2]), hand_output());
  EXPECT_EQ(r.times.samples.size(), 200u);
}

TEST(Gpu, ProgramsOfEarlierTargetsAreCompiledForTheGpuThatIsThere) {
  const Device h200{.name = "NVIDIA H200", .compute_capability = 90},
      a100{.name = "NVIDIA A100", .compute_capability = 80};
  EXPECT_EQ(architecture_for("sm_80", h200), "sm_90");
  EXPECT_EQ(architecture_for("sm_89", h200), "sm_90");
  EXPECT_EQ(architecture_for("sm_90a", h200), "sm_90a");
  EXPECT_EQ(architecture_for("sm_80", a100), "sm_80");
  for (const char* target : {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90a"})
    require_architecture(architecture_for(target, h200), h200);
  EXPECT_EQ(message_of([&] { require_architecture(architecture_for("sm_89", a100), a100); }),
            "target sm_89: its code does not run on the NVIDIA A100 here, which is sm_80; choose --target "
            "sm_80 or --on emulator");
  EXPECT_EQ(message_of([&] { require_architecture("sm_80", h200); }),
            "target sm_80: its code does not run on the NVIDIA H200 here, which is sm_90; choose --target "
            "sm_90a or --on emulator");
  const Device b200{.name = "NVIDIA B200", .compute_capability = 100},
      spark{.name = "NVIDIA GB10", .compute_capability = 121};
  EXPECT_EQ(architecture_for("sm_80", b200), "sm_100");
  for (const char* target : {"sm_80", "sm_89", "sm_100a"}) require_architecture(architecture_for(target, b200), b200);
  EXPECT_EQ(message_of([&] { require_architecture(architecture_for("sm_90a", b200), b200); }),
            "target sm_90a: its code does not run on the NVIDIA B200 here, which is sm_100; choose --target "
            "sm_100a or --on emulator");
  EXPECT_EQ(message_of([&] { require_architecture(architecture_for("sm_120a", spark), spark); }),
            "target sm_120a: its code does not run on the NVIDIA GB10 here, which is sm_121; choose --target "
            "sm_121a or --on emulator");
}

TEST(Gpu, WithoutOneTheReasonIsTold) {
  if (why_no_gpu().empty()) GTEST_SKIP() << "there is a GPU";
  const std::string reason = why_no_gpu();
  EXPECT_TRUE(reason.starts_with("CUDA driver: ") || reason.starts_with("GPU, ")) << reason;
  EXPECT_EQ(message_of([] { require_architecture("sm_80"); }), reason);
}

}  // namespace
}  // namespace zellige::run
