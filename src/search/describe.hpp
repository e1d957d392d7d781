// Prints an answer for readers, and as a line of JSON.
#pragma once
#include "search/equal.hpp"

namespace zellige::search {

/// One line with the answer, then how it was found and, for a difference, the counterexample.
std::string describe(const Equality&, const std::string& a, const std::string& b);
std::string to_json(const Equality&, const std::string& a, const std::string& b);
/// The complete counterexample: both graphs at its sizes, every input value, the element and its value in
/// each graph. Below: for two graphs that cannot be compared.
std::string to_json(const std::string& error, const std::string& a, const std::string& b);
std::string to_json(const Counterexample&);

}  // namespace zellige::search
