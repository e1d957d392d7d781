#include <algorithm>
#include <optional>
#include <zellige/layout/runtime.hpp>

#include "graph/error.hpp"
#include "learn/lesson.hpp"
#include "run/emulated.hpp"
#include "view/expression.hpp"

namespace zellige::learn {
namespace {

// Returns what follows "// answer N:" in the file; nullopt if there is no such line or nothing follows.
std::optional<std::string> answer(const std::string& text, int number) {
  const std::string head = fmt::format("// answer {}:", number);
  const std::size_t at = text.find(head);
  if (at == text.npos) return {};
  std::string line = text.substr(at + head.size(), text.find('\n', at) - at - head.size());
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  while (!line.empty() && line.front() == ' ') line.erase(0, 1);
  if (line.empty() || line.find_first_not_of('_') == line.npos) return {};
  return line;
}

bool is_function(const Value& v) { return v.is_layout() || v.is(ValueKind::composed); }

// Returns the sizes of the layout's modes, without last ones of size 1.
std::vector<long long> extents(const Value& layout) {
  const Value inner(algebra::innermost(layout));
  std::vector<long long> all;
  for (int i = 0; i < inner.rank(); ++i) {
    all.push_back(1);
    for (const ValueNode& n : leaves_of(inner[i])) all.back() *= n.s.v;
  }
  while (all.size() > 1 && all.back() == 1) all.pop_back();
  return all;
}
std::string text_of(const std::vector<long long>& numbers) {
  std::string s;
  for (const long long n : numbers) s += (s.empty() ? "" : ",") + std::to_string(n);
  return numbers.size() == 1 ? s : "(" + s + ")";
}

// Returns what differs between a layout and the expected one, as functions; "" if nothing does.
std::string difference(const Value& given, const Value& expected) {
  const std::vector<long long> mine = extents(given), wanted = extents(expected);
  if (mine != wanted) return fmt::format("your layout has the extents {}; expected {}", text_of(mine), text_of(wanted));
  const Indexer a(given), b(expected);
  long long n = 1;
  for (const long long e : wanted) n *= e;
  for (long long i = 0; i < n; ++i) {
    if (a(i) == b(i)) continue;
    std::vector<long long> at;
    long long rest = i;
    for (const long long e : wanted) at.push_back(rest % e), rest /= e;
    return fmt::format("at coordinate {} your layout gives {}; expected {}", text_of(at), a(i), b(i));
  }
  return "";
}

// Returns whether two values are the same answer: equal functions, or equal numbers and coordinates.
bool same_answer(const Value& a, const Value& b) {
  if (is_function(a) != is_function(b)) return false;
  if (is_function(a)) return difference(a, b).empty();
  std::string one = to_text(a), other = to_text(b);
  std::erase(one, '_'), std::erase(other, '_');  // static or not
  return one == other;
}

Mark mark_question(const Question& q, const std::optional<std::string>& given, int number) {
  if (!given) return {false, fmt::format("not answered: write it after \"// answer {}:\"", number)};
  Value value = nothing();
  try {
    value = view::evaluate_expression(*given).value;
  } catch (const view::ExpressionError& e) {
    return {false, e.what()};
  }
  const Value expected = view::evaluate_expression(q.expected).value;
  if (same_answer(value, expected)) return {true, ""};
  for (const WrongAnswer& w : q.wrong)
    if (same_answer(value, view::evaluate_expression(w.answer).value)) return {false, w.hint};
  if (is_function(expected) && !is_function(value))
    return {false, fmt::format("{} is no layout; expected shape:stride", *given)};
  if (is_function(expected)) return {false, difference(value, expected) + (q.hint.empty() ? "" : "\n" + q.hint)};
  return {false, fmt::format("{} is not right{}", *given, q.hint.empty() ? "" : "\n" + q.hint)};
}

std::string hint_of(const KernelTask& task, const emulate::Finding& f, const std::string& text) {
  for (const FindingHint& h : task.hints)
    if (h.kind == f.kind && text.find(h.written) != text.npos) return h.hint + "\n" + f.message;
  return f.message;
}

// Returns the line with the first error of a compiler's message.
std::string first_error(const std::string& message) {
  const std::size_t at = message.find("error: ");
  if (at == message.npos) return message;
  std::size_t begin = message.rfind('\n', at) + 1;
  begin = std::min(at, message.rfind('/', at) == message.npos ? begin : std::max(begin, message.rfind('/', at) + 1));
  return message.substr(begin, message.find('\n', at) - begin);
}

Mark mark_task(const Lesson& l, const KernelTask& task, const std::string& text, const toolchain::Cache& cache) {
  const std::string name = file_name(l).substr(0, file_name(l).size() - 3);
  const std::string source =
      text + "\nextern \"C\" void emulate_lesson(zellige::emulate::Launch& l) { zellige::emulate::call(l, lesson); }\n";
  std::optional<run::EmulatedLibrary> library;
  try {
    library.emplace(toolchain::compile_for_emulator(source, name, cache).file);
  } catch (const Fault& e) {
    return {false, "it does not compile: " + first_error(e.what())};
  }
  TaskLaunch launch;
  launch.config.source_file = name + ".cu";
  launch.config.seconds = 10, launch.config.workers = 1, launch.config.count_by_line = task.conflict_free;
  task.prepare(launch);
  const emulate::EmulationReport report = emulate::run(library->entry("lesson"), launch.config);
  if (!report.findings.empty()) return {false, hint_of(task, report.findings[0], text)};
  if (const std::string wrong = task.check(launch); !wrong.empty()) return {false, wrong};
  if (task.conflict_free)
    for (const emulate::LineCost& c : report.costs)
      if (c.shared && c.cost > c.ideal)
        return {false,
                fmt::format("the results are right, but the {} of shared memory at {} take {} wavefronts; {} would do\n"
                            "the 32 lanes must touch 32 different banks: bank = word modulo 32",
                            c.writes ? "stores" : "loads", c.line, c.cost, c.ideal)};
  return {true, ""};
}

}  // namespace

std::vector<Mark> mark(const Lesson& l, const std::string& text, const toolchain::Cache& cache) {
  std::vector<Mark> marks;
  for (const Question& q : l.questions) {
    const int number = static_cast<int>(marks.size()) + 1;
    marks.push_back(mark_question(q, answer(text, number), number));
  }
  for (const KernelTask& t : l.tasks) marks.push_back(mark_task(l, t, text, cache));
  return marks;
}

const std::vector<Lesson>& lessons() {
  static const std::vector<Lesson> all = [] {
    std::vector<Lesson> r = layout_lessons();
    for (const auto& more : {thread_lessons(), hopper_lessons()}) r.insert(r.end(), more.begin(), more.end());
    return r;
  }();
  return all;
}

const Lesson& lesson(int number) {
  for (const Lesson& l : lessons())
    if (l.number == number) return l;
  fail("learn: expected a lesson from 1 to {}, found {}", lessons().size(), number);
}

std::string file_name(const Lesson& l) { return fmt::format("lesson_{:02}.cu", l.number); }

}  // namespace zellige::learn
