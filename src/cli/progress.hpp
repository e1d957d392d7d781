// Prints progress on stderr for runs longer than two seconds: on a terminal as one line that is overwritten in
// place, in a file or pipe as a new line every ten seconds.
#pragma once
#include <chrono>
#include <string>

#include "rewrite/watch.hpp"

namespace zellige::cli {

/// The progress line of one run; removed on destruction.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }

  /// Shows the progress as one line: "[done/started] elapsed text". Does nothing if too little time has
  /// passed since the last line.
  void show(int done, int started, const std::string& text);
  /// Removes the line from a terminal, so that other output can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_ = false;
  Clock::time_point start_, next_;
};

/// Returns a callback for the search for operators to fuse. The callback shows the search's progress and
/// never stops the search. The Progress must outlive the callback. `graph`: the name that is shown.
rewrite::Watch watch(ProgressLine&, const std::string& graph);

}  // namespace zellige::cli
