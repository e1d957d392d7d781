#include "run/driver_table.hpp"

#include "graph/error.hpp"
#include "run/gpu_fault.hpp"

namespace zellige::run {

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

void check(int status, const std::string& doing) {
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

}  // namespace zellige::run
