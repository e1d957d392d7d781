// Prints the result of comparing two graphs (equal.hpp): as text, and as JSON. The parameters `a` and `b` are
// the names of the graphs.
#pragma once
#include "search/equal.hpp"

namespace zellige::search {

/// Returns one line with the answer, then lines with how it was found and, for a difference, the
/// counterexample.
std::string describe(const Equality&, const std::string& a, const std::string& b);
/// Returns the result as one line of JSON.
std::string to_json(const Equality&, const std::string& a, const std::string& b);
/// Returns one line of JSON for two graphs that cannot be compared: their names and the error.
std::string to_json(const std::string& error, const std::string& a, const std::string& b);
/// Returns the complete counterexample as JSON: both graphs at its sizes, every input value, and the element
/// that differs with its value in each graph.
std::string to_json(const Counterexample&);

}  // namespace zellige::search
