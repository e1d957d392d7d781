// One line on stderr that tells how far a run is that takes longer than two seconds: overwritten in place on a terminal, printed
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

  /// Shows "[done/started] elapsed text" if it is time to.
  void show(int done, int started, const std::string& text);
  /// Takes the line off a terminal, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_ = false;
  Clock::time_point start_, next_;
};

/// Shows how far a graph's fusion is, and lets it go on. The progress must live as long.
fuse::Watch watch(Progress&, const std::string& graph);

/// "0:07", "12:34"
std::string clock_time(std::chrono::steady_clock::duration);

}  // namespace zellige::cli
