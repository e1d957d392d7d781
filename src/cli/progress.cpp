#include "cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "cli/terminal.hpp"

namespace zellige::cli {

ProgressLine::ProgressLine() : terminal_(::isatty(2)), start_(Clock::now()), next_(start_ + std::chrono::seconds(2)) {}

void ProgressLine::show(int done, int started, const std::string& text) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  std::string line = fmt::format("[{}/{}] {}:{:02}  {}", done, started, seconds / 60, seconds % 60, text);
  if (terminal_) {
    if (line.size() > 100) line = line.substr(0, 97) + "...";
    fmt::print(stderr, "\r\033[K");
    say(stderr, "{}", line);
    shown_ = true;
  } else {
    say(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

rewrite::Watch watch(ProgressLine& progress, const std::string& graph) {
  return [&progress, graph](const rewrite::Progress& p) {
    progress.show(static_cast<int>(p.done), static_cast<int>(p.of), fmt::format("{}: {}", graph, p.phase));
    return true;
  };
}

}  // namespace zellige::cli
