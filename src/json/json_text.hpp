// Reads untrusted JSON. Depth and size are limited. A value of wrong type or out of range throws Error, which
// names the graph and operator. Used for Zellige's JSON form (json.hpp) and for Mirage's (mirage.hpp).
#pragma once
#include <nlohmann/json.hpp>

#include "graph/where.hpp"

namespace zellige::json {

using Json = nlohmann::ordered_json;

constexpr int max_json_depth = 32;
constexpr std::size_t max_json_keys = 1000;  // per object
constexpr std::size_t max_json_operators = 100000;

/// Position of a JSON value inside a longer document: its first character, its nesting depth and its path.
struct TextPlace {
  std::size_t line = 1, column = 1;
  int depth = 0;
  std::string path = {};
};

/// Parses JSON text and returns its value. `source` names the text in messages; the TextPlace is the position
/// of `text` in a longer document. Throws Error if `text` is not JSON, is nested too deep, or has an object
/// with too many keys or a duplicate key.
Json parse_json(std::string_view text, std::string_view source, const TextPlace& = {});

/// Returns a description of an unexpected value for a message, such as "an object", "a list of 3", "\"exp\"" or "7".
std::string describe(const Json&);

const Json& member(const graph::Where&, const Json& object, const char* key);  // throws Error if it is missing
const Json* find(const graph::Where&, const Json& object, const char* key);    // nullptr if it is missing
// The next four functions throw Error unless the JSON value is what they return. `what` names the value in messages.

/// Returns the JSON value as an integer from `min` to `max`.
std::int64_t integer(const graph::Where&, std::string_view what, const Json&, std::int64_t min, std::int64_t max);
/// Returns the JSON value as a finite number.
double number(const graph::Where&, std::string_view what, const Json&);
/// Returns the JSON value as a string.
std::string text(const graph::Where&, std::string_view what, const Json&);
/// Returns the JSON value as a valid name (strings::is_identifier()), which is safe to print in a message.
std::string identifier(const graph::Where&, std::string_view what, const Json&);
/// Returns the given JSON value. Throws Error unless it is a list of at most max_json_operators (100,000)
/// elements. `what` names the value in the message.
const Json& list(const graph::Where&, std::string_view what, const Json&);
/// Returns the elements of a JSON list of integers. Throws Error unless each element is an integer from `min`
/// to `max`. `what` names the list in the message.
std::vector<std::int64_t> integers(const graph::Where&, std::string_view what, const Json&, std::int64_t min,
                                   std::int64_t max);

}  // namespace zellige::json
