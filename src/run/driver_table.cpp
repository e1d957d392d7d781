#include "run/driver_table.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "graph/error.hpp"

namespace zellige::run {
namespace {

// The CUresults that report the failure of a kernel, in words.
constexpr std::pair<int, std::string_view> ends[] = {
    {700, "an access to an illegal address"},
    {702, "a launch that took longer than this GPU allows"},
    {710, "a failed assertion"},
    {714, "an error of the call stack"},
    {715, "an illegal instruction"},
    {716, "an access to a misaligned address"},
    {717, "an access to an address of another memory"},
    {718, "an invalid program counter"},
    {719, "an exception"},
};

// The kernel launches since the last synchronization.
struct {
  std::mutex mutex;
  std::string program, kernel;  // of the last launch
  long since_wait = 0;
} launches;

}  // namespace

const Driver& driver() {
  static const Driver table = [] {
    Driver d;
    if (const int status = d.init(0)) {
      const char* words = "unknown error";
      d.error_string(status, &words);
      fail("CUDA driver: cannot start: {}", words);
    }
    return d;
  }();
  return table;
}

void check(int status, std::string_view doing) {
  if (status == 0) return;
  const char *name = "unknown", *words = "unknown error";
  driver().error_name(status, &name);
  driver().error_string(status, &words);
  if (breaks_context(status)) throw Fault(context_is_gone(status, name));
  const std::string text = fmt::format("GPU, {}: {} ({})", doing, words, name);
  // Error of an invalid module (200, 218) or of a kernel (700 to 719): Zellige's own fault.
  const bool ours = status == 200 || status == 218 || (status >= 700 && status <= 719);
  if (ours) throw Fault(text);
  throw Error(text);
}

void record_launch(std::string_view program, std::string_view kernel) {
  const std::lock_guard lock(launches.mutex);
  launches.program = program, launches.kernel = kernel;
  ++launches.since_wait;
}

void record_wait() {
  const std::lock_guard lock(launches.mutex);
  launches.since_wait = 0;
}

bool breaks_context(int status) {
  return std::ranges::any_of(ends, [&](const auto& end) { return end.first == status; });
}

std::string context_is_gone(int status, std::string_view name) {
  const auto end = std::ranges::find_if(ends, [&](const auto& known) { return known.first == status; });
  const std::string_view words = end == std::end(ends) ? "an error" : end->second;
  const std::lock_guard lock(launches.mutex);
  if (launches.since_wait == 0)
    return fmt::format(
        "GPU: a kernel of this process that Zellige did not launch ended in {} ({}), and the process's GPU context is "
        "gone with it; restart the process",
        words, name);
  std::string who = fmt::format("program {}, kernel {}", launches.program, launches.kernel), how;
  if (launches.since_wait == 2) who += " or the one launched before it";
  if (launches.since_wait > 2) who += fmt::format(" or one of the {} launched before it", launches.since_wait - 1);
  if (launches.since_wait > 1) how = " (with CUDA_LAUNCH_BLOCKING=1 the message names the kernel)";
  return fmt::format(
      "{}: ended in {} on the GPU ({}), and this process's GPU context is gone with it; restart the process{}, and "
      "please report this with the graph and its kernels, which `zellige run GRAPH --dump FOLDER` writes (in Python, "
      "program.graph is the graph)",
      who, words, name, how);
}

}  // namespace zellige::run
