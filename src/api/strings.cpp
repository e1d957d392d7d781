#include "api/strings.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "api/guard.hpp"
#include "graph/error.hpp"

namespace zellige::api {
namespace {

/// The strings given to callers that are not freed yet. Thread-safe.
class LiveTexts {
 public:
  char* add(std::unique_ptr<char[]> text) {
    char* const at = text.get();
    const std::lock_guard lock(mutex_);
    texts_.emplace(at, std::move(text));
    return at;
  }
  void remove(const char* at) {
    const std::lock_guard lock(mutex_);
    if (texts_.erase(at) == 0)
      fail("text: expected one that a function of Zellige gave, found {}, which is none or was freed",
           static_cast<const void*>(at));
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const char*, std::unique_ptr<char[]>> texts_;
};

/// Returns the process's table of strings that callers have not freed. It is never destroyed, because strings
/// may be freed during process exit.
LiveTexts& live() {
  static LiveTexts& forever = *new LiveTexts;
  return forever;
}

}  // namespace

char* text_copy(const std::string& text) {
  auto copy = std::make_unique<char[]>(text.size() + 1);
  std::memcpy(copy.get(), text.c_str(), text.size() + 1);
  return live().add(std::move(copy));
}

}  // namespace zellige::api

void zellige_text_free(char* text) {
  using namespace zellige::api;
  if (text) guarded([&] { live().remove(text); });
}
