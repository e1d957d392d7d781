// A progress line on stderr for runs longer than two seconds: overwritten in place on a terminal, printed
// every ten seconds elsewhere.
#pragma once
#include <chrono>
#include <string>

#include "fuse/watch.hpp"

namespace zellige::cli {

class Progress {
 public:
  Progress();
  ~Progress() { clear(); }

  /// Shows "[done/started] elapsed text" if it is due.
  void show(int done, int started, const std::string& text);
  /// Removes the line from a terminal, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_ = false;
  Clock::time_point start_, next_;
};

/// Shows the progress of a graph's fusion without interrupting it. The Progress must outlive the result.
fuse::Watch watch(Progress&, const std::string& graph);

/// "0:07", "12:34"
std::string clock_time(std::chrono::steady_clock::duration);

}  // namespace zellige::cli
