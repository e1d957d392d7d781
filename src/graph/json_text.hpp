// Reads untrusted JSON: depth and size are limited, and any wrong type or range becomes one Error that names
// the place. Shared by our own form (json.hpp) and Mirage's (mirage.hpp).
#pragma once
#include <nlohmann/json.hpp>

#include "graph/where.hpp"

namespace zellige::graph {

using Json = nlohmann::ordered_json;

constexpr int max_json_depth = 32;
constexpr std::size_t max_json_keys = 1000;  // per object
constexpr std::size_t max_json_operators = 100000;

/// Position of a JSON value inside a longer document: its first character, nesting depth and path.
struct TextPlace {
  std::size_t line = 1, column = 1;
  int depth = 0;
  std::string path = {};
};

/// Parses a whole document; `source` names it in messages. A duplicate key is an Error.
Json parse_json(std::string_view text, std::string_view source, const TextPlace& = {});

/// "an object", "a string", "the number 7": describes an unexpected value for a message.
std::string describe(const Json&);

const Json& member(const Where&, const Json& object, const char* key);  // throws Error if it is missing
const Json* find(const Where&, const Json& object, const char* key);    // nullptr if it is missing
std::int64_t integer(const Where&, std::string_view what, const Json&, std::int64_t min, std::int64_t max);
double number(const Where&, std::string_view what, const Json&);
std::string text(const Where&, std::string_view what, const Json&);
/// A name: 1 to 200 printable ASCII characters without blanks, quotes and backslashes, safe to print in a
/// message.
std::string identifier(const Where&, std::string_view what, const Json&);
bool is_identifier(std::string_view);
bool is_of_a_name(char);
const Json& list(const Where&, std::string_view what, const Json&);
std::vector<std::int64_t> integers(const Where&, std::string_view what, const Json&, std::int64_t min,
                                   std::int64_t max);

}  // namespace zellige::graph
