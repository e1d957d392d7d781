#include "ir/line_reader.hpp"

#include <charconv>
#include <zellige/layout/text.hpp>

#include "strings/nearest.hpp"
#include "strings/shown.hpp"
#include "target/instructions.hpp"
#include "target/products.hpp"

namespace zellige::ir {
namespace {

constexpr std::int64_t max_number = std::int64_t{1} << 40, max_int = 1 << 24;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\''; }

/// The library's parser of layouts, which says where the layout ends.
struct Layouts : Parser {
  using Parser::Parser;
  std::size_t at() const { return at_; }
};

/// Returns what a step is, without what it refers to: one of each kind, in the order in which the parser looks for its word.
const std::vector<kernel::Step>& kinds_of_steps() {
  static const std::vector<kernel::Step> kinds = [] {
    std::vector<kernel::Step> all;
    const auto one = [&]<class Is>(Is is) {
      if constexpr (!std::is_same_v<Is, kernel::Sync>) all.push_back({.is = std::move(is)});
    };
    const auto each = [&]<class... Is>(const std::variant<Is...>&) { (one(Is{}), ...); };
    each(decltype(kernel::Step::is){}), each(kernel::Sync{});
    all.push_back({.is = kernel::Sync(kernel::Barrier{.waits = false})});
    return all;
  }();
  return kinds;
}

}  // namespace

std::string_view LineReader::rest() {
  const std::string& text = line_->text;
  while (at_ < text.size() && text[at_] == ' ') ++at_;
  return std::string_view(text).substr(at_);
}

std::string_view LineReader::next() {
  const std::string_view all = rest();
  std::size_t n = 0;
  while (n < all.size() && is_name(all[n])) ++n;
  return all.substr(0, std::max<std::size_t>(n, std::min<std::size_t>(1, all.size())));
}

bool LineReader::next_word(std::string_view text) {
  if (rest().starts_with(text) &&
      (rest().size() == text.size() || !is_name(rest()[text.size()]) || !is_name(text.back()))) {
    at_ += text.size();
    return true;
  }
  tried_.emplace_back(text);
  return false;
}

void LineReader::expected(const std::string& what) {
  const std::string found(next());
  fail(fmt::format("expected {}, found {}", what, found.empty() ? "the end of the line" : strings::shown(found)));
}

void LineReader::word(std::string_view text) {
  if (next_word(text)) return;
  const std::string found(next());
  fail(fmt::format("expected '{}', found {}{}", text, found.empty() ? "the end of the line" : strings::shown(found),
                   did_you_mean(found, {std::string(text)})));
}

bool LineReader::mark(std::string_view text, bool) {
  if (!rest().starts_with(text)) return false;
  at_ += text.size();
  return true;
}

void LineReader::must(std::string_view text) {
  if (!mark(text)) expected(fmt::format("'{}'", text));
}

std::size_t LineReader::one_of(const std::vector<std::string>& words) {
  const std::string found(next());
  const auto at = std::ranges::find(words, found);
  if (at == words.end())
    fail(fmt::format("{}: unknown{}", strings::shown(found),
                     words.size() < 20 ? known_names("words here", words, found) : did_you_mean(found, words)));
  at_ += found.size();
  return static_cast<std::size_t>(at - words.begin());
}

void LineReader::value(std::int64_t& n) {
  const std::string_view all = rest();
  last_ = at_;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), n);
  const auto size = static_cast<std::size_t>(end - all.data());
  if (error == std::errc::result_out_of_range || (error == std::errc() && (n > max_number || n < -max_number)))
    fail(fmt::format("{} is out of range: numbers are {} to {}", all.substr(0, size), -max_number, max_number));
  if (error != std::errc()) expected("an integer");
  at_ += static_cast<std::size_t>(end - all.data());
}

void LineReader::value(int& n) {
  std::int64_t wide = 0;
  const std::size_t before = at_;
  value(wide);
  if (wide > max_int || wide < -max_int)
    at_ = before, fail(fmt::format("{} is out of range: this number is {} to {}", wide, -max_int, max_int));
  n = static_cast<int>(wide);
}

void LineReader::value(double& n) {
  const std::string_view all = rest();
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), n);
  if (error != std::errc()) expected("a number");
  at_ += static_cast<std::size_t>(end - all.data());
}

void LineReader::value(std::string& text) {
  text.clear();
  const std::string_view all = rest();
  if (!all.starts_with('"')) expected("a text in quotes");
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] == '"') {
      if (strings::first_not_utf8(text) != text.npos) fail("the text in quotes is not UTF-8");
      at_ += i + 1;
      return;
    }
    if (all[i] != '\\') {
      text += all[i];
      continue;
    }
    int code = 0;
    ++i;
    if (i + 2 < all.size() && all[i] == 'x' &&
        std::from_chars(all.data() + i + 1, all.data() + i + 3, code, 16).ptr == all.data() + i + 3)
      text += static_cast<char>(code), i += 2;
    else if (i < all.size())
      text += all[i];
  }
  fail("the text in quotes does not end in this line");
}

