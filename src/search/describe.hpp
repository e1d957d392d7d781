// An answer as people read it, and as a line of JSON.
#pragma once
#include "search/equal.hpp"

namespace zellige::search {

/// A line with the answer, and below it how it was found and, for a difference, the counterexample.
std::string describe(const Equality&, const std::string& a, const std::string& b);
std::string to_json(const Equality&, const std::string& a, const std::string& b);
/// The counterexample whole: both graphs at its sizes, every input value, the element and what each graph has
/// there.
/// Of two that cannot be compared.
std::string to_json(const std::string& error, const std::string& a, const std::string& b);
std::string to_json(const Counterexample&);

}  // namespace zellige::search
