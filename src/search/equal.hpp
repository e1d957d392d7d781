// Do two graphs compute the same over the reals, rounding ignored?
//
//   Equality e = equal(A, B);
//   if (e.answer == Answer::different) fmt::print("{}\n", describe(e));
//
// Both are evaluated at sizes as small as their structure allows: over real numbers with a proved error,
// where values that do not meet prove a difference, and over random finite fields, where agreement is luck
// with a chance that is known. What came out equal is checked once more in float64 at the sizes given.
// docs/equal.md says how sure each answer is.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::search {

enum class Answer : std::uint8_t { equal, different, undecided };
std::string_view name(Answer);

struct EqualOptions {
  std::uint64_t seed = 1;
  int trials = 4;           // fields that must agree, for each element
  bool given_sizes = true;  // check what came out equal at the given sizes, too
  double given_work = 2e9;  // multiplications at the given sizes, at most
  double real_work = 1e6;   // of one point over the reals
  double field_work = 2e7;  // of one field
};

/// One tensor's values, as a counterexample shows them.
struct Shown {
  std::string name;
  graph::Shape shape;
  std::vector<std::string> values;  // row-major
};

struct Counterexample {
  graph::KernelGraph a, b;    // at the sizes of the counterexample
  std::vector<Shown> inputs;  // named as in A; none where they are too many to show
  std::string numbers;        // what the values are: real numbers, or numbers modulo a prime
  std::string output;         // of A
  graph::Shape element;       // coordinates
  std::string in_a, in_b;
  double distance = 0;  // relative; 1 or so over a field
};

struct Equality {
  Answer answer = Answer::undecided;
  std::string why;             // undecided: why; else what decided, in a sentence
  std::string method;          // field, real, float64
  double log2_chance = 0;      // equal by fields: of being wrong, at most 2^this
  bool chance_proved = false;  // else exponentials, roots and unknown functions are taken for random numbers
  int fields = 0, points = 0;  // trials that agreed, for the least tried element
  std::vector<Shown> sizes;    // inputs and the shapes at which it was decided; without values
  bool by_name = false, shrunk = false;
  std::optional<double> given_distance;  // relative, of float64 at the given sizes
  std::vector<std::string> notes;
  std::optional<Counterexample> counterexample;
  double seconds = 0;
};

/// Throws Error if the two have different numbers or shapes of inputs or outputs.
Equality equal(const graph::KernelGraph& a, const graph::KernelGraph& b, const EqualOptions& = {});

}  // namespace zellige::search
