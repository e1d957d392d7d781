#include "explain/page.hpp"

#include <fmt/ranges.h>

#include "explain/html.hpp"
#include "explain/text.hpp"

namespace zellige::explain {
namespace {

std::string us(double value) { return fmt::format("{:.1f}", value); }

/// Returns what fusion gains, the rules that were applied, and how the list below counts.
std::string fused_paragraphs(const Account& a) {
  std::string out;
  if (a.separate_us > 0)
    out += fmt::format(
        "<p>As it was given, with a kernel per operator, the graph would take {} us in {} launch{}; so it takes {} us "
        "in {}.</p>\n",
        us(a.separate_us), a.separate_launches, a.separate_launches == 1 ? "" : "es", us(a.us), a.launches.size());
  if (!a.rules.empty())
    out += fmt::format("<p>Rules that rewrote the graph before it was fused: {}.</p>\n",
                       escaped(fmt::format("{}", fmt::join(a.rules, ", "))));
  if (!a.notes.empty())
    out +=
        "<p>Each kernel with its operators, and why no two of them are one. A time here is that after another kernel, "
        "and counts "
        "a few percent of a warm L2, so that it is less than that of the launch.</p>\n";
  return out;
}

std::string graph_section(const Account& a) {
  std::vector<std::vector<std::string>> rows;
  for (const OperatorAccount& op : a.given.operators) {
    const auto names = [&](const std::vector<int>& tensors) {
      std::string all;
      for (const int t : tensors) {
        const TensorAccount& x = a.given.tensors[t];
        all += fmt::format("{}{} {} {}, {}", all.empty() ? "" : "; ", x.name, x.dtype, x.shape,
                           bytes_text(static_cast<double>(x.bytes)));
      }
      return all;
    };
    rows.push_back(
        {op.kind, names(op.reads), names(op.writes), op.flops > 0 ? fmt::format("{:.2f}", op.flops / 1e9) : ""});
  }
  std::string out = "<section id=\"graph\"><h2>The graph</h2>\n" + graph_svg(a.given);
  out +=
      fmt::format("<details{}><summary>Operators and tensors</summary>{}</details>\n", rows.size() > 40 ? "" : " open",
                  table({"operator", "reads", "writes", "GFLOP of matmuls"}, rows, "In the order of the graph"));
  out += "<h3>What was fused, and what was not</h3>\n" + fused_paragraphs(a) + "<ul>\n";
  for (const std::string& note : a.notes) out += fmt::format("<li>{}</li>\n", escaped(note));
  return out + "</ul></section>\n";
}

/// Returns the part of the source that defines a kernel; "" if it is not found.
std::string source_of(const std::string& source, const std::string& kernel) {
  const std::size_t name = source.find(" " + kernel + "(");
  if (name == std::string::npos) return "";
  const std::size_t begin = source.rfind("\n\n", name) + 2, end = source.find("\n}\n", name);
  return end == std::string::npos ? "" : source.substr(begin, end + 3 - begin);
}

std::string shared_section(const KernelAccount& k, const std::string& prefix, std::int64_t bytes) {
  if (k.shared.empty()) return "";
  std::string out = "<h3>Shared memory</h3>\n" + memory_svg(k, bytes);
  out +=
      "<div class=\"wide\"><table><caption>Tensors in shared memory</caption><thead><tr><th "
      "scope=\"col\">tensor</th><th scope=\"col\">tile</th>"
      "<th scope=\"col\">layout</th><th scope=\"col\">why</th><th scope=\"col\">stages</th><th "
      "scope=\"col\">bytes</th></tr></thead><tbody>\n";
  for (const SharedAccount& s : k.shared)
    out += fmt::format(
        "<tr id=\"{}{}\" data-id=\"{}\"><td>{}</td><td>{} {}</td><td><code>{}</code></td><td>{}.</td><td "
        "class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        prefix, s.id, s.id, s.id, s.dtype, escaped(s.shape), escaped(s.layout),
        escaped(s.why + (s.reason.empty() ? "" : ". The planner: " + s.reason)), s.stages, s.bytes);
  out += "</tbody></table></div>\n<div class=\"banks\">\n";
  for (const SharedAccount& s : k.shared)
    out += fmt::format(
        "<figure>{}<figcaption>{}, coloured by bank: chunks of one colour are in the same banks, so that to read them "
        "takes one "
        "wavefront after another.</figcaption></figure>\n",
        bank_svg(s), s.id);
  return out + "</div>\n";
}

std::string registers_section(const KernelAccount& k) {
  if (k.registers.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const RegisterAccount& r : k.registers)
    rows.push_back(
        {r.id, r.shape, std::to_string(r.threads), std::to_string(r.values), std::to_string(r.copies), r.instruction});
  std::string out = "<h3>Registers</h3>\n" +
                    table({"layout", "tile", "threads", "values of a thread", "copies", "of the instruction"}, rows,
                          "Thread-value layouts of tiles in registers");
  out += "<details><summary>Which thread has which element</summary><div class=\"banks\">\n";
  for (const RegisterAccount& r : k.registers)
    out += fmt::format(
        "<figure>{}<figcaption>{} {}: a colour is a lane, T the thread, V the number of its "
        "value.</figcaption></figure>\n",
        holder_svg(r), r.id, escaped(r.shape));
  return out + "</div></details>\n";
}

std::string kernel_section(const Account& a, const LaunchAccount& l, const KernelAccount& k,
                           const std::string& prefix) {
  std::set<std::string> ids;
  for (const SharedAccount& s : k.shared) ids.insert(s.id);
  std::string out;
  if (const std::string drawn = timeline_svg(k.timeline); !drawn.empty())
    out += fmt::format(
        "<h3>Who works, and who waits</h3>\n<p>{} of {} iterations, in the right order; lengths are not times.</p>\n"
        "<p class=\"key\"><span style=\"background:var(--work)\"></span>works<span "
        "style=\"background:var(--flight)\"></span>"
        "in flight<span style=\"background:var(--wait)\"></span>waits</p>\n{}\n",
        k.timeline.iterations, k.timeline.of, drawn);
  std::vector<std::vector<std::string>> waits;
  for (const WaitAccount& w : k.waits) waits.push_back({std::to_string(w.line), w.agent, w.where, w.step, w.reason});
  if (!waits.empty())
    out +=
        table({"line of the plan", "who", "when", "waits at", "what for"}, waits, "Every wait, and what it protects");
  out += shared_section(k, prefix, l.shared_bytes) + registers_section(k);
  out +=
      "<h3>Plan and source</h3>\n<p>Choose a tensor to see it in both. What a line waits for stands after "
      "it.</p>\n<div class=\"" +
      std::string(k.sass.empty() ? "two" : "three") + "\"><div><pre tabindex=\"0\">";
  int number = 0;
  for (const PlanLine& line : k.plan)
    out += fmt::format("<span class=\"line\">{:>3} </span>", ++number) + linked(line.text, ids, prefix) +
           (line.reason.empty() ? "" : fmt::format(" <span class=\"waits\">← {}</span>", escaped(line.reason))) + "\n";
  out += "</pre></div><div><pre tabindex=\"0\">" + linked(source_of(a.source, k.name), ids, prefix) + "</pre></div>";
  if (!k.sass.empty()) out += "<div><pre tabindex=\"0\" aria-label=\"SASS\">" + escaped(k.sass) + "</pre></div>";
  out += "</div>\n";
  std::vector<std::vector<std::string>> counters;
  for (const auto& [name, n] : k.counters) counters.push_back({name, std::to_string(n)});
  return out + fmt::format("<details><summary>Predicted counters of a launch</summary>{}</details>\n",
                           table({"counter", "a launch"}, counters, "What the emulator counts, too"));
}

std::string launch_section(const Account& a, std::size_t number) {
  const LaunchAccount& l = a.launches[number];
  std::string out = fmt::format("<section id=\"launch{0}\"><h2>Launch {0}: {1}</h2>\n<p class=\"lead\">{2}.</p>\n",
                                number, escaped(l.name), escaped(l.bound));
  if (!l.operators.empty()) {
    out += "<p>It computes ";
    for (std::size_t i = 0; i < l.operators.size(); ++i) out += (i ? ", " : "") + escaped(l.operators[i]);
    out += ".</p>\n";
  }
  for (const KernelAccount& k : l.kernels)
    if (!k.computes.empty()) out += fmt::format("<p>{}.</p>\n", escaped(k.computes));
  out += fmt::format("<p>{}.</p>\n", escaped(l.time)) + resource_bars(l);
  out +=
      table({"", ""},
            {{"expected", us(l.us) + " us"},
             {"limit of its bytes and matmuls", l.limit_us > 0 ? us(l.limit_us) + " us" : "of the launch before"},
             {"grid, block, cluster", fmt::format("{}; {}; {}", l.grid, l.block, l.cluster)},
             {"blocks on a multiprocessor", fmt::format("{}, with {} of {} warps", l.resident, l.warps, l.max_warps)},
             {"waves", fmt::format("{:.0f}", l.waves)},
             {"registers of a thread, as planned", std::to_string(l.registers)},
             {"shared memory of a block", bytes_text(static_cast<double>(l.shared_bytes))},
             {"bytes of DRAM", bytes_text(l.dram_bytes)}},
            "The launch");
  for (std::size_t k = 0; k < l.kernels.size(); ++k) {
    if (l.kernels.size() > 1)
      out += fmt::format("<h3>Program {} of {}: {}</h3>\n", k + 1, l.kernels.size(), escaped(l.kernels[k].name));
    out += kernel_section(a, l, l.kernels[k], fmt::format("l{}k{}-", number, k));
  }
  return out + "</section>\n";
}

std::string alternatives_section(const Account& a) {
  if (a.alternatives.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const Alternative& o : a.alternatives)
    rows.push_back({fmt::format("{:.2f}", o.us), o.difference, o.why, o.lost_on, o.tiling});
  const Alternative& second = a.alternatives[0];
  return fmt::format(
      "<section id=\"alternatives\"><h2>Tilings that were not taken</h2>\n<p class=\"lead\">The second-best plan has "
      "{}: {:.2f} us for "
      "{:.2f}, {}.</p>\n<p>Each of these was planned in full. The tiling that was taken is "
      "<code>{}</code>.</p>\n{}</section>\n",
      escaped(second.difference), second.us, a.us, escaped(second.why), escaped(a.own_tiling),
      table({"us", "what differs", "why it was not taken", "on which resource it loses most", "tiling"}, rows,
            "By expected time"));
}

}  // namespace

std::string page(const Account& a, const std::optional<Account>& against) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>{0} on "
      "{1}</title><style>{2}</style></head><body>\n<main>\n<h1>{0} on {1}</h1>\n",
      escaped(a.graph), a.target, style());
  out += fmt::format("<p class=\"lead\">{} operators in {} launch{}: {} us expected{}{}.</p>\n",
                     a.given.operators.size(), a.launches.size(), a.launches.size() == 1 ? "" : "es", us(a.us),
                     a.limit_us > 0 ? fmt::format(", at least {}", us(a.limit_us)) : "",
                     a.measured_us > 0 ? fmt::format(", {} measured on {}", us(a.measured_us), escaped(a.device)) : "");
  if (!a.measured_costs)
    out += fmt::format("<p>The costs of {} are assumed: no GPU of this kind was measured.</p>\n", a.target);
  out += "<nav aria-label=\"Contents\"><ul><li><a href=\"#graph\">The graph</a></li>";
  for (std::size_t l = 0; l < a.launches.size(); ++l)
    out += fmt::format("<li><a href=\"#launch{0}\">Launch {0}: {1}, {2} us</a></li>", l, escaped(a.launches[l].name),
                       us(a.launches[l].us));
  if (!a.alternatives.empty()) out += "<li><a href=\"#alternatives\">Tilings that were not taken</a></li>";
  out += "</ul></nav>\n" + graph_section(a);
  if (against)
    out += fmt::format("<section id=\"against\"><h2>Compared with {}</h2><pre tabindex=\"0\">{}</pre></section>\n",
                       escaped(against->graph), escaped(comparison(a, *against)));
  for (std::size_t l = 0; l < a.launches.size(); ++l) out += launch_section(a, l);
  out += alternatives_section(a);
  return out + fmt::format("</main><script>{}</script></body></html>\n", script());
}

}  // namespace zellige::explain
