// The table of rewrites of tile programs. A rule changes no bit of what a program computes.
//
//   rewrite(program, target);      // after `lower`, before `select`
//
// Each function applies its rule wherever it can, and returns whether it has changed the program, so that the rules
// before it are tried again. Nodes are renumbered. rules.cpp has the table, with the conditions in words.
#pragma once
#include <span>
#include <string_view>

#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::plan {

using OfProgram = bool(TileProgram&, const target::Target&);
/// A rule of one node: replaces `n`, which is about to be added to the program and whose operands are there already, by
/// a node with the same value. Returns false and changes nothing if the rule does not apply.
using OfNode = bool(TileProgram&, Node& n);

/// A row of the table.
struct TileRule {
  std::string_view name, condition;  // shown in the documentation
  OfProgram* apply;
};

/// Returns all rules, in order: a rule waits until none before it applies anywhere.
std::span<const TileRule> tile_rules();
/// Applies the rules until none applies.
void rewrite(TileProgram&, const target::Target&);

// What the rules do is said where they are defined: in simplify.cpp, precompute_a.cpp and share.cpp.
OfNode cast_twice, mask_of_scaled, max_of_scaled;
OfProgram precompute_a, share;

constexpr int max_coordinates = 16, max_repeats = 24;  // limits of share()

/// For kernels that do not fit shared memory: undoes share() for the largest values that it stored, so that their
/// users recompute them. The nodes (operators) keep their numbers, and unused nodes remain. Returns false if share()
/// has stored no value.
bool unshare(TileProgram&);

}  // namespace zellige::plan
