// Decides whether two graphs compute the same function over the reals, ignoring rounding.
//
//   Equality e = equal(A, B);
//   if (e.answer == Answer::different) fmt::print("{}\n", describe(e));
//
// "equal" is proved, or holds in random finite fields with an error probability of at most 2^-40; "different"
// comes with a point at which the float64 reference sees the difference; everything else is "undecided".
// docs/explanation/equivalence.md defines equality and its certainty.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/array.hpp"

namespace zellige::search {

enum class Answer : std::uint8_t { equal, different, undecided };
std::string_view name(Answer);

struct EqualOptions {
  std::optional<std::uint64_t> seed{};  // of primes and points; if absent, a random one
  int trials = 1;             // minimum number of fields that must agree; more if 2^-40 requires more
  bool given_sizes = true;    // false: only small sizes are evaluated
  double given_work = 2e9;    // maximum number of multiplications at the given sizes
  double real_work = 3e5;     // per point over the reals
  double field_work = 2.5e7;  // per field at small sizes
};

/// One tensor's values, as a counterexample shows them.
struct Shown {
  std::string name;
  graph::Shape shape;
  std::vector<std::string> values;  // row-major
};

struct Counterexample {
  graph::KernelGraph a, b;    // at the sizes of the counterexample
  std::vector<Shown> inputs;  // named as in A; empty if too many to show
  std::string numbers;        // kind of the values: real numbers, or numbers modulo a prime
  std::string output;         // of A
  graph::Shape element;       // coordinates
  std::string in_a, in_b;
  double distance = 0;  // relative; 1 or so over a field
};

struct Equality {
  Answer answer = Answer::undecided;
  std::string why;                    // undecided: the reason; else what decided, in a sentence
  std::string method;                 // structure, field, real, float64
  std::optional<double> log2_chance;  // equal by fields: log2 of the error probability; absent if proved
  // otherwise powers of a random number and unknown functions are assumed to be random numbers
  bool chance_proved = false;
  int fields = 0;            // number in which the least tried element agreed
  std::uint64_t seed = 0;    // reproduces the answer
  std::vector<Shown> sizes;  // inputs with the shapes at which it was decided; without values
  bool by_name = false, shrunk = false;
  std::optional<double> given_distance;  // relative, of float64 at the given sizes
  std::vector<std::string> notes;
  std::optional<Counterexample> counterexample;
  double seconds = 0;
};

/// The values of all inputs, or none if they are too many to show.
std::vector<Shown> shown(const graph::KernelGraph&, const std::vector<graph::Array>& inputs);

/// Throws Error if the two have different numbers or shapes of inputs or outputs.
Equality equal(const graph::KernelGraph& a, const graph::KernelGraph& b, const EqualOptions& = {});

}  // namespace zellige::search
