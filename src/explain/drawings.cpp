// The drawings of a page.
#include <algorithm>
#include <map>

#include "explain/html.hpp"
#include "explain/text.hpp"
#include "view/picture.hpp"

namespace zellige::explain {
namespace {

/// Returns an SVG with a title that screen readers read.
std::string svg_of(int width, int height, const std::string& title, const std::string& content) {
  return fmt::format(
      "<div class=\"wide\"><svg role=\"img\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "aria-label=\"{2}\"><title>{2}</title>{3}</svg></div>\n",
      width, height, escaped(title), content);
}

std::string label(double x, double y, std::string_view text, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>", x, y, more, escaped(text));
}

std::string shortened(const std::string& text, std::size_t limit) {
  return text.size() <= limit ? text : text.substr(0, limit - 1) + "…";
}

}  // namespace

std::string resource_bars(const LaunchAccount& l) {
  double longest = l.limit_us;
  for (const ResourceAccount& r : l.resources) longest = std::max(longest, r.us);
  std::string out;
  int y = 0;
  const auto bar = [&](const std::string& name, double us, std::string_view kind) {
    out += label(0, y + 14, name) +
           fmt::format("<rect class=\"{}\" x=\"130\" y=\"{}\" width=\"{:.1f}\" height=\"14\"/>", kind, y + 3,
                       longest > 0 ? 400 * us / longest : 0) +
           label(540, y + 14, fmt::format("{:.1f} us", us));
    y += 20;
  };
  for (const ResourceAccount& r : l.resources) bar(r.name, r.us, "work");
  if (l.limit_us > 0) bar("limit", l.limit_us, "wait");
  return svg_of(
      620, y + 4,
      "Time of each resource if it were the only one; the limit is that of the bytes and matmuls at the GPU's peaks",
      out);
}

namespace {

/// Where the operators of a graph are drawn: by operator its row, and its place in the row.
struct OperatorPlaces {
  std::vector<int> row, place;
  int rows = 0, widest = 0;
  std::map<int, int> made_by;  // tensor -> operator
};

/// Each operator is below those that it reads; one that reads inputs alone is right above the first that reads it.
OperatorPlaces placed(const GraphAccount& g) {
  const int count = static_cast<int>(g.operators.size());
  OperatorPlaces p{std::vector<int>(count), std::vector<int>(count)};
  std::vector<bool> reads_inputs(count, true);
  std::vector<int> first_reader(count, 1 << 20);
  for (int o = 0; o < count; ++o) {
    for (const int t : g.operators[o].reads)
      if (const auto from = p.made_by.find(t); from != p.made_by.end())
        p.row[o] = std::max(p.row[o], p.row[from->second] + 1), reads_inputs[o] = false;
    for (const int t : g.operators[o].writes) p.made_by[t] = o;
    p.rows = std::max(p.rows, p.row[o] + 1);
  }
  for (int o = count - 1; o >= 0; --o)
    for (const int t : g.operators[o].reads)
      if (const auto from = p.made_by.find(t); from != p.made_by.end())
        first_reader[from->second] = std::min(first_reader[from->second], p.row[o]);
  std::map<int, int> in_row;
  for (int o = 0; o < count; ++o) {
    if (reads_inputs[o] && first_reader[o] < 1 << 20) p.row[o] = first_reader[o] - 1;
    if (reads_inputs[o]) continue;
    p.place[o] = in_row[p.row[o]]++;
  }
  for (int o = 0; o < count; ++o)
    if (reads_inputs[o]) p.place[o] = in_row[p.row[o]]++;
  for (const auto& [row, n] : in_row) p.widest = std::max(p.widest, n);
  return p;
}

}  // namespace

std::string graph_svg(const GraphAccount& g) {
  if (g.operators.empty() || g.operators.size() > 40) return "";
  const OperatorPlaces p = placed(g);
  constexpr int width = 220, height = 58, box = 200;
  const auto x = [&](int o) { return p.place[o] * width + 6; };
  const auto y = [&](int o) { return p.row[o] * height + 6; };
  std::string edges, boxes;
  for (int o = 0; o < static_cast<int>(g.operators.size()); ++o) {
    const OperatorAccount& op = g.operators[o];
    std::string from;
    for (const int t : op.reads) {
      const TensorAccount& tensor = g.tensors[t];
      const auto producer = p.made_by.find(t);
      if (producer == p.made_by.end() || producer->second >= o) {
        from += (from.empty() ? "" : ", ") + tensor.name;
        continue;
      }
      const int x0 = x(producer->second) + 70, y0 = y(producer->second) + 36, x1 = x(o) + 70, y1 = y(o);
      edges += fmt::format("<path class=\"edge\" d=\"M{} {} C{} {} {} {} {} {}\"><title>{}</title></path>", x0, y0, x0,
                           y0 + 18, x1, y1 - 18, x1, y1,
                           escaped(fmt::format("{} {} {}, {}", tensor.name, tensor.dtype, tensor.shape,
                                               bytes_text(static_cast<double>(tensor.bytes)))));
    }
    boxes +=
        fmt::format("<rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"36\" rx=\"4\"/>", x(o), y(o), box) +
        label(x(o) + 6, y(o) + 15, shortened(op.kind + (from.empty() ? "" : " of " + from), 28));
    if (op.writes.empty()) continue;
    const TensorAccount& out = g.tensors[op.writes[0]];
    boxes +=
        label(x(o) + 6, y(o) + 30,
              shortened(fmt::format("{} {} {}", out.shape, out.dtype, bytes_text(static_cast<double>(out.bytes))), 31),
              " class=\"faint\"");
  }
  return svg_of(p.widest * width + 12, p.rows * height + 10,
                "The operators of the graph, each with its result's shape and bytes", edges + boxes);
}

std::string timeline_svg(const Timeline& t) {
  if (t.spans.empty()) return "";
  int end = 1;
  for (const Span& s : t.spans) end = std::max(end, s.end);
  constexpr int lane = 46, left = 90, width = 1000;
  const double unit = static_cast<double>(width - left) / end;
  std::string out;
  for (std::size_t a = 0; a < t.agents.size(); ++a)
    out += label(0, static_cast<double>(a) * lane + 20, shortened(t.agents[a], 12)) +
           fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", left, width, a * lane + 42,
                       a * lane + 42);
  for (const Span& s : t.spans) {
    const bool flight = s.kind == Span::Kind::flight;
    out += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"><title>{}</title></rect>",
        s.kind == Span::Kind::work ? "work"
        : flight                   ? "flight"
                                   : "wait",
        left + s.begin * unit, s.agent * lane + (flight ? 28 : 6), std::max(1.0, (s.end - s.begin) * unit - 0.5),
        flight ? 8 : 18, escaped(s.what + (flight ? " is in flight" : "")));
  }
  return svg_of(
      width, static_cast<int>(t.agents.size()) * lane + 4,
      fmt::format("Order of {} of {} iterations: what each warp role does, what is in flight, and when it waits",
                  t.iterations, t.of),
      out);
}

