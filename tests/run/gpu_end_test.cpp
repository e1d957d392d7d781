// Kernels that break the context of their process. No test of this program uses the GPU in the process
// itself: a child forked from one that did cannot use it.
#include "failing.hpp"
#include "folder.hpp"
#include "kernel.hpp"
#include "run/driver.hpp"
#include "run/gpu.hpp"
#include "run/run.hpp"
#include "system/process.hpp"

namespace zellige::run {
namespace {

/// The end of a program with these lines in its second kernel, in a separate process, whose context ends with
/// it.
std::string end_of(const std::string& lines) {
  std::string message;
  system::run_jobs(
      1, 1,
      [&](int) {
        const Folder folder;
        emit::EmittedProgram p = hand_written();
        p.source = changed(p.source, "  tile[threadIdx.x] = s[i];\n", lines + "  tile[threadIdx.x] = s[i];\n");
        std::vector<Bytes> storage;
        for (const manifest::TensorPlace& t : p.manifest.tensors)
          storage.push_back(t.role == manifest::Role::input ? pack(t, hand_input()) : poisoned(t));
        const toolchain::Cubin cubin =
            toolchain::compile_cubin(p.source, architecture_for(p.manifest.target), toolchain::Cache(folder.path));
        try {
          run_on_gpu(p.manifest, cubin, storage);
        } catch (const Fault& e) {
          return std::string(e.what());
        }
        return std::string("no fault");
      },
      [&](int, const system::JobEnd& end) { message = end.crash + end.result; });
  return message;
}

TEST(Gpu, AFaultNamesItsProgramAndKernelAndWhatToDo) {
  if (const GpuFound found = find_gpu(); !found.why_not.empty()) GTEST_SKIP() << found.why_not;
  const std::string end =
      ", and this process's GPU context is gone with it; restart the process, and please report this with "
      "the graph and its "
      "kernels, which `zellige run GRAPH --dump FOLDER` writes (in Python, program.graph is the graph)";
  EXPECT_EQ(end_of("  *reinterpret_cast<volatile int*>(8) = 1;\n"),
            "program hand, kernel reverse: ended in an access to an illegal address on the GPU "
            "(CUDA_ERROR_ILLEGAL_ADDRESS)" +
                end);
  EXPECT_EQ(end_of("  asm volatile(\"trap;\");\n"),
            "program hand, kernel reverse: ended in an exception on the GPU (CUDA_ERROR_LAUNCH_FAILED)" + end);
  EXPECT_EQ(end_of("  *reinterpret_cast<volatile int*>(reinterpret_cast<char*>(&Y[0]) + 1) = 1;\n"),
            "program hand, kernel reverse: ended in an access to a misaligned address on the GPU "
            "(CUDA_ERROR_MISALIGNED_ADDRESS)" +
                end);
}

}  // namespace
}  // namespace zellige::run
