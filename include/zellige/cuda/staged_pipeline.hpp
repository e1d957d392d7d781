// CUDA's <cuda/pipeline>: pipelines of asynchronous copies, of one thread or of a block's threads with mbarriers by stage.
#pragma once
#include "zellige/cuda/barrier.hpp"

namespace cuda {

enum class pipeline_role { producer, consumer };

/// The mbarriers of a block's pipeline, in shared memory.
template <thread_scope Scope, unsigned char Stages>
struct pipeline_shared_state {
  barrier<Scope> full[Stages], empty[Stages];
};

/// A pipeline of asynchronous copies. That of one thread counts its groups of copies.
template <thread_scope Scope>
class pipeline {
 public:
  ZELLIGE_DEVICE pipeline() = default;
  ZELLIGE_DEVICE pipeline(barrier<Scope>* full, barrier<Scope>* empty, unsigned stages, bool produces, bool consumes)
      : full_(full), empty_(empty), stages_(stages), produces_(produces), consumes_(consumes) {}

  ZELLIGE_DEVICE void producer_acquire() {
    if (full_ && head_ >= stages_) empty_[head_ % stages_].wait_parity(head_ / stages_ - 1 & 1);
  }
  ZELLIGE_DEVICE void producer_commit() {
    if (full_)
      ::zellige::cuda::ptx("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];",
                           {::zellige::cuda::ptx_operand(full_[head_ % stages_].address())});
    else
      ::zellige::cuda::commit_copies();
    ++head_;
  }
  ZELLIGE_DEVICE void consumer_wait() {
    if (full_)
      full_[tail_ % stages_].wait_parity(tail_ / stages_ & 1);
    else if (head_ != tail_)
      ::zellige::cuda::wait_for_copies(head_ - tail_++ - 1);
  }
  ZELLIGE_DEVICE void consumer_release() {
    if (!full_) return;
    empty_[tail_ % stages_].arrive();
    ++tail_;
  }
  ZELLIGE_DEVICE void quit() {}
  ZELLIGE_DEVICE bool has_producers() const { return produces_; }
  ZELLIGE_DEVICE bool has_consumers() const { return consumes_; }

 private:
  barrier<Scope>*full_ = nullptr, *empty_ = nullptr;
  unsigned stages_ = 0, head_ = 0, tail_ = 0;
  bool produces_ = true, consumes_ = true;
};
ZELLIGE_DEVICE pipeline<thread_scope_thread> make_pipeline() { return {}; }

/// Makes the pipeline of a group. `producers`: how many of its threads copy, and `consumers` read.
template <class Group, thread_scope Scope, unsigned char Stages>
ZELLIGE_DEVICE pipeline<Scope> make_pipeline_of(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                                unsigned producers, unsigned consumers, bool produces, bool consumes) {
  if (group.thread_rank() == 0)
    for (unsigned i = 0; i < Stages; ++i) {
      init(&state->full[i], producers);
      init(&state->empty[i], consumers);
    }
  group.sync();
  return {state->full, state->empty, Stages, produces, consumes};
}
template <class Group, thread_scope Scope, unsigned char Stages>
ZELLIGE_DEVICE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state) {
  return make_pipeline_of(group, state, group.size(), group.size(), true, true);
}
/// The first `producers` threads of the group copy, the others read.
template <class Group, thread_scope Scope, unsigned char Stages>
ZELLIGE_DEVICE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                             std::size_t producers) {
  const bool produces = group.thread_rank() < producers;
  return make_pipeline_of(group, state, unsigned(producers), unsigned(group.size() - producers), produces, !produces);
}
template <class Group, thread_scope Scope, unsigned char Stages>
ZELLIGE_DEVICE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                             pipeline_role role) {
  const bool produces = role == pipeline_role::producer;
  const unsigned producers = unsigned(__syncthreads_count(produces));
  return make_pipeline_of(group, state, producers, unsigned(group.size()) - producers, produces, !produces);
}

/// Waits until all but the newest N stages of a thread's pipeline are copied.
template <unsigned char N>
ZELLIGE_DEVICE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {
  ::zellige::cuda::wait_for_copies(N);
}

template <class Group, class Size, thread_scope Scope>
ZELLIGE_DEVICE void memcpy_async(const Group& group, void* to, const void* from, Size bytes, pipeline<Scope>&) {
  ::zellige::cuda::copy_by_group(to, from, bytes, group.thread_rank(), group.size());
}
template <class Size, thread_scope Scope>
ZELLIGE_DEVICE void memcpy_async(void* to, const void* from, Size bytes, pipeline<Scope>&) {
  ::zellige::cuda::copy_by_group(to, from, bytes, 0, 1);
}

}  // namespace cuda
