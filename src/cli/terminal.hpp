// Escapes control characters in the messages that the command prints for people, so that no name of a file or
// graph in a message can move the cursor, change colours, ring the bell or begin a line. Prints progress on stderr for runs
// longer than two seconds: on a terminal as one line that is overwritten in place, in a file or pipe as a new line every
// ten seconds.
#pragma once
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "kernel/rejections.hpp"
#include "rewrite/watch.hpp"
#include "strings/shown.hpp"

namespace zellige::cli {

/// Stores the words of the command line, which messages may quote. After that, printed() also escapes
/// newlines inside these words.
void know_words(int argc, const char* const* argv);

/// Returns a message with control characters escaped. Newlines and tabs are kept, except inside a word of the
/// command line.
std::string printed(std::string message);

/// Formats a message, escapes it with printed(), and prints it.
template <class... Args>
void say(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(to, "{}", printed(fmt::format(format, std::forward<Args>(args)...)));
}

/// Prints a line on stderr about the plans of the graph named `graph` that the verifier rejected during a search.
/// Prints nothing if it rejected none.
void tell(const std::string& graph, const kernel::Rejections&);

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
