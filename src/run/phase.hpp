// Shows what each of several forked processes is doing, through memory shared with their parent.
//
//   Phases phases(4);                      // before the fork
//   phases.say(2, "compiling");            // in the process that has slot 2
//   phases.at(2)                           // in the parent
#pragma once
#include <string>

namespace zellige::run {

class Phases {
 public:
  explicit Phases(int slots);
  ~Phases();
  Phases(const Phases&) = delete;

  /// Only one process may use a slot at a time; a long string is truncated.
  void say(int slot, const std::string& text);
  std::string at(int slot) const;

 private:
  struct Slot;
  Slot* slots_;
  int count_;
};

}  // namespace zellige::run
