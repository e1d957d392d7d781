#include "emit/names.hpp"

#include "plan/identifier.hpp"

namespace zellige::emit {

const std::string& Names::stem(const std::string& name) {
  const auto [at, fresh] = stem_.try_emplace(name);
  if (!fresh) return at->second;
  const std::string base = plan::identifier(name);
  std::string stem = base.empty() ? "t" : base;
  for (int& number = next_.try_emplace(stem, 2).first->second; !taken_.insert(stem).second; ++number)
    stem = (base.empty() ? "t" : base) + "_" + std::to_string(number);
  return at->second = stem;
}

std::string Names::form(char letter, const std::string& name) {
  const std::string& of = stem(name);
  const bool capital = of[0] >= 'A' && of[0] <= 'Z';
  return std::string(1, letter) + (capital ? "" : "_") + of;
}

std::string printable(const std::string& name) {
  std::string text = name;
  for (char& c : text)
    if (c < ' ' || c > '~' || c == '"' || c == '\\') c = '?';
  return text;
}

}  // namespace zellige::emit
