// Decides whether two graphs compute the same function over the real numbers; rounding is ignored.
//
//   Equality e = equal(A, B);
//   if (e.answer == Answer::different) fmt::print("{}\n", describe(e, "A", "B"));
//
// "Equal" is proved, or holds in random finite fields with an error probability of at most 2^-40. "Different"
// comes with inputs at which the float64 reference shows the difference. Everything else is "undecided", with
// the reason. docs/explanation/equivalence.md defines equality and how sure an answer is.
#pragma once
#include "reference/array.hpp"

namespace zellige::search {

enum class Answer : std::uint8_t { equal, different, undecided };
/// Returns the answer as a string: "equal", "different" or "undecided".
std::string_view name(Answer);

/// Limits and options of a comparison. Work is in multiplications.
struct EqualOptions {
  std::optional<std::uint64_t> seed{};  // of primes and inputs; nullopt: a random seed
  int trials = 1;                       // minimum number of fields that must agree; more if 2^-40 requires more
  bool given_sizes = true;              // false: only small sizes are evaluated
  double given_work = 2e9;              // limit at the given sizes
  double real_work = 3e5;               // limit per point over the real numbers
  double field_work = 2.5e7;            // limit per finite field at small sizes
};

/// A tensor of a counterexample, with its values as strings.
struct Shown {
  std::string name;
  graph::Shape shape;
  std::vector<std::string> values;  // row-major
};

/// An element of an output that differs between two graphs, and the inputs at which it does.
struct Counterexample {
  graph::KernelGraph a, b;    // at the sizes of the counterexample
  std::vector<Shown> inputs;  // named as in A; empty if too many to show
  std::string numbers;        // "real numbers" or "float64"
  std::string output;         // name of the output, in graph a
  graph::Shape element;       // coordinates of the element in the output
  std::string in_a, in_b;     // value of the element in each graph
  double distance = 0;        // relative distance of the two values
};

/// The result of comparing two graphs, and how it was found.
struct Equality {
  Answer answer = Answer::undecided;
  std::string why;     // the reason for the answer, in a sentence
  std::string method;  // "structure", "field", "real" or "float64"; empty if undecided
  // If equal in finite fields: log2 of the largest probability of an error. nullopt: proved.
  std::optional<double> log2_chance;
  // Whether log2_chance is proved. Else it assumes that exponentials and unknown functions over a finite field
  // are distributed like random numbers.
  bool chance_proved = false;
  int fields = 0;            // number of finite fields in which every element agreed
  std::uint64_t seed = 0;    // with EqualOptions::seed, gives the same answer
  std::vector<Shown> sizes;  // inputs with the shapes at which it was decided; without values
  // Whether inputs are paired by name, not by order; whether `sizes` are smaller than the given ones.
  bool by_name = false, shrunk = false;
  // Relative distance of the outputs in float64 at the given sizes; nullopt: not computed.
  std::optional<double> given_distance;
  std::vector<std::string> notes;
  std::optional<Counterexample> counterexample;
  double seconds = 0;
};

/// Returns the values of all inputs as strings, or an empty list if there are more than 4096 values.
std::vector<Shown> shown(const graph::KernelGraph&, const std::vector<reference::Array>& inputs);

/// Compares two valid graphs, at small sizes and if possible at the given sizes; graphs with sizes that are known at launch as
/// equal_sized() does. Throws Error if the graphs
/// differ in the number or shapes of inputs or outputs.
Equality equal(const graph::KernelGraph& a, const graph::KernelGraph& b, const EqualOptions& = {});

}  // namespace zellige::search
