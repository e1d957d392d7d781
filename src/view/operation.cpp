#include <nlohmann/json.hpp>
#include <sstream>
#include <zellige/atom/evaluate.hpp>

#include "json/json_text.hpp"
#include "strings/nearest.hpp"
#include "view/expression.hpp"

namespace zellige::view {
namespace {

// Returns the names of an operation as a list. Operation::names has them in one string, separated by blanks.
std::vector<std::string> names_of(const Operation& o) {
  std::istringstream names(o.names);
  std::vector<std::string> all;
  for (std::string name; names >> name;) all.push_back(name);
  return all;
}

using json::Json;

// Maximum number of elements that print operations show.
constexpr long long max_printed = 1 << 16;
// Maximum number of characters of an argument.
constexpr std::size_t longest_text = 1 << 14;

// Returns the number of elements of a layout or tensor.
long long elements(const Value& x) {
  const Value l = x.is(ValueKind::tensor) ? x[1] : x;
  double n = 1;
  for (const ValueNode& m : Value(algebra::innermost(l)).nodes) n *= m.kids < 0 ? double(m.s.v) : 1;
  return n > 1e18 ? 1LL << 60 : static_cast<long long>(n);
}

// Returns a line parsed as JSON. Throws Unreadable if it is not valid JSON.
Json parsed(const std::string& line) {
  try {
    return json::parse_json(line, "the line");
  } catch (const Error& e) {
    throw Unreadable(e.what());
  }
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> rows(std::begin(layout_operations), std::end(layout_operations));
    rows.insert(rows.end(), std::begin(detail::tensor_operations), std::end(detail::tensor_operations));
    rows.insert(rows.end(), std::begin(detail::atom_operations), std::end(detail::atom_operations));
    return rows;
  }();
  return all;
}

Rows named(std::string_view name) { return zellige::named(operations(), name); }

std::string near_operation(std::string_view name) {
  std::vector<std::string> known;
  for (const Operation& o : operations())
    for (const std::string& n : names_of(o)) known.push_back(n);
  return did_you_mean(name, known);
}

std::string list_of_operations() {
  std::string text;
  for (const Operation& o : operations())
    for (const std::string& name : names_of(o))
      for (std::string_view letters : detail::alternatives(o))
        text += fmt::format("{}({})\n", name, detail::letters_text(letters));
  return text;
}

std::string evaluate_record(const std::string& op, const std::vector<std::string>& texts) {
  const Rows rows = named(op);
  if (rows.empty()) throw Unreadable(fmt::format("operation {} is unknown{}", op, near_operation(op)));
  Operands operands;
  for (const std::string& text : texts) {
    if (text.size() > longest_text)
      throw Unreadable(fmt::format("an argument has {} characters, more than {}", text.size(), longest_text));
    operands.push_back(operand(text));
  }
  const SelectedRow selected = choose_row(rows, operands);
  if (selected.row == nullptr) {
    for (const ParsedOperand& o : operands)
      if (o.is_word() && std::string_view(rows[0]->parameters).find_first_of("we") == std::string_view::npos)
        throw Unreadable(o.unreadable);
    fail("{}", misfit(op, rows, operands).why);
  }
  if (op.starts_with("print_") || op == "ostream_tensor") {
    const ParsedOperand& drawn = operands[op == "print_tensor_values" ? 1 : 0];
    const Value l = drawn.value.is(ValueKind::tensor) ? drawn.value[1] : drawn.value;
    if (elements(drawn.value) > max_printed)
      fail("{}: {} has {} elements, more than the {} that are drawn", op, drawn.text, elements(drawn.value),
           max_printed);
    const int rank = algebra::innermost(l).rank();
    const int max_rank = op == "print_layout" || op == "print_latex" ? 2 : 4;
    if (rank < 1 || rank > max_rank || (max_rank == 2 && rank != 2))
      fail("{}: {} has rank {}; {} is drawn", op, drawn.text, rank, max_rank == 2 ? "rank 2" : "a rank of 1 to 4");
  }
  if (op == "tma_multicast_mask" && elements(operands[0].value) > 64)
    fail("{}: a cluster of {} CTAs; at most 64 are possible", op, elements(operands[0].value));
  try {
    return evaluate(selected, op, operands);
  } catch (const std::out_of_range&) {
    fail("{}: an operand is not what the operation reads", op);
  }
}

RecordAnswer answer_record(const std::string& line) {
  Json out = Json::object();
  RecordAnswer answer;
  try {
    const Json record = parsed(line);
    if (record.is_object() && record.contains("id")) out["id"] = record["id"];
    if (!record.is_object() || !record.contains("op") || !record["op"].is_string() || !record.contains("args") ||
        !record["args"].is_array())
      throw Unreadable("a record is {\"id\", \"op\": a string, \"args\": a list of strings}");
    std::vector<std::string> arguments;
    for (const Json& a : record["args"]) {
      if (!a.is_string()) throw Unreadable(fmt::format("args: {} is no string", a.dump()));
      arguments.push_back(a.get<std::string>());
    }
    out["result"] = evaluate_record(record["op"].get<std::string>(), arguments);
  } catch (const std::exception& e) {
    out["error"] = e.what();
    answer.readable = !dynamic_cast<const Unreadable*>(&e) && !dynamic_cast<const TextError*>(&e);
  }
  answer.line = out.dump(-1, ' ', false, Json::error_handler_t::replace);
  return answer;
}

}  // namespace zellige::view
