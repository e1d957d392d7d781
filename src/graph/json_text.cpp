#include "graph/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace zellige::graph {
namespace {

/// nlohmann's message without its "[json.exception...]" prefix, cut to one line that a terminal can hold.
std::string reason(const char* what) {
  std::string_view text = what;
  if (const auto close = text.find("] "); text.starts_with('[') && close != text.npos)
    text.remove_prefix(close + 2);
  std::string line;
  for (unsigned char c : text.substr(0, 200)) line += c < ' ' || c > 126 ? '?' : static_cast<char>(c);
  return line;
}

/// Reads a text without keeping it: its depth, keys that come twice with their path (graphs[2].operators[1].op), and
/// where it is no JSON. (A parse that is followed by a callback compares each value with all of its list.)
class Check : public nlohmann::json_sax<Json> {
 public:
  Check(std::string_view source, const TextPlace& place) : source_(source), place_(place) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    Level& level = levels_.back();
    if (level.keys.size() == max_json_keys)
      fail("{}: expected at most {} keys in an object, found more{}", source_, max_json_keys, path());
    if (!level.keys.insert(key).second)
      fail("{}: expected each key of an object once, found {} twice{}", source_, describe(Json(key)), path());
    level.key = key;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    error = e.what();
    return false;
  }

  std::string error;  // "" where the text is JSON

 private:
  struct Level {
    bool array = false;
    long long index = -1;
    std::string key = {};
    std::set<std::string> keys = {};
  };
  bool value() {
    if (static_cast<int>(levels_.size()) + place_.depth > max_json_depth)
      fail("{}: expected JSON nested at most {} deep, found more", source_, max_json_depth);
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  bool open(bool array) {
    value();
    levels_.push_back({array});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }
  std::string path() const {
    std::string path = place_.path;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const Level& l = levels_[i];
      if (l.array)
        path += fmt::format("[{}]", l.index);
      else
        path += fmt::format("{}{}", path.empty() ? "" : ".", reason(l.key.substr(0, 40).c_str()));
    }
    return path.empty() ? "" : " in " + path;
  }

  std::string_view source_;
  const TextPlace& place_;
  std::vector<Level> levels_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view source, const TextPlace& place) {
  Check check(source, place);
  if (Json::sax_parse(text.begin(), text.end(), &check)) return Json::parse(text.begin(), text.end());
  if (place.line == 1 && place.column == 1)
    fail("{}: expected JSON, found a {}", source, reason(check.error.c_str()));
  // Once more where it stands, for the message's line and column.
  std::string placed(place.line - 1, '\n');
  placed.append(place.column - 1, ' ').append(text);
  return parse_json(placed, source, {1, 1, place.depth, place.path});
}

std::string describe(const Json& j) {
  switch (j.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return fmt::format("a list of {}", j.size());
    case Json::value_t::string:
      return fmt::format("\"{}\"", reason(j.get_ref<const std::string&>().substr(0, 40).c_str()));
    case Json::value_t::boolean:
      return j.get<bool>() ? "true" : "false";
    case Json::value_t::number_integer:
      return fmt::format("{}", j.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return fmt::format("{}", j.get<std::uint64_t>());
    case Json::value_t::number_float:
      return fmt::format("{}", j.get<double>());
    default:
      return "null";
  }
}

const Json* find(const Where& where, const Json& object, const char* key) {
  if (!object.is_object()) fail_at(where, "expected an object with \"{}\", found {}", key, describe(object));
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

const Json& member(const Where& where, const Json& object, const char* key) {
  const Json* found = find(where, object, key);
  if (!found) fail_at(where, "expected \"{}\", found none", key);
  return *found;
}

std::int64_t integer(const Where& where, std::string_view what, const Json& j, std::int64_t least,
                     std::int64_t most) {
  // A number past int64 is kept as unsigned: compare before narrowing.
  const bool fits = j.is_number_unsigned() ? j.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                                           : j.is_number_integer();
  if (!fits || j.get<std::int64_t>() < least || j.get<std::int64_t>() > most)
    fail_at(where, "expected {} to be an integer from {} to {}, found {}", what, least, most, describe(j));
  return j.get<std::int64_t>();
}

double number(const Where& where, std::string_view what, const Json& j) {
  if (!j.is_number() || !std::isfinite(j.get<double>()))
    fail_at(where, "expected {} to be a finite number, found {}", what, describe(j));
  return j.get<double>();
}

std::string text(const Where& where, std::string_view what, const Json& j) {
  if (!j.is_string()) fail_at(where, "expected {} to be a string, found {}", what, describe(j));
  return j.get<std::string>();
}

bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= 200 && std::ranges::all_of(name, [](unsigned char c) {
    return c > ' ' && c < 127 && c != '"' && c != '\\';
  });
}

std::string identifier(const Where& where, std::string_view what, const Json& j) {
  const std::string name = text(where, what, j);
  if (!is_identifier(name))
    fail_at(where,
            "expected {} to be 1 to 200 printable ASCII characters without blanks, quotes and backslashes, "
            "found {}",
            what, describe(j));
  return name;
}

const Json& list(const Where& where, std::string_view what, const Json& j) {
  if (!j.is_array()) fail_at(where, "expected {} to be a list, found {}", what, describe(j));
  if (j.size() > max_json_operators)
    fail_at(where, "expected {} to have at most {} entries, found {}", what, max_json_operators, j.size());
  return j;
}

std::vector<std::int64_t> integers(const Where& where, std::string_view what, const Json& j,
                                   std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> result;
  for (const Json& entry : list(where, what, j)) result.push_back(integer(where, what, entry, least, most));
  return result;
}

}  // namespace zellige::graph
