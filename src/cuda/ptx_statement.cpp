#include "cuda/ptx_statement.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>

namespace zellige::cuda {

namespace {

/// What a statement has that PTX does not allow, or the emulator does not know.
struct PtxRefusal {
  std::string what;
};

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view stripped(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

// Returns the parts of a list between commas that no bracket encloses.
std::vector<std::string_view> list_of(std::string_view s) {
  std::vector<std::string_view> all;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= s.size(); ++i) {
    if (i < s.size() && (s[i] == '[' || s[i] == '{' || s[i] == '(')) ++depth;
    if (i < s.size() && (s[i] == ']' || s[i] == '}' || s[i] == ')')) --depth;
    if (i < s.size() && (s[i] != ',' || depth > 0)) continue;
    if (const std::string_view part = stripped(s.substr(from, i - from)); !part.empty()) all.push_back(part);
    from = i + 1;
  }
  return all;
}

// Returns the source without comments, with blanks for line ends.
std::string without_comments(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size() - 1);
      out += ' ';
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
      out += ' ';
    } else if (text.substr(i, 2) == "%%") {
      out += '%', ++i;
    } else {
      out += is_blank(text[i]) ? ' ' : text[i];
    }
  }
  return out;
}

std::optional<PtxValue> number_of(std::string_view s) {
  PtxValue v;
  v.kind = PtxValue::Kind::number;
  if (s.starts_with("0f") || s.starts_with("0F") || s.starts_with("0d") || s.starts_with("0D")) {
    if (std::from_chars(s.data() + 2, s.data() + s.size(), v.number, 16).ec != std::errc()) return std::nullopt;
    return v;
  }
  const bool minus = s.starts_with("-");
  if (minus || s.starts_with("+")) s.remove_prefix(1);
  if (s.empty() || !is_digit(s[0])) return std::nullopt;
  if (!s.starts_with("0x") && s.find_first_of(".eE") != s.npos) {
    v.kind = PtxValue::Kind::real;
    const double x = std::strtod(std::string(s).c_str(), nullptr);
    v.number = std::bit_cast<std::uint64_t>(minus ? -x : x);
    return v;
  }
  const bool hexadecimal = s.starts_with("0x") || s.starts_with("0X"), binary = s.starts_with("0b");
  const char* const from = s.data() + (hexadecimal || binary ? 2 : 0);
  if (std::from_chars(from, s.data() + s.size(), v.number, hexadecimal ? 16 : binary ? 2 : 10).ec != std::errc())
    return std::nullopt;
  if (minus) v.number = ~v.number + 1;
  return v;
}

/// The parser of one statement.
class PtxParser {
 public:
  explicit PtxParser(PtxStatement& s) : s_(s) { names_.emplace_back(); }

  void parse() {
    const std::string_view text = s_.text;
    for (std::size_t i = 0; i < text.size();) {
      if (is_blank(text[i]) || text[i] == ';') {
        ++i;
      } else if (text[i] == '{') {
        names_.emplace_back();
        ++i;
      } else if (text[i] == '}') {
        if (names_.size() > 1) names_.pop_back();
        ++i;
      } else if (const std::size_t colon = label_end(text, i); colon != text.npos) {
        labels_[std::string(stripped(text.substr(i, colon - i)))] = s_.code.size();
        i = colon + 1;
      } else {
        const std::size_t end = std::min(text.find(';', i), text.size());
        one(stripped(text.substr(i, end - i)));
        i = end;
      }
    }
    for (PtxInstruction& i : s_.code) {
      if (i.label.empty()) continue;
      const auto found = labels_.find(i.label);
      if (found == labels_.end()) throw PtxRefusal{"bra to " + i.label + ", a label that the statement does not have"};
      i.target = found->second;
    }
  }

