// Reading JSON that may be hostile: depth and size are limited, and whatever has the wrong type or range
// becomes one Error that names the place. Shared by our own form (json.hpp) and by Mirage's (mirage.hpp).
#pragma once
#include <nlohmann/json.hpp>

#include "graph/where.hpp"

namespace zellige::graph {

using Json = nlohmann::ordered_json;

constexpr int max_json_depth = 32;
constexpr std::size_t max_json_keys = 1000;  // of one object
constexpr std::size_t max_json_operators = 100000;

/// Where a text stands in a longer one: its first character, how deep it is nested, and the path to it.
struct TextPlace {
  std::size_t line = 1, column = 1;
  int depth = 0;
  std::string path = {};
};

/// Parses a whole text; `source` names it in messages. A key may stand once in an object.
Json parse_json(std::string_view text, std::string_view source, const TextPlace& = {});

/// "an object", "a string", "the number 7": what a message calls a value it did not expect.
std::string describe(const Json&);

const Json& member(const Where&, const Json& object, const char* key);  // must be there
const Json* find(const Where&, const Json& object, const char* key);    // nullptr where it is not
std::int64_t integer(const Where&, std::string_view what, const Json&, std::int64_t least, std::int64_t most);
double number(const Where&, std::string_view what, const Json&);
std::string text(const Where&, std::string_view what, const Json&);
/// A name: 1 to 200 printable ASCII characters without blanks, quotes and backslashes, safe to show in a
/// message.
std::string identifier(const Where&, std::string_view what, const Json&);
bool is_identifier(std::string_view);
bool is_of_a_name(char);
const Json& list(const Where&, std::string_view what, const Json&);
std::vector<std::int64_t> integers(const Where&, std::string_view what, const Json&, std::int64_t least,
                                   std::int64_t most);

}  // namespace zellige::graph
