// Identifiers of the things that lines of a source name: tensors, channels, agents.
#pragma once
#include <string>
#include <vector>

namespace zellige::ir {

/// Identifiers, by index of what they name. `what` is the word of it in messages.
struct Ids {
  std::string what;
  std::vector<std::string> list;
};

/// Returns an identifier for each name, all different: a tensor's begins with `letter` and has the form of emit::Names.
/// With letter 0, a name that is an identifier stays as it is.
std::vector<std::string> identifiers(const std::vector<std::string>& names, char letter);

/// Returns the shortest decimal number that is read as `value`; inf, -inf or nan if it is none.
std::string number_text(double value);

/// Returns the string in quotes, with \" \\ and \xHH for characters that need an escape.
std::string quoted(const std::string& text);

}  // namespace zellige::ir
