// Refuses calls in a process that was forked while a thread was in a call: locks that this thread held are never
// released in the child, so that a call could wait for ever.
//
//   const InCall call;   // at the start of each call; throws Error in such a process
#pragma once

namespace zellige::api {

/// Counts a call of the library, from its construction to its destruction.
class InCall {
 public:
  InCall();
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
};

}  // namespace zellige::api
