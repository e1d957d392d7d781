#include "search/describe.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "graph/json.hpp"

namespace zellige::search {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_shown = 32;  // values of an input, as text

std::string shapes(const std::vector<Shown>& sizes) {
  std::vector<std::string> words;
  for (const Shown& s : sizes) words.push_back(fmt::format("{}{}", s.name, graph::to_string(s.shape)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string first_values(const Shown& s) {
  const auto end = s.values.begin() + static_cast<std::ptrdiff_t>(std::min(most_shown, s.values.size()));
  return fmt::format("{}{}", fmt::join(s.values.begin(), end, " "),
                     s.values.size() > most_shown ? " ..." : "");
}

std::string certainty(const Equality& e) {
  const std::string power = fmt::format("2^{:.0f}", e.log2_chance);
  return e.chance_proved ? fmt::format("wrong with a chance of at most {}", power)
                         : fmt::format(
                               "wrong with a chance of about {}, "
                               "if exponentials, roots and unknown functions behave as random numbers",
                               power);
}

/// A number, or the texts "nan" and the like that JSON lacks.
Json number(double x) { return std::isfinite(x) ? Json(x) : Json(fmt::format("{}", x)); }

Json shown(const std::vector<Shown>& tensors, bool values) {
  Json list = Json::array();
  for (const Shown& s : tensors) {
    Json one{{"name", s.name}, {"shape", s.shape}};
    if (values) one["values"] = s.values;
    list.push_back(std::move(one));
  }
  return list;
}

Json element(const Counterexample& c) {
  return {{"output", c.output}, {"element", c.element},           {"a", c.in_a},
          {"b", c.in_b},        {"distance", number(c.distance)}, {"numbers", c.numbers}};
}

}  // namespace

std::string describe(const Equality& e, const std::string& a, const std::string& b) {
  std::string text = fmt::format("{} and {}: {}", a, b, name(e.answer));
  if (!e.why.empty()) text += fmt::format("\n  {}", e.why);
  if (!e.sizes.empty() && e.method != "float64")
    text += fmt::format("\n  at {}sizes {}, inputs paired by {}", e.shrunk ? "small " : "the given ",
                        shapes(e.sizes), e.by_name ? "name" : "order");
  if (e.answer == Answer::equal && e.method == "field") text += fmt::format("\n  {}", certainty(e));
  if (e.answer == Answer::equal && e.method != "field")
    text += fmt::format("\n  no chance is known: evidence, not a proof");
  if (e.given_distance)
    text += fmt::format("\n  at the given sizes, in float64: {:.2g} apart", *e.given_distance);
  for (const std::string& note : e.notes) text += fmt::format("\n  note: {}", note);
  text += '\n';
  if (!e.counterexample) return text;
  const Counterexample& c = *e.counterexample;
  text += fmt::format("  {}{} is {} in {} and {} in {} ({})\n", c.output, graph::to_string(c.element), c.in_a,
                      a, c.in_b, b, c.numbers);
  for (const Shown& s : c.inputs)
    text += fmt::format("    {}{} = {}\n", s.name, graph::to_string(s.shape), first_values(s));
  return text;
}

std::string to_json(const Equality& e, const std::string& a, const std::string& b) {
  Json j{{"a", a}, {"b", b}, {"answer", name(e.answer)}, {"why", e.why}, {"method", e.method}};
  if (e.answer == Answer::equal && e.method == "field") {
    j["log2_chance"] = e.log2_chance;
    j["chance_proved"] = e.chance_proved;
  }
  j["fields"] = e.fields;
  j["points"] = e.points;
  j["sizes"] = shown(e.sizes, false);
  j["shrunk"] = e.shrunk;
  j["paired_by"] = e.by_name ? "name" : "order";
  if (e.given_distance) j["given_distance"] = number(*e.given_distance);
  j["notes"] = e.notes;
  if (e.counterexample) j["counterexample"] = element(*e.counterexample);
  j["seconds"] = e.seconds;
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const Counterexample& c) {
  Json j = element(c);
  j["inputs"] = shown(c.inputs, true);
  j["graphs"] = {{"a", Json::parse(graph::to_json(c.a))}, {"b", Json::parse(graph::to_json(c.b))}};
  return fmt::format("{}\n", j.dump(1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace zellige::search
