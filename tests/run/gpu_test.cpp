#include "run/gpu.hpp"

#include "failing.hpp"
#include "folder.hpp"
#include "kernel.hpp"
#include "run/driver.hpp"
#include "run/run.hpp"

namespace zellige::run {
namespace {

TEST(Gpu, HandWrittenProgramRuns) {
  const std::string why_not = why_no_gpu();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  const Folder folder;
  const Cache cache(folder.path);
  emit::Program p = hand_written();
  std::vector<Bytes> storage;
  for (const emit::TensorPlace& t : p.manifest.tensors) {
    storage.push_back(t.role == emit::Role::input ? pack(t, hand_input()) : poisoned(t));
  }
  const Cubin cubin = compile_cubin(p.source, p.manifest.target, cache);
  const GpuRun r = run_on_gpu(p.manifest, cubin, storage, Timing::hot);
  EXPECT_EQ(unpack(p.manifest.tensors[2], storage[2]), hand_output());
  EXPECT_EQ(r.times.samples.size(), 200u);
}

TEST(Gpu, WithoutOneTheReasonIsTold) {
  if (why_no_gpu().empty()) GTEST_SKIP() << "there is a GPU";
  const std::string reason = why_no_gpu();
  EXPECT_TRUE(reason.starts_with("CUDA driver: ") || reason.starts_with("GPU, ")) << reason;
  EXPECT_EQ(message_of([] { require_target("sm_80"); }), reason);
}

}  // namespace
}  // namespace zellige::run
