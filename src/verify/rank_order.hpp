// Proves that ranks which exchange tiles through windows and flags read what was published for them: the scope `system` of the
// verifier. The acts of the blocks of one number, on all ranks and over several launches, are ordered by vector clocks.
//
//   const std::vector<std::vector<RankAct>> acts = acts_of_exchanges(/*ranks=*/2, /*launches=*/4);
//   fault_in(acts)      // "": no order of execution has a race, a deadlock, or a load of another launch's tile
//
// A flag counts launches, and a wait ends at its value or a later one. So it makes sure of no more than the first store of such a
// value: what the rank that stored it had done before is then done, if the store releases and the wait acquires at the scope of the
// system. Flags never fall, so ranks that run as far as they can either all end, or are deadlocked in every order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace zellige::verify {

/// What a rank's block does with memory that ranks share. Numbers of launches begin at 1.
struct RankAct {
  enum Kind : std::uint8_t {
    publish,  // stores the tile of launch `value` at place `place` of the window of rank `of`
    read,     // reads there the tile of launch `value`
    set,      // stores `value` in flag `place` of this rank on rank `of`
    wait,     // waits until flag `place` of rank `of` on this rank is `value` or more
    begin,    // a block begins launch `value`: all blocks of its rank have ended the launch before
    end,      // it ends launch `value`
  } kind{};
  int of = 0, value = 0;
  int place =
      0;  // a half of a window, or the totals or rows of a rank; of flags: the first or the second, or the part of rows
  bool ordered = true;  // set: releases; wait: acquires
};

/// How ranks make sure that nothing is overwritten that others may read (kernel::SymmetricExchange): by two halves of a window
/// in turn; by the wait for the totals of all; or by a flag that readers set, for which the next launch waits.
enum class ExchangeOrder : std::uint8_t { two_halves, two_shots, readers_awaited };

/// Returns the acts of kernels in which ranks exchange tiles (block/symmetric.hpp), by rank.
std::vector<std::vector<RankAct>> acts_of_exchanges(int ranks, int launches, ExchangeOrder = ExchangeOrder::two_halves);

/// How many blocks of each rank acts_of_gathers() has.
int blocks_of_gather(int ranks);

/// Returns the acts of a kernel that gathers rows, by block: those of rank 0 in the order of their numbers, then those of rank 1, and so on.
/// On each rank two blocks store a part each of its rows in the windows of the others, and a later block reads the rows of each other rank.
std::vector<std::vector<RankAct>> acts_of_gathers(int ranks, int launches);

/// Returns the first fault in some order of execution, as a sentence; "" if there is none. `blocks`: of each rank. Several begin in the order of
/// their numbers, and a rank may run one at a time only.
std::string fault_in(const std::vector<std::vector<RankAct>>& acts, int blocks = 1);

}  // namespace zellige::verify
