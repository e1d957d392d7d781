#include "emit/size_text.hpp"

#include <algorithm>

#include "emit/names.hpp"
#include "manifest/variants.hpp"

namespace zellige::emit {
namespace {

/// Returns the name of a size in the source.
std::string name_of(const tile::Size& s) { return Names().size(s.name); }

std::string code(const manifest::Manifest& m, const tile::SizeExpression& e) {
  return e.code([&](int size) { return name_of(m.sizes[static_cast<std::size_t>(size)]); });
}

}  // namespace

std::string number_text(const manifest::Manifest& m, const manifest::SizedField& field, std::int64_t largest) {
  const auto sized = m.sized.find(field);
  return sized == m.sized.end() ? fmt::format("{}", largest) : code(m, sized->second);
}

std::string shape_text(const manifest::Manifest& m, int tensor) {
  const graph::Shape& shape = m.tensors[static_cast<std::size_t>(tensor)].shape;
  std::string list;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    list += (d ? ", " : "") +
            number_text(m, {manifest::SizedField::extent, tensor, 0, d}, shape[static_cast<std::size_t>(d)]);
  return fmt::format("({})", list);
}

std::string size_parameters(const manifest::Manifest& m) {
  std::string list;
  for (const tile::Size& s : m.sizes) list += fmt::format("int64_t {}, ", name_of(s));
  return list;
}

std::string size_arguments(const manifest::Manifest& m) {
  std::string list;
  for (const tile::Size& s : m.sizes) list += name_of(s) + ", ";
  return list;
}

std::string workspace_text(const manifest::Manifest& m) {
  const std::string whole = number_text(m, {manifest::SizedField::buffer_size}, m.buffer_size);
  std::string text = whole;
  for (std::size_t v = m.variants.size(); v-- > 0;) {
    const manifest::Manifest& of = m.variants[v];
    const std::string bytes = number_text(of, {manifest::SizedField::buffer_size}, of.buffer_size);
    if (text == whole && bytes == whole) continue;  // neither this one nor those after it differ
    text = fmt::format("{} ? {} : {}", variant_condition(m, of), bytes, text);
  }
  return text;
}

std::string variant_condition(const manifest::Manifest& whole, const manifest::Manifest& variant) {
  std::string all;
  const auto add = [&](const std::string& condition) { all += (all.empty() ? "" : " && ") + condition; };
  for (std::size_t i = 0; i < variant.range.size(); ++i) {
    const tile::Size &r = variant.range[i], &s = whole.sizes[i];
    const std::int64_t first = (s.low + r.multiple - 1) / r.multiple * r.multiple;
    if (r.low > first) add(fmt::format("{} >= {}", name_of(s), r.low));
    if (r.high < s.high) add(fmt::format("{} <= {}", name_of(s), r.high));
    if (r.multiple > s.multiple) add(fmt::format("{} % {} == 0", name_of(s), r.multiple));
  }
  return all.empty() ? "1" : all;
}

std::string sizes_wrong(const manifest::Manifest& m) {
  std::string any;
  const auto add = [&](const std::string& condition) { any += (any.empty() ? "" : " || ") + condition; };
  for (const tile::Size& s : m.sizes) {
    const std::string name = name_of(s);
    add(fmt::format("{0} < {1} || {0} > {2}", name, s.low, s.high));
    if (s.multiple > 1) add(fmt::format("{} % {} != 0", name, s.multiple));
  }
  for (const manifest::SizeRelation& r : m.relations) add(fmt::format("{} != {}", code(m, r.left), code(m, r.right)));
  return any;
}

std::string size_checks(const manifest::Manifest& m) {
  std::string lines;
  for (const tile::Size& s : m.sizes) {
    const std::string name = name_of(s);
    lines += fmt::format(
        "  if (!wrong && ({0} < {1} || {0} > {2}))\n"
        "    wrong = call_said(\"{3}: expected {4} from {1} to {2}, found %lld\", (long long){0});\n",
        name, s.low, s.high, m.name, in_literal(s.name));
    if (s.multiple > 1)
      lines += fmt::format(
          "  if (!wrong && {0} % {1} != 0)\n"
          "    wrong = call_said(\"{2}: expected {3} to be a multiple of {1}, found %lld\", (long long){0});\n",
          name, s.multiple, m.name, in_literal(s.name));
  }
  for (const manifest::SizeRelation& r : m.relations)
    lines += fmt::format(
        "  if (!wrong && {0} != {1})\n"
        "    wrong = call_said(\"{2}: expected {3} = {4}, found %lld and %lld\", (long long)({0}), (long "
        "long)({1}));\n",
        code(m, r.left), code(m, r.right), m.name, r.left.text(m.sizes), r.right.text(m.sizes));
  return lines;
}

std::string sizes_prologue(const manifest::Manifest& m) {
  const bool compares = std::ranges::any_of(programs_of(m), [](const manifest::Manifest* of) {
    return std::ranges::any_of(
        of->sized, [&](const auto& sized) { return code(*of, sized.second).find("larger(") != std::string::npos; });
  });
  return fmt::format("#include <stdint.h>\n{}",
                     compares ? "static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }\n" : "");
}

std::string size_comment(const tile::Size& s) {
  return fmt::format("{}: {}, from {} to {}{}", name_of(s), printable(s.name), s.low, s.high,
                     s.multiple > 1 ? fmt::format(", a multiple of {}", s.multiple) : "");
}

}  // namespace zellige::emit
