// A rule of rewriting: a row of the table (table.hpp), whatever it rewrites. Rules of one level are applied until none of
// them applies; a rule waits until none before it applies anywhere.
//
//   rewrite(graph_rules, Level::normal, graph);       // whether any rule applied
//   rewrite(program_rules, Level::tile, program, target);
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "graph/error.hpp"

namespace zellige::rules {

/// How often the rules of a level may be applied to one form. A rule changes a form everywhere at once, so that some dozen
/// applications are usual; after this number the rules undo each other.
inline constexpr int max_applications = 10'000;

/// When rules are applied, in this order, and to what.
enum class Level : std::uint8_t {
  custom,      // to custom operators of a graph before all others: taken if the kernels cost less
  oversized,   // to custom operators that no kernel can hold on a target: taken instead of a refusal
  given,       // once, to the graph as it is given: what later levels need not look at any more
  warpgroups,  // once after that, where the target has wgmma: taken if the kernels cost less
  normal,      // to a normal form of the graph, in which equal spellings are one
  copied,      // to views that are outputs, after the normal form, which would remove copies
  heads,       // to attention, after copies, since a head that is an output is one
  priced,      // to the result of the other levels of graphs: taken if the kernels cost less
  grouped,     // to the steps of a group of operators, before the group has tiles
  tiled,       // to the steps of a kernel whose tiles do not divide some axes
  block,       // to block graphs: offered next to what it is made of, and taken if the kernel costs less
  tile,        // to tile programs, after `lower` and before `select`
  expression   // to the value of an elementwise operator, where it is printed
};
inline constexpr std::string_view level_names[] = {"custom", "oversized", "given",     "warpgroups", "normal",
                                                   "copied", "heads",     "priced",    "grouped",    "tiled",
                                                   "block",  "tile",      "expression"};

/// A row: rewrites a Form, and may read `With`.
template <class Form, class... With>
struct RewriteRule {
  Level level;
  std::string_view name, condition;  // shown in the documentation
  /// Changes the form, and returns whether rules may apply to it that did not before; or returns what takes its place, or
  /// nullopt if the rule does not apply. The function does not apply to what it has made.
  std::variant<bool (*)(Form&, const With&...), std::optional<Form> (*)(const Form&, const With&...)> function;

  bool apply(Form& form, const With&... with) const {
    if (const auto* in_place = std::get_if<0>(&function)) return (*in_place)(form, with...);
    std::optional<Form> made = std::get<1>(function)(form, with...);
    if (made) form = std::move(*made);
    return made.has_value();
  }
};

/// Throws Fault: rules of a level undo each other, the last of which was `rule`.
[[noreturn]] inline void undone(Level level, std::string_view rule) {
  fault("rules of the level {} undo each other: {} was applied after {} others",
        level_names[static_cast<std::size_t>(level)], rule, max_applications);
}

/// Applies the rules of a level until none of them applies. Returns whether one has. `taken(rule, before, made)` decides on
/// what a rule makes of the form: if it returns false, the form stays as it was, and the rule counts as one that does not
/// apply. `goes_on()` is asked after each application; after it returns false no rule is applied any more.
/// Throws Fault if rules that change the form in place have been applied more than `max_applications` times.
template <class Table, class Form, class Taken, class GoesOn, class... With>
bool rewrite_if(const Table& table, Level level, Form& form, Taken&& taken, GoesOn&& goes_on, const With&... with) {
  bool changed = false;
  int in_place = 0;
  for (const auto* rule = std::begin(table); rule != std::end(table);) {
    bool applies = false;
    if (const auto* of = std::get_if<0>(&rule->function); rule->level == level && of) {
      applies = (*of)(form, with...);
      if (applies && ++in_place > max_applications) undone(level, rule->name);
    } else if (rule->level == level) {
      std::optional<Form> made = std::get<1>(rule->function)(form, with...);
      applies = made && taken(*rule, std::as_const(form), std::as_const(*made));
      if (applies) form = *std::move(made);
    }
    changed = changed || applies;
    if (applies && !goes_on()) break;
    rule = applies ? std::begin(table) : rule + 1;
  }
  return changed;
}

/// Applies the rules of a level until none of them applies. Returns whether one has. Throws Fault if they undo each other.
template <class Table, class Form, class... With>
bool rewrite(const Table& table, Level level, Form& form, const With&... with) {
  int times = 0;
  const auto taken = [&](const auto& rule, const Form&, const Form&) {
    if (++times > max_applications) undone(level, rule.name);
    return true;
  };
  return rewrite_if(
      table, level, form, taken, [] { return true; }, with...);
}
/// Returns what rewrite() makes of the form.
template <class Table, class Form, class... With>
Form rewritten(const Table& table, Level level, Form form, const With&... with) {
  rewrite(table, level, form, with...);
  return form;
}

}  // namespace zellige::rules
