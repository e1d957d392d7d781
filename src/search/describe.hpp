// Formats the result of comparing two graphs (equal.hpp), named `a` and `b`, as text or as JSON.
#pragma once
#include "search/equal.hpp"

namespace zellige::search {

/// Returns the result as a string: a line with the answer, lines that say how it was found and, if the graphs
/// differ, the counterexample.
std::string describe(const Equality&, const std::string& a, const std::string& b);
/// Returns the result as one line of JSON.
std::string to_json(const Equality&, const std::string& a, const std::string& b);
/// Returns one line of JSON that says why the graphs `a` and `b` cannot be compared: `error`.
std::string to_json(const std::string& error, const std::string& a, const std::string& b);
/// Returns the complete counterexample as JSON: both graphs at its sizes, every input value, and the element
/// that differs with its value in each graph.
std::string to_json(const Counterexample&);

}  // namespace zellige::search
