// What each of several processes is doing, in memory that they share with the one that forked them.
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

  /// One process a slot at a time; a long text is cut.
  void say(int slot, const std::string& text);
  std::string at(int slot) const;

 private:
  struct Slot;
  Slot* slots_;
  int count_;
};

}  // namespace zellige::run
