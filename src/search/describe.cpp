#include "search/describe.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "json/json.hpp"
#include "json/json_text.hpp"

namespace zellige::search {
namespace {

using json::Json;

constexpr std::size_t max_shown = 32;  // maximum number of an input's values to print

/// Returns the names and shapes of tensors as a string, separated by commas.
std::string shapes(const std::vector<Shown>& sizes) {
  std::vector<std::string> words;
  for (const Shown& s : sizes) words.push_back(fmt::format("{}{}", s.name, graph::to_string(s.shape)));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Returns the first 32 values of a tensor as a string, separated by spaces.
std::string first_values(const Shown& s) {
  const auto end = s.values.begin() + static_cast<std::ptrdiff_t>(std::min(max_shown, s.values.size()));
  return fmt::format("{}{}", fmt::join(s.values.begin(), end, " "), s.values.size() > max_shown ? " ..." : "");
}

/// Returns a JSON number, or a JSON string for NaN and infinities, which JSON lacks.
Json number(double x) { return std::isfinite(x) ? Json(x) : Json(fmt::format("{}", x)); }

/// Returns a JSON list of tensors, with their values if `values` is true.
Json shown_json(const std::vector<Shown>& tensors, bool values) {
  Json list = Json::array();
  for (const Shown& s : tensors) {
    Json one{{"name", s.name}, {"shape", s.shape}};
    if (values) one["values"] = s.values;
    list.push_back(std::move(one));
  }
  return list;
}

/// Returns the element that differs as a JSON object, with its value in each graph.
Json element(const Counterexample& c) {
  return {{"output", c.output}, {"element", c.element},           {"a", c.in_a},
          {"b", c.in_b},        {"distance", number(c.distance)}, {"numbers", c.numbers}};
}

}  // namespace

std::string describe(const Equality& e, const std::string& a, const std::string& b) {
  std::string text = fmt::format("{} and {}: {}", a, b, name(e.answer));
  if (!e.why.empty()) text += fmt::format("\n  {}", e.why);
  if (!e.sizes.empty())
    text += fmt::format("\n  at {}sizes {}, inputs paired by {}", e.shrunk ? "small " : "the given ", shapes(e.sizes),
                        e.by_name ? "name" : "order");
  if (e.log2_chance)
    text +=
        fmt::format("\n  wrong with a chance of at most 2^{:.0f}{}", std::max(-999.0, *e.log2_chance),
                    e.chance_proved ? "" : ", if powers of random numbers and unknown functions are as random numbers");
  if (e.given_distance)
    text += fmt::format("\n  at the given sizes, in float64: {:.2g} from each other", *e.given_distance);
  text += fmt::format("\n  seed {}", e.seed);
  for (const std::string& note : e.notes) text += fmt::format("\n  note: {}", note);
  text += '\n';
  if (!e.counterexample) return text;
  const Counterexample& c = *e.counterexample;
  text += fmt::format("  {}{} is {} in {} and {} in {} ({})\n", c.output, graph::to_string(c.element), c.in_a, a,
                      c.in_b, b, c.numbers);
  for (const Shown& s : c.inputs)
    text += fmt::format("    {}{} = {}\n", s.name, graph::to_string(s.shape), first_values(s));
  return text;
}

std::string to_json(const Equality& e, const std::string& a, const std::string& b) {
  Json j{{"a", a}, {"b", b}, {"answer", name(e.answer)}, {"why", e.why}, {"method", e.method}};
  j["log2_chance"] = e.log2_chance ? Json(std::round(*e.log2_chance)) : Json();
  j["chance_proved"] = e.chance_proved;
  j["seed"] = e.seed;
  j["fields"] = e.fields;
  j["sizes"] = shown_json(e.sizes, false);
  j["shrunk"] = e.shrunk;
  j["paired_by"] = e.by_name ? "name" : "order";
  if (e.given_distance) j["given_distance"] = number(*e.given_distance);
  j["notes"] = e.notes;
  if (e.counterexample) j["counterexample"] = element(*e.counterexample);
  j["seconds"] = e.seconds;
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const std::string& error, const std::string& a, const std::string& b) {
  const Json j{{"a", a}, {"b", b}, {"answer", "not compared"}, {"why", error}};
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const Counterexample& c) {
  Json j = element(c);
  j["inputs"] = shown_json(c.inputs, true);
  j["graphs"] = {{"a", Json::parse(json::to_json(c.a))}, {"b", Json::parse(json::to_json(c.b))}};
  return fmt::format("{}\n", j.dump(1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace zellige::search
