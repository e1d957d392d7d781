// Reads lines of "op<TAB>arg<TAB>arg..." and answers each with "=result" or "!refusal", newlines as \n.
#include <iostream>

#include "records.hpp"

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> fields(1);
    for (char c : line) {
      if (c == '\t')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    std::string const op = fields[0];
    fields.erase(fields.begin());
    std::string answer;
    try {
      answer = "=" + conformance::evaluate_record(op, fields);
    } catch (std::exception const& e) {
      answer = std::string("!") + e.what();
    }
    for (char c : answer) {
      if (c == '\n')
        std::cout << "\\n";
      else if (c == '\\')
        std::cout << "\\\\";
      else
        std::cout << c;
    }
    std::cout << '\n' << std::flush;
  }
}
