// Random edits of the source of a program, as a hand would make them: a line or a word is lost, two are exchanged, a
// number, a layout or a claim is another one. An edit keeps the form of its line where it can, so that many get through
// the grammar to the proof.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "rng.hpp"

namespace zellige::ir_edits {

using random_graphs::Rng;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text);
std::string joined(const Lines&);

/// A kind of edit.
struct Kind {
  const char* name;
  bool (*edit)(Lines&, Rng&);  // returns whether it has changed the lines
};
const std::vector<Kind>& kinds();

/// An edited source, and the names of the edits.
struct Edited {
  std::string text, what;
};
/// Which lines are edited.
enum class Part : std::uint8_t { all, tile };  // `tile`: those of one kernel's tile program
/// Returns the source with one edit or, seldom, two or three, which the seed decides.
Edited edited(const std::string& text, std::uint64_t seed, Part = Part::all);

}  // namespace zellige::ir_edits