std::string memory_svg(const KernelAccount& k, std::int64_t bytes) {
  if (k.shared.empty() || bytes <= 0) return "";
  int first = 1 << 30, last = 0;
  for (const SharedAccount& s : k.shared)
    if (s.first > 0) first = std::min(first, s.first), last = std::max(last, s.last);
  if (last == 0) return "";
  constexpr double left = 90, width = 900, height = 220;
  const auto x = [&](int line) { return left + (width - left - 10) * (line - first) / std::max(1, last + 1 - first); };
  std::string out = label(0, 14, "0") + label(0, height, bytes_text(static_cast<double>(bytes)));
  out += label(left, height + 18, fmt::format("line {} of the plan", first), " class=\"faint\"") +
         label(width - 70, height + 18, fmt::format("line {}", last), " class=\"faint\"");
  for (const SharedAccount& s : k.shared) {
    if (s.first == 0) continue;
    const double y = height * static_cast<double>(s.offset) / static_cast<double>(bytes);
    const double h = std::max(3.0, height * static_cast<double>(s.bytes) / static_cast<double>(bytes) - 1);
    out += fmt::format(
        "<rect class=\"flight\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}</title></rect>",
        x(s.first), y, std::max(4.0, x(s.last + 1) - x(s.first)), h,
        escaped(fmt::format("{}: {} stages, {} from {}, lines {} to {} of the plan", s.id, s.stages,
                            bytes_text(static_cast<double>(s.bytes)), s.offset, s.first, s.last)));
    if (h > 12)
      out += label(x(s.first) + 4, y + 12, fmt::format("{}, {}", s.id, bytes_text(static_cast<double>(s.bytes))));
  }
  return svg_of(static_cast<int>(width), static_cast<int>(height) + 6,
                "Bytes of shared memory, downwards, in use along the lines of the plan", out);
}

std::string bank_svg(const SharedAccount& s) {
  if (s.bank_rows.size() < 2) return "";
  const int columns = s.bank_rows[0], rows = static_cast<int>(s.bank_rows.size() - 1) / columns;
  constexpr int cell = 22;
  std::string out;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const int bank = s.bank_rows[1 + r * columns + c];
      out += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"hsl({} 65% 72%)\"><title>row {}, bytes {} to {}: "
          "banks {} to {}</title></rect>"
          "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" style=\"fill:#111\">{}</text>",
          c * cell, r * cell, cell - 1, cell - 1, bank * 45 / 4, r, c * 16, c * 16 + 15, bank, bank + 3,
          c * cell + cell / 2, r * cell + 15, bank);
    }
  return svg_of(columns * cell, rows * cell,
                fmt::format("{}: the first of the four banks of each 16 bytes, of the first {} rows", s.id, rows), out);
}

std::string holder_svg(const RegisterAccount& r) {
  if (r.thread.empty()) return "";
  constexpr int width = 34, height = 28;
  std::string out;
  for (int row = 0; row < r.rows; ++row)
    for (int c = 0; c < r.columns; ++c) {
      const std::size_t at =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(r.columns) + static_cast<std::size_t>(c);
      const int thread = r.thread[at], value = r.value[at], x = c * width, y = row * height;
      if (thread < 0) continue;
      out += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>row {}, column {}: thread {}, value "
          "{}</title></rect><text x=\"{}\" y=\"{}\" text-anchor=\"middle\" style=\"fill:#111;font-size:9px\">T{}<tspan "
          "x=\"{}\" dy=\"11\">V{}</tspan></text>",
          x, y, width - 1, height - 1, view::lane_colour(thread).hex(), row, c, thread, value, x + width / 2, y + 11,
          thread, x + width / 2, value);
    }
  return svg_of(r.columns * width, r.rows * height,
                fmt::format("{}: the thread and value of each element, of the first {} rows and {} columns", r.id,
                            r.rows, r.columns),
                out);
}

}  // namespace zellige::explain