void LineReader::value(Value& layout) {
  Layouts parser(rest());
  last_ = at_;
  try {
    layout = parser.value();
  } catch (const TextError& e) {
    at_ += e.at;
    fail("a layout in CuTe's notation: " + e.reason);
  }
  if (!layout.is_layout() && !layout.is(ValueKind::composed)) expected("a layout in CuTe's notation, SHAPE:STRIDE");
  for (const ValueNode& node : layout.nodes)
    for (const Num n : {node.s, node.d})
      if (n.v > max_number || n.v < -max_number)
        fail(fmt::format("{} is out of range: numbers are {} to {}", n.v, -max_number, max_number));
  at_ += parser.at();
}

void LineReader::value(graph::Dim3& d) {
  std::vector<std::int64_t> all;
  value(all);
  if (all.size() != 3 || std::ranges::any_of(all, [](std::int64_t n) { return n < 1; }))
    fail("expected three numbers of 1 or more: (x,y,z)");
  d = {all[0], all[1], all[2]};
}

tile::SymbolicNumber LineReader::factor() {
  if (rest().empty() || !is_letter(rest()[0])) {
    std::int64_t integer = 0;
    value(integer);
    return integer;
  }
  last_ = cursor();
  if (mark("ceil(")) {
    const bool sum = mark("(");
    tile::SymbolicNumber of = sum ? terms() : factor();
    if (sum) must(")");
    std::int64_t divisor = 1;
    must("/"), value(divisor), must(")");
    if (divisor < 1) fail("a size is divided by 1 or more");
    return ceil_div(of, divisor);
  }
  const std::string found(next());
  const auto size = std::ranges::find(*sizes_, found, &tile::Size::name);
  if (size == sizes_->end()) expected("an integer, or a size that a line before names");
  at_ += found.size();
  return tile::SymbolicNumber::of(*sizes_, static_cast<int>(size - sizes_->begin()));
}

tile::SymbolicNumber LineReader::terms() {
  tile::SymbolicNumber all = 0;
  std::int64_t sign = rest().starts_with("-") && rest().size() > 1 && is_letter(rest()[1]) && mark("-") ? -1 : 1;
  do {
    tile::SymbolicNumber term = factor();
    while (mark("*")) term = term * factor();
    all = all + term * sign;
    if (mark("+"))
      sign = 1;
    else if (mark("-"))
      sign = -1;
    else
      return all;
  } while (true);
}

void LineReader::value(tile::SymbolicNumber& n) {
  const std::size_t begin = cursor();
  n = terms();
  last_ = begin;
}

void LineReader::value(const Instruction*& row) {
  const std::string_view all = rest();
  std::size_t n = 0;
  for (int angles = 0; n < all.size() && (all[n] != ' ' || angles > 0); ++n)
    angles += all[n] == '<' ? 1 : all[n] == '>' ? -1 : 0;
  const std::string name(all.substr(0, n));
  row = target::find_instruction(*target_, name);
  for (const Instruction& outer : target::outer_products())
    if (!row && outer.name == name) row = &outer;
  if (!row) {
    std::vector<std::string> names;
    for (const Instruction& outer : target::outer_products()) names.emplace_back(outer.name);
    for (const Instruction* known : target::instructions_of(*target_)) names.emplace_back(known->name);
    fail(fmt::format("{} has no instruction {}{}", target_->name, strings::shown(name), did_you_mean(name, names)));
  }
  at_ += n;
}

void LineReader::set_target(std::string& name) {
  const std::vector<std::string> names = target::names();
  name = names[one_of(names)];
  target_ = &target::find(name);
}

void LineReader::name(std::string& name) {
  name = next();
  if (name.empty() || !(std::isalnum(static_cast<unsigned char>(name[0])) || name[0] == '_')) expected("a name");
  at_ += name.size();
}

void LineReader::kind(kernel::Step& step) {
  std::vector<std::string> words;
  for (const kernel::Step& kind : kinds_of_steps()) words.emplace_back(kernel::name(kind));
  step.is = kinds_of_steps()[one_of(words)].is;
}

void LineReader::declare(const Ids& ids, std::size_t i, std::string& name) {
  this->name(name);
  if (i >= ids.list.size() || ids.list[i] != name)
    fail(fmt::format("{} {} does not stand with the others", ids.what, name));
  text(name);
}

void LineReader::named_or_none(const Ids& ids, int& i) {
  i = -1;
  if (!rest().starts_with('-')) return named(ids, i);
  ++at_;
}

void LineReader::named(const Ids& ids, int& i) {
  const std::string found(next());
  const auto at = std::ranges::find(ids.list, found);
  if (at == ids.list.end())
    fail(ids.list.empty()
             ? fmt::format("{} {}: unknown, there is none", ids.what, strings::shown(found))
             : fmt::format("{} {}: unknown{}", ids.what, strings::shown(found), known_names("names", ids.list, found)));
  i = static_cast<int>(at - ids.list.begin());
  at_ += found.size();
}

void LineReader::ref(char sign, int& i, std::size_t count) {
  rest();
  const std::size_t before = at_;
  if (!mark(std::string_view(&sign, 1))) expected(fmt::format("a number such as {}0", sign));
  value(i);
  if (i < 0 || static_cast<std::size_t>(i) >= count)
    at_ = before, fail(count == 0 ? fmt::format("{}{}: there is none yet", sign, i)
                                  : fmt::format("{0}{1}: expected one of {0}0 to {0}{2}", sign, i, count - 1));
}

void LineReader::offset(int& n) {
  mark("+");
  value(n);
}

}  // namespace zellige::ir
