#include "json/json_text.hpp"

#include <algorithm>
#include <cmath>

#include "strings/identifier.hpp"

namespace zellige::json {

using graph::Where, graph::fail_at;

namespace {

/// Returns an exception's message without its "[json.exception...]" prefix: one line, at most 200 printable characters.
std::string reason(const char* what) {
  std::string_view text = what;
  if (const auto close = text.find("] "); text.starts_with('[') && close != text.npos) text.remove_prefix(close + 2);
  std::string line;
  for (unsigned char c : text.substr(0, 200)) line += c < ' ' || c > 126 ? '?' : static_cast<char>(c);
  return line;
}

/// Parses JSON in one pass. Limits the depth and the number of keys, and rejects duplicate keys with their path, such
/// as graphs[2].operators[1].op. A parse with a callback would compare each value with all elements of its list.
class JsonReader : public nlohmann::json_sax<Json> {
 public:
  JsonReader(std::string_view source, const TextPlace& place) : source_(source), place_(place) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return value(v); }
  bool number_unsigned(number_unsigned_t v) override { return value(v); }
  bool number_float(number_float_t v, const string_t&) override { return value(v); }
  bool string(string_t& v) override { return value(std::move(v)); }
  bool binary(binary_t& v) override { return value(std::move(v)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    const Json& object = *open_.back();
    if (object.size() == max_json_keys)
      fail("{}: expected at most {} keys in an object, found more{}", source_, max_json_keys, path());
    if (object.contains(key))
      fail("{}: expected each key of an object once, found {} twice{}", source_, describe(Json(key)), path());
    keys_.back() = std::move(key);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    error = e.what();
    return false;
  }

  Json root;
  std::string error;  // why the input is not JSON; "" if it is

 private:
  /// Stores a value in the innermost open list or object and returns it. Throws Error if it is nested too deep.
  Json& add(Json v) {
    if (static_cast<int>(open_.size()) + place_.depth > max_json_depth)
      fail("{}: expected JSON nested at most {} deep, found more", source_, max_json_depth);
    if (open_.empty()) return root = std::move(v);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(v));
    return (*open_.back())[keys_.back()] = std::move(v);
  }
  bool value(Json v) {
    add(std::move(v));
    return true;
  }
  bool open(Json v) {
    open_.push_back(&add(std::move(v)));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }
  /// Returns " in " and the path of the innermost open object, such as " in operators[3]"; "" at the top level.
  std::string path() const {
    std::string path = place_.path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i)
      if (open_[i]->is_array())
        path += fmt::format("[{}]", open_[i]->size() - 1);
      else
        path += fmt::format("{}{}", path.empty() ? "" : ".", reason(keys_[i].substr(0, 40).c_str()));
    return path.empty() ? "" : " in " + path;
  }

  std::string_view source_;
  const TextPlace& place_;
  std::vector<Json*> open_;        // lists and objects that contain the next value; they do not move while open
  std::vector<std::string> keys_;  // the latest key of each open object
};

}  // namespace

Json parse_json(std::string_view text, std::string_view source, const TextPlace& place) {
  JsonReader reader(source, place);
  if (Json::sax_parse(text.begin(), text.end(), &reader)) return std::move(reader.root);
  if (place.line == 1 && place.column == 1) fail("{}: expected JSON, found a {}", source, reason(reader.error.c_str()));
  // The source is not JSON. Parses it again after line breaks and blanks that put it at its original position,
  // so that the message has the right line and column.
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
    case Json::value_t::number_float:
      return fmt::format("{}", j.get<double>());  // JSON's number would differ: 1.0 for 1
    default:
      return j.dump();
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

std::int64_t integer(const Where& where, std::string_view what, const Json& j, std::int64_t min, std::int64_t max) {
  // Numbers beyond int64 are stored as unsigned, so the range is checked before the conversion.
  const bool fits =
      j.is_number_unsigned() ? j.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX) : j.is_number_integer();
  if (!fits || j.get<std::int64_t>() < min || j.get<std::int64_t>() > max)
    fail_at(where, "expected {} to be an integer from {} to {}, found {}", what, min, max, describe(j));
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

std::string identifier(const Where& where, std::string_view what, const Json& j) {
  const std::string name = text(where, what, j);
  if (!strings::is_identifier(name))
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

std::vector<std::int64_t> integers(const Where& where, std::string_view what, const Json& j, std::int64_t min,
                                   std::int64_t max) {
  std::vector<std::int64_t> result;
  for (const Json& entry : list(where, what, j)) result.push_back(integer(where, what, entry, min, max));
  return result;
}

}  // namespace zellige::json
