// Lets forked processes report to their parent what they are doing, as a short string per process in shared memory.
//
//   ProcessPhases phases(4);                      // before the fork; 4: number of processes
//   phases.say(2, "compiling");            // in the process that has slot 2
//   phases.at(2)                           // in the parent: "compiling"
#pragma once
#include <string>

namespace zellige::run {

/// Shared memory with a short string per process. Create it before the processes are forked.
class ProcessPhases {
 public:
  explicit ProcessPhases(int slots);
  ~ProcessPhases();
  ProcessPhases(const ProcessPhases&) = delete;

  /// Sets the string of a process's slot, truncated to 123 bytes. Only one process may write to a slot at a time.
  void say(int slot, const std::string& text);
  /// Returns the string of a slot; "" while it is being written.
  std::string at(int slot) const;

 private:
  struct Slot;
  Slot* slots_;
  int count_;
};

}  // namespace zellige::run
