// Tensor memory of a block: 128 lanes of 512 columns of 32 bits; which columns are allocated, what they hold, and which
// tcgen05 instructions have accessed them.
//
// Every instruction is an operation of a source: the tcgen05.mma and cp of a thread, the tcgen05.ld of a warp, or its st. A
// source's operations are in groups, which a commit or a wait ends; the vector clocks have an agent for each source, whose time
// is one more than the last group that is complete. So a thread knows that an operation is over if it has observed a later time.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "emulate/fiber.hpp"
#include "shadow/clock.hpp"

namespace zellige::emulate {

/// What issues operations on tensor memory, and completes them in groups.
struct TensorSource {
  std::uint32_t agent = 0;   // of the clocks: completion
  std::uint32_t fenced = 0;  // of the clocks: completion, and a fence before_thread_sync after it
  std::uint32_t groups = 0;  // that a commit or a wait has ended
};

/// A tcgen05 instruction that accesses tensor memory.
struct TensorOp {
  enum class Kind : std::uint8_t { mma, load, store, copy };
  Kind kind{};
  std::uint8_t ctas = 1;
  std::uint16_t thread = 0;  // the issuing thread, within the cluster; of a warp, its first one
  std::uint32_t site = 0;    // low half of the return address
  std::uint32_t issued = 0;  // time of the thread's warp
  std::uint32_t group = 0;
  const TensorSource* source = nullptr;

  /// Whether a thread's operations of this kind are executed in their order, and complete by a commit.
  static bool in_order(Kind kind) { return kind == Kind::mma || kind == Kind::copy; }
};

/// The tensor memory of one block.
class TensorMemory {
 public:
  static constexpr unsigned lanes = 128, columns = 512, lanes_of_cell = 16;

  /// An allocation, by the warp that made it.
  struct Allocation {
    unsigned first = 0, count = 0;
    unsigned ctas = 1;
    std::uint16_t thread = 0;  // the warp's first thread, within the cluster
    std::uint32_t epoch = 0;   // time of its warp
    Site site{};
  };
  /// What is accessed: some cells of 16 lanes, of some columns.
  struct Part {
    unsigned cells;  // mask of the 8 cells of a column
    unsigned first, count;
  };
  /// An access that is checked: the thread with its clock, the operation, and what the thread does, for messages.
  struct Access {
    Fiber& f;
    Site site;
    const shadow::Actor& a;
    const TensorOp& op;
    const char* verb;
    bool whole_warp;  // all lanes of the warp issue it, not one thread
    bool accumulates = false;
  };

  void reset();
  /// Returns the word of a lane and column.
  std::uint32_t& word(unsigned lane, unsigned column) { return words_[lane * columns + column]; }
  bool written(unsigned lane, unsigned column) const { return cells_[lane / lanes_of_cell][column].writer != 0; }
  TensorSource& source(TensorOp::Kind kind, unsigned issuer) { return sources_[{kind, issuer}]; }
  std::map<std::pair<TensorOp::Kind, unsigned>, TensorSource>& sources() { return sources_; }
  const std::vector<Allocation>& allocations() const { return allocations_; }

  /// Returns the first of `count` free columns; `columns` if there are none.
  unsigned find_free(unsigned count) const;
  void allocate(const Allocation&);
  /// Checks that nothing may still access the allocation, and frees its columns. Returns whether there is one of these columns.
  bool free(Fiber&, unsigned first, unsigned count, unsigned ctas, Site);

  /// Check and record that an operation reads, or writes, a part. Return false if the part is not in columns that are
  /// allocated.
  bool read(const Access&, const Part&, bool must_be_written);
  bool write(const Access&, const Part&);
  /// Reports columns that are allocated when the block ends.
  void check_freed(Block&) const;

  bool relinquished = false;        // the permit to allocate
  unsigned ctas = 0;                // of the instructions so far: 1 or 2; 0: none yet
  std::uint32_t warps_waiting = 0;  // in tcgen05.alloc

 private:
  struct Cell {
    std::uint32_t writer = 0, reader[3] = {};  // indices into ops_
  };
  bool allocated(const Access&, const Part&);
  bool admit(const Access&, const Part&);
  std::uint32_t add(const TensorOp&);
  void conflict(const Access&, const Part&, const TensorOp& earlier, bool earlier_writes) const;
  void record_read(Cell&, std::uint32_t op, const shadow::Actor&);

  std::vector<std::uint32_t> words_;
  std::vector<std::vector<Cell>> cells_;  // by cell and column
  std::vector<TensorOp> ops_;             // [0] is unused
  std::vector<Allocation> allocations_;
  struct Freed {
    unsigned first = 0, count = 0;
    std::uintptr_t site = 0;
  };
  std::vector<Freed> freed_;
  std::map<std::pair<TensorOp::Kind, unsigned>, TensorSource> sources_;  // by kind, and thread or warp in the cluster
};

}  // namespace zellige::emulate
