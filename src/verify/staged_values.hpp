// Proves that what a step reads in a stage of a tensor is the value that it needs: of its own output tile, and of the iteration
// whose tile it multiplies or evaluates. That a stage has been written, verify() proves of the stage; here it is asked which
// execution of which step wrote it last.
//
//   sA[i mod 3] in iteration 4 needs what "copy in A" loaded for iteration 4; two iterations before it ran for 4, a
//   prefetch distance of 2
#pragma once
#include "tile/sections.hpp"
#include "verify/verify_state.hpp"

namespace zellige::verify {

/// The values in the stages of a kernel's tensors. Steps that do no work have none.
class StagedValues {
 public:
  /// `whole` is the kernel of one block, which must outlive the object; `lines` are the events of the flat schedule of all.
  StagedValues(const Kernel& whole, const Kernel& flat);

  /// Throws Rejected unless the last write of the cell of `read` left the value that the read needs.
  void check(const State&, const Touch& write, const Touch& read) const;
  /// Throws Rejected unless the read, of a tensor that a channel fills by TMA, is of the stage that its agent acquired last:
  /// the emitter reads no other.
  void check_acquired(const State&, const Touch& read) const;

 private:
  /// Returns the iteration, less that of the event, whose value a work leaves in shared memory; nullopt: the same in all.
  std::optional<std::int64_t> left(const Step&) const;

  tile::Sections sections_;
  std::vector<int> ring_;  // by tensor of the flat schedule: the channel that fills it by TMA; -1: none
};

}  // namespace zellige::verify
