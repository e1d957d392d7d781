// Do two graphs compute the same over the reals, rounding ignored?
//
//   Equality e = equal(A, B);
//   if (e.answer == Answer::different) fmt::print("{}\n", describe(e));
//
// "equal" is proved, or holds in random finite fields, with a chance of error of at most 2^-40; "different" comes with a
// point where the float64 reference sees it; all else is "undecided". docs/explanation/equivalence.md says what counts, and how sure it is.
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
  std::optional<std::uint64_t> seed{};  // of primes and points; without, a random one
  int trials = 1;                       // fields that must agree, at least: more where 2^-40 takes more
  bool given_sizes = true;              // else small sizes alone are looked at
  double given_work = 2e9;              // multiplications at the given sizes, at most
  double real_work = 3e5;               // of one point over the reals
  double field_work = 2.5e7;            // of one field at small sizes
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
  std::string why;     // undecided: why; else what decided, in a sentence
  std::string method;  // structure, field, real, float64
  std::optional<double>
      log2_chance;  // equal by fields: of being wrong, at most 2^this; none where it is proved
  bool chance_proved =
      false;       // else powers of a random number and unknown functions are taken for random numbers
  int fields = 0;  // in which the least tried element agreed
  std::uint64_t seed = 0;    // gives the same answer again
  std::vector<Shown> sizes;  // inputs and the shapes at which it was decided; without values
  bool by_name = false, shrunk = false;
  std::optional<double> given_distance;  // relative, of float64 at the given sizes
  std::vector<std::string> notes;
  std::optional<Counterexample> counterexample;
  double seconds = 0;
};

/// The values of all inputs, or none where they are too many to show.
std::vector<Shown> shown(const graph::KernelGraph&, const std::vector<graph::Array>& inputs);

/// Throws Error if the two have different numbers or shapes of inputs or outputs.
Equality equal(const graph::KernelGraph& a, const graph::KernelGraph& b, const EqualOptions& = {});

}  // namespace zellige::search