 private:
  // Returns where the colon of a label is that begins at i; npos if none begins there.
  static std::size_t label_end(std::string_view text, std::size_t i) {
    std::size_t end = i;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' ||
                                 text[end] == '$' || text[end] == '%'))
      ++end;
    const std::size_t name = end;
    while (end < text.size() && text[end] == ' ') ++end;
    return name > i && end < text.size() && text[end] == ':' && text.substr(end, 2) != "::" ? end : text.npos;
  }

  // Reads `.reg .b32 a, r<4>`.
  void declare(std::string_view s) {
    const std::size_t after = s.find(' ', s.find('.', 1));
    if (!s.starts_with(".reg") || after == s.npos)
      throw PtxRefusal{std::string(s.substr(0, s.find(' '))) + " in a statement"};
    for (std::string_view name : list_of(s.substr(after))) {
      const std::size_t angle = name.find('<');
      if (angle == name.npos) {
        names_.back()[std::string(name)] = s_.variables++;
        continue;
      }
      const int count = std::atoi(std::string(name.substr(angle + 1)).c_str());
      for (int k = 0; k < count; ++k)
        names_.back()[std::string(stripped(name.substr(0, angle))) + std::to_string(k)] = s_.variables++;
    }
  }

  void one(std::string_view s) {
    if (s.starts_with(".")) return declare(s);
    PtxInstruction& i = s_.code.emplace_back();
    if (s.starts_with("@")) {
      s = stripped(s.substr(1));
      const std::size_t end = s.find(' ', s.starts_with("!") ? s.find_first_not_of("! ") : 0);
      if (end == s.npos) throw PtxRefusal{"a predicate without an instruction"};
      i.guard = value(s.substr(0, end));
      s = stripped(s.substr(end));
    }
    const std::size_t end = std::min(s.find_first_of(" [{"), s.size());
    const std::string_view name = s.substr(0, end), operands = s.substr(end);
    i.name = name;
    for (std::size_t at = 0; at <= name.size();) {
      const std::size_t point = std::min(name.find('.', at), name.size());
      i.words.push_back(name.substr(at, point - at));
      at = point + 1;
    }
    i.run = ptx_function(i.words);
    if (!i.run) throw PtxRefusal{i.name};
    for (const std::string_view w : i.words)
      if (const PtxType t = ptx_type(w); t.kind != PtxType::Kind::none) i.source = i.type, i.type = t;
    if (i.words[0] == "cvt") std::swap(i.type, i.source);
    if (i.words[0] == "bra")
      i.label = stripped(operands);
    else
      for (const std::string_view part : list_of(operands)) i.operands.push_back(value(part));
  }

  PtxValue value(std::string_view s) {
    s = stripped(s);
    PtxValue v;
    if (s.starts_with("!")) {
      v = value(s.substr(1));
      v.negated = true;
      return v;
    }
    if (s == "_") {
      v.kind = PtxValue::Kind::nothing;
      return v;
    }
    if (s.starts_with("[")) return address(s);
    if (s.starts_with("(") && s.ends_with(")")) return value(s.substr(1, s.size() - 2));
    if (s.starts_with("{")) {
      v.kind = PtxValue::Kind::group;
      for (const std::string_view part : list_of(s.substr(1, s.rfind('}') - 1))) v.parts.push_back(value(part));
      return v;
    }
    if (const std::size_t bar = s.find('|'); bar != s.npos) {
      v.kind = PtxValue::Kind::group;
      v.parts = {value(s.substr(0, bar)), value(s.substr(bar + 1))};
      return v;
    }
    return name(s);
  }

  // "[a+16]", "[map, {x, y}]".
  PtxValue address(std::string_view s) {
    PtxValue v;
    v.kind = PtxValue::Kind::address;
    const auto parts = list_of(s.substr(1, s.rfind(']') - 1));
    if (parts.empty()) throw PtxRefusal{"an empty address"};
    const std::string_view base = parts[0];
    const std::size_t plus = base.find('+');
    v.parts.push_back(value(base.substr(0, plus)));
    v.parts.push_back(plus == base.npos ? *number_of("0") : value(base.substr(plus + 1)));
    for (std::size_t k = 1; k < parts.size(); ++k) v.parts.push_back(value(parts[k]));
    return v;
  }

  PtxValue name(std::string_view s) {
    if (const auto number = number_of(s)) return *number;
    PtxValue v;
    if (s.size() > 1 && s[0] == '%' && is_digit(s[1])) {
      v.kind = PtxValue::Kind::slot;
      v.index = unsigned(std::atoi(std::string(s.substr(1)).c_str()));
      return v;
    }
    for (auto scope = names_.rbegin(); scope != names_.rend(); ++scope)
      if (const auto found = scope->find(std::string(s)); found != scope->end()) {
        v.kind = PtxValue::Kind::variable;
        v.index = found->second;
        return v;
      }
    v.name = s.starts_with("%") ? s.substr(1) : s;
    if (!is_ptx_special(v.name)) throw PtxRefusal{"the register " + std::string(s)};
    v.kind = PtxValue::Kind::special;
    return v;
  }

  PtxStatement& s_;
  std::vector<std::map<std::string, unsigned>> names_;
  std::map<std::string, std::size_t> labels_;
};

}  // namespace

PtxType ptx_type(std::string_view name) {
  using Kind = PtxType::Kind;
  if (name == "pred") return {Kind::predicate, 1};
  if (name == "tf32") return {Kind::tensor, 32};
  PtxType t;
  if (const std::size_t x = name.find('x'); x != name.npos && x + 2 == name.size() && is_digit(name[x + 1])) {
    t.count = std::uint8_t(name[x + 1] - '0');
    name = name.substr(0, x);
  }
  if (name == "e4m3" || name == "e5m2") {
    t.kind = name == "e4m3" ? Kind::e4m3 : Kind::e5m2;
    t.bits = 8;
    return t;
  }
  const bool brain = name.starts_with("bf");
  const std::string_view digits = name.substr(std::min<std::size_t>(brain ? 2 : 1, name.size()));
  const auto valid = {"8", "16", "32", "64", "128"};
  if (std::ranges::find(valid, digits) == valid.end()) return {};
  t.bits = std::uint8_t(std::atoi(std::string(digits).c_str()));
  t.kind = brain            ? Kind::brain
           : name[0] == 'b' ? Kind::bits
           : name[0] == 's' ? Kind::integer
           : name[0] == 'u' ? Kind::natural
           : name[0] == 'f' ? Kind::real
                            : Kind::none;
  return t;
}

std::vector<unsigned> pasted_operands(std::string_view text) {
  std::vector<unsigned> all;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '%') continue;
    const bool in_word = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_');
    if (in_word && is_digit(text[i + 1]))
      all.push_back(unsigned(std::atoi(std::string(text.substr(i + 1, 3)).c_str())));
    if (text[i + 1] == '%') ++i;
  }
  return all;
}

std::unique_ptr<PtxStatement> parse_ptx(std::string_view text) {
  auto s = std::make_unique<PtxStatement>();
  s->text = without_comments(text);
  try {
    PtxParser(*s).parse();
  } catch (const PtxRefusal& r) {
    s->error = r.what;
  }
  return s;
}

}  // namespace zellige::cuda
