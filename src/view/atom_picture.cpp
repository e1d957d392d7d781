#include "view/atom_picture.hpp"

#include <algorithm>
#include <zellige/atom/evaluate.hpp>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/layout/runtime.hpp>

#include "graph/error.hpp"
#include "strings/nearest.hpp"

namespace zellige::view {
namespace {

constexpr long long max_drawn = 1 << 18;

// An operand as threads have it: `layout` maps (thread, value) to the place row + rows * column.
struct DrawnOperand {
  std::string name, row_axis, column_axis, holder = "T";
  Value layout;
  Value threads = nothing();  // maps a thread's index in the layout to its number; nothing: they are equal
  long long rows = 1, columns = 1;
  int bits = 0;             // of an element
  bool shared = false;      // in shared memory: every thread reads all of it
  bool transposed = false;  // drawn with its columns down: B, whose layout counts (n, k), as (k, n)
};

long long count_of(const Value& v) {
  Tape t;
  return algebra::size_of(t, v).v;
}

// Returns an operand in shared memory: a cell is a core matrix of 8 rows of 16 bytes. `ctas` blocks have its rows in equal parts.
Grid grid_of_cores(const DrawnOperand& o, long long ctas) {
  const long long across = std::max(1, 128 / std::max(1, o.bits)), down = 8;
  const long long rows = (o.rows + down - 1) / down, columns = (o.columns + across - 1) / across;
  Grid g{.title = o.name, .rows = int(o.transposed ? columns : rows), .columns = int(o.transposed ? rows : columns)};
  g.row_axis = o.transposed ? o.column_axis : o.row_axis, g.column_axis = o.transposed ? o.row_axis : o.column_axis;
  g.row_unit = int(o.transposed ? across : down), g.column_unit = int(o.transposed ? down : across);
  g.cells.resize(std::size_t(rows * columns));
  for (long long r = 0; r < rows; ++r)
    for (long long c = 0; c < columns; ++c) {
      const long long cta = r * ctas / rows, core = r % std::max(1LL, rows / ctas) * columns + c;
      std::string label = fmt::format("core {}", core);
      if (ctas > 1) label = fmt::format("CTA{}\n{}", cta, label);
      g.cells[std::size_t(o.transposed ? c * rows + r : r * columns + c)] = {
          .label = label,
          .hover = fmt::format("rows {} to {}, columns {} to {}: core matrix {}", r * down, r * down + down - 1,
                               c * across, c * across + across - 1, core),
          .colour = wheel(core * 5 + cta * 3, 32)};
    }
  return g;
}

// Returns the grid of an operand: in each place the thread and the value that hold it.
Grid grid_of(const DrawnOperand& o) {
  if (o.rows * o.columns > max_drawn)
    fail("{} has {} x {} elements; up to {} are drawn", o.name, o.rows, o.columns, max_drawn);
  Grid g{.title = o.name,
         .rows = int(o.transposed ? o.columns : o.rows),
         .columns = int(o.transposed ? o.rows : o.columns)};
  g.row_axis = o.transposed ? o.column_axis : o.row_axis, g.column_axis = o.transposed ? o.row_axis : o.column_axis;
  g.cells.resize(std::size_t(o.rows * o.columns));
  const long long threads = count_of(o.layout[0]), values = count_of(o.layout[1]);
  const Indexer place(o.layout);
  std::vector<int> holders(g.cells.size());
  std::vector<long long> numbers;
  for (long long t = 0; t < threads; ++t)
    numbers.push_back(o.threads.is(ValueKind::nothing) ? t : Indexer(o.threads)(t));
  for (long long v = 0; v < values; ++v)
    for (long long t = 0; t < threads; ++t) {
      const long long i = place(t + threads * v), r = i % o.rows, c = i / o.rows;
      if (i < 0 || c >= o.columns) continue;  // a tile that the instruction leaves in part
      const std::size_t at = std::size_t(o.transposed ? c * o.rows + r : r * o.columns + c);
      GridCell& cell = g.cells[at];
      const std::string who = fmt::format("{}{} V{}", o.holder, numbers[std::size_t(t)], v);
      if (++holders[at] == 1) {
        cell = {.label = fmt::format("{}{}\nV{}", o.holder, numbers[std::size_t(t)], v),
                .hover = fmt::format("({},{}): {}", r, c, who),
                .colour = lane_colour(numbers[std::size_t(t)])};
      } else {
        if (holders[at] == 2) cell.label += "+";
        if (holders[at] <= 8) cell.hover += ", " + who;
      }
    }
  return merged(std::move(g));
}

void add_lanes(Picture& p, long long threads) {
  for (long long t = 0; t < std::min(threads, 32LL); ++t)
    p.legend.push_back({fmt::format("T{}{}", t, threads > 32 ? "+" : ""), lane_colour(t)});
  if (threads > 32)
    p.facts.emplace_back(
        "a colour is a lane: thread modulo 32. T is a thread, V the index among its values; + more threads have it");
  else
    p.facts.emplace_back("T is a thread, V the index among its values; + more threads have it");
}

bool identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

std::string trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return std::string(s);
}

// A name with arguments, in either kind of brackets: NAME<a, b>{} or NAME(a, b).
struct NamedCall {
  std::string name;
  std::vector<std::string> arguments;
};
NamedCall parse_call(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && identifier(text[at])) ++at;
  NamedCall r{std::string(text.substr(0, at)), {}};
  if (at == text.size()) return r;
  const std::size_t close = text.find_last_of(text[at] == '<' ? '>' : ')');
  if ((text[at] != '(' && text[at] != '<') || close == text.npos || close < at)
    fail("{}: expected NAME(a, b, ...)", text);
  int depth = 0;
  std::string word;
  for (const char c : text.substr(at + 1, close - at - 1)) {
    depth += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
    if (c == ',' && depth == 0)
      r.arguments.push_back(trimmed(word)), word.clear();
    else
      word += c;
  }
  r.arguments.push_back(trimmed(word));
  return r;
}

// Returns the instruction's name without what C++ has around it: MMA_Atom<NAME>{}, SM90::GMMA::MMA_64x..., NAME{}.
std::string bare(std::string text) {
  text = trimmed(text);
  if (text.ends_with("{}")) text.resize(text.size() - 2);
  for (const std::string_view wrap : {"MMA_Atom<", "Copy_Atom<", "MMA_Traits<"})
    if (text.starts_with(wrap) && text.ends_with('>'))
      return bare(text.substr(wrap.size(), text.size() - wrap.size() - 1));
  for (const std::string_view scope : {"SM90::GMMA::MMA_", "GMMA::MMA_"})
    if (text.starts_with(scope)) text = "SM90_" + text.substr(scope.size());
  return text;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Instruction& i : instructions()) names.push_back(bare(i.name));
  for (const Instruction& i : narrow_instructions()) names.push_back(bare(i.name));
  for (const CopyName& c : copy_rows) names.emplace_back(c.name);
  for (const char* n : {"UniversalCopy<uint128_t>", "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>",
                        "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "SM100_TMEM_LOAD_32dp32b32x",
                        "SM100_TMEM_STORE_32dp32b32x", "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,K,K>"})
    names.emplace_back(n);
  return names;
}

// Returns the row of the instruction, whose name may have CuTe's scope or not; null if there is none.
const Instruction* row_of(const std::string& name) {
  const Instruction* row = find_instruction(name);
  return row || !name.starts_with("SM90_") ? row : find_instruction("SM90::GMMA::MMA_" + name.substr(5));
}

[[noreturn]] void refuse_name(const std::string& name, const std::string& why) {
  if (const Instruction* known = row_of(name); known && known->kind != Instruction::Kind::mma)
    fail("{} has no layouts of threads and values to draw: what it moves or orders is given by its operands", name);
  fail("{}{}", why.empty() ? "there is no instruction " + name : why, did_you_mean(name, all_names()));
}

bool is_copy(const std::string& name) {
  try {
    return static_cast<bool>(detail::named_copy(name));
  } catch (const std::exception&) {
    return false;
  }
}

// The sizes of an MMA's tile and its operands.
struct MmaPicture {
  std::string instruction, threads = "(_1,_1,_1):(_0,_0,_0)", permutation = "(_,_,_)";
};
// Returns the expression with each number static: (_2,_2,_1) for (2,2,1). Tilings are known at compile time.
std::string with_static_numbers(const std::string& text) {
  std::string made;
  char before = ' ';
  for (const char c : text) {
    if (c >= '0' && c <= '9' && before != '_' && !identifier(before)) made += '_';
    made += before = c;
    if (c == ':') before = ' ';
  }
  return made;
}
MmaPicture mma_of(const std::string& text) {
  if (!text.starts_with("make_tiled_mma(")) return {bare(text)};
  const NamedCall c = parse_call(text);
  MmaPicture m{bare(c.arguments[0])};
  if (c.arguments.size() > 3) fail("{}: expected an instruction, its repetitions over (M,N,K) and a permutation", text);
  if (c.arguments.size() > 1) m.threads = c.arguments[1];
  if (c.arguments.size() > 2) m.permutation = c.arguments[2];
  m.threads = with_static_numbers(m.threads), m.permutation = with_static_numbers(m.permutation);
  if (m.threads.find(':') == m.threads.npos &&
      !m.threads.starts_with("Layout")) {  // a shape alone: CuTe's Layout<Shape<...>>
    Tape t;
    m.threads = to_text(algebra::compact_left(t, parse_value(m.threads)));
  }
  return m;
}

detail::NamedMma instruction_of_picture(const std::string& name) {
  try {
    return detail::named_mma(name);
  } catch (const LayoutError& e) {
    refuse_name(name, e.what());
  }
}

Picture mma_picture(const std::string& text) {
  const MmaPicture m = mma_of(text);
  const detail::NamedMma atom = instruction_of_picture(m.instruction);
  const bool ctas = m.instruction.starts_with("SM100_MMA");
  Picture p{.title = text};
  if (const Instruction* row = row_of(m.instruction)) p.facts.emplace_back(row->ptx);
  const char parts[] = {'A', 'B', 'C'};
  long long threads = 1;
  bool cores = false;
  for (int i = 0; i < 3; ++i) {
    Tape t;
    const algebra::MmaTiling tiling = detail::mma_tiling(t, {m.instruction, m.threads, m.permutation}, 0, parts[i]);
    const Value tv = algebra::mma_layout_tv(t, tiling);
    if (t.failed()) fail("{}: {}", text, to_text(t.refusal()));
    DrawnOperand o{.name = std::string(1, parts[i]), .layout = tv, .transposed = parts[i] == 'B'};
    Tape sizes;
    o.rows = algebra::size_of(sizes, algebra::permutation_mnk(sizes, tiling, tiling.mode_of(0))).v;
    o.columns = algebra::size_of(sizes, algebra::permutation_mnk(sizes, tiling, tiling.mode_of(1))).v;
    o.row_axis = parts[i] == 'B' ? "n" : "m", o.column_axis = parts[i] == 'C' ? "n" : "k";
    o.bits = atom.bits[i == 2 ? 0 : i + 1];
    if (ctas) o.holder = "CTA";
    threads = std::max(threads, count_of(tv[0]));
    const Value& own = i == 0 ? atom.atom.a : i == 1 ? atom.atom.b : atom.atom.c;
    if (text == m.instruction) o.layout = own, o.threads = atom.atom.threads;  // without a tiling's modes
    if (ctas)
      o.shared = i == 1 || (i == 0 && m.instruction.find("_SS<") != std::string::npos);
    else
      o.shared = i < 2 && count_of(own[0]) == 128 &&
                 count_of(own[1]) == count_of(atom.atom.shape[i]) * count_of(atom.atom.shape[2]);
    p.facts.push_back(fmt::format("{}: {}", parts[i], to_text(o.layout)));
    if (o.transposed)
      o.name += fmt::format(", {} x {} of {} bits", o.columns, o.rows, o.bits);
    else
      o.name += fmt::format(", {} x {} of {} bits", o.rows, o.columns, o.bits);
    if (o.shared) o.name += ", in shared memory";
    cores = cores || o.shared;
    Grid g = o.shared ? grid_of_cores(o, ctas ? count_of(atom.atom.threads) : 1) : grid_of(o);
    g.next_to_previous = i > 0;
    p.grids.push_back(std::move(g));
  }
  if (cores) p.facts.emplace_back("in shared memory, a cell is a core matrix of 8 rows of 16 bytes");
  if (ctas)
    p.facts.emplace_back("CTA is the block of the pair that has the element, V its index there; C is in tensor memory");
  else
    add_lanes(p, threads);
  return p;
}

// Returns how many values of thread 0 follow one another from its first one.
long long contiguous(const Value& tv) {
  const Indexer place(tv);
  const long long threads = count_of(tv[0]), values = count_of(tv[1]);
  long long n = 1;
  while (n < values && place(threads * n) == place(0) + n) ++n;
  return n;
}
long long extent(const Value& tv) {
  const Indexer place(tv);
  long long end = 0;
  for (long long i = 0, n = count_of(tv); i < n; ++i) end = std::max(end, place(i) + 1);
  return end;
}

int natural_bits(const CopyRow& row) {
  switch (row.kind) {
    case CopyRow::Kind::byte_columns:
    case CopyRow::Kind::to_byte_columns:
    case CopyRow::Kind::expanded_rows:
      return 8;
    case CopyRow::Kind::shuffle1:
    case CopyRow::Kind::shuffle4:
    case CopyRow::Kind::in_registers:
    case CopyRow::Kind::element:
    case CopyRow::Kind::tmem_load:
    case CopyRow::Kind::tmem_store:
      return row.of_half || row.kind == CopyRow::Kind::in_registers ? 16 : 32;
    default:
      return row.kind == CopyRow::Kind::vector && row.bits < 16 ? row.bits : 16;
  }
}

// Returns the picture of one side of a copy instruction: a row is what a thread has in one piece.
DrawnOperand side_of(const char* name, const Value& tv, long long columns, int bits) {
  DrawnOperand o{.name = name, .row_axis = "row", .column_axis = "element", .layout = tv, .bits = bits};
  const long long all = extent(tv);
  o.transposed = true;  // a place counts elements along a row first
  o.rows = std::min(columns, all), o.columns = (all + o.rows - 1) / o.rows;
  std::swap(o.row_axis, o.column_axis);
  o.name += fmt::format(", {} x {} of {} bits", o.columns, o.rows, bits);
  return o;
}

Picture copy_atom_picture(const std::string& name, int element_bits) {
  const CopyRow row = detail::named_copy(name);
  const int bits = element_bits ? element_bits : natural_bits(row);
  Tape t;
  const Value source = algebra::copy_values(t, row, CopyPart::source, bits);
  const Value destination = algebra::copy_values(t, row, CopyPart::destination, bits);
  if (t.failed()) fail("{}, elements of {} bits: {}", name, bits, to_text(t.refusal()));
  Picture p{.title = name};
  p.facts = {"source: " + to_text(source), "destination: " + to_text(destination)};
  const long long columns = std::max(contiguous(source), contiguous(destination));
  p.grids = {grid_of(side_of("source", source, columns, bits)),
             grid_of(side_of("destination", destination, columns, bits))};
  p.grids[1].next_to_previous = true;
  add_lanes(p, count_of(source[0]));
  return p;
}

Picture tiled_copy_picture(const std::string& text) {
  const NamedCall c = parse_call(text);
  const bool of_mma = c.name != "make_tiled_copy";
  if (c.arguments.size() != (of_mma ? 3u : 4u))
    fail("{}: expected {}", text,
         of_mma ? "an instruction, a type and a TiledMMA"
                : "an instruction, a type, the layout of threads and that of values");
  const std::string name = bare(c.arguments[0]);
  if (!is_copy(name)) refuse_name(name, "");
  Tape t;
  const CopyAtomValue atom = detail::copy_atom(t, name, c.arguments[1]);
  Value tiling = nothing();
  if (of_mma) {
    const MmaPicture m = mma_of(c.arguments[2]);
    instruction_of_picture(m.instruction);
    const algebra::MmaTiling mma = detail::mma_tiling(t, {m.instruction, m.threads, m.permutation}, 0, c.name.back());
    tiling = detail::operand_tiling(t, atom, mma, false);
  } else {
    const auto layout_of = [&](const std::string& s) {
      const Value v = parse_value(with_static_numbers(s));
      return v.is_layout() ? v : algebra::compact_left(t, v);
    };
    tiling = algebra::raked_tiling(t, layout_of(c.arguments[2]), layout_of(c.arguments[3]));
  }
  if (t.failed()) fail("{}: {}", text, to_text(t.refusal()));
  Picture p{.title = text};
  long long threads = 1;
  for (const char side : {'S', 'D'}) {
    const algebra::CopyTiling of = detail::copy_tiling(atom, tiling, side);
    algebra::check_tiling(t, of);
    const Value tv = t.failed() ? nothing() : algebra::copy_layout_tv(t, of);
    if (t.failed()) fail("{}: {}", text, to_text(t.refusal()));
    const Value tile = algebra::tile_extents(of.tiler);
    DrawnOperand o{
        .name = side == 'S' ? "source" : "destination", .row_axis = "mode 0", .column_axis = "mode 1", .layout = tv};
    Tape sizes;
    o.rows = algebra::size_of(sizes, tile[0]).v, o.columns = tile.rank() > 1 ? algebra::size_of(sizes, tile[1]).v : 1;
    o.name += fmt::format(", {} x {}", o.rows, o.columns);
    p.facts.push_back(fmt::format("{}: {}", side == 'S' ? "source" : "destination", to_text(tv)));
    p.grids.push_back(grid_of(o));
    threads = std::max(threads, count_of(tv[0]));
  }
  p.grids[1].next_to_previous = true;
  add_lanes(p, threads);
  return p;
}

}  // namespace

bool names_atom(std::string_view text) {
  for (const std::string_view call :
       {"make_tiled_mma(", "make_tiled_copy(", "make_tiled_copy_A(", "make_tiled_copy_B(", "make_tiled_copy_C("})
    if (text.starts_with(call)) return true;
  const std::string name = bare(std::string(text));
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '_') return false;
  std::size_t at = 0;
  while (at < name.size() && identifier(name[at])) ++at;
  const std::string_view base = std::string_view(name).substr(0, at);
  if (at < name.size() && (name[at] != '<' || !name.ends_with('>'))) return false;
  if (base.find('_') == base.npos && at == name.size() && base.find("Copy") == base.npos) return false;
  if (base.starts_with("Layout_")) return false;  // of an operand in shared memory
  return at == name.size() || base.starts_with("SM") || base.find("Copy") != base.npos || base == "UniversalFMA";
}

Picture atom_picture(const std::string& given, int element_bits) {
  const std::string text = trimmed(given);
  try {
    if (text.starts_with("make_tiled_copy")) return tiled_copy_picture(text);
    if (text.starts_with("make_tiled_mma")) return mma_picture(text);
    const std::string name = bare(text);
    return is_copy(name) ? copy_atom_picture(name, element_bits) : mma_picture(name);
  } catch (const TextError& e) {
    fail("{}: {}", text, e.what());
  } catch (const LayoutError& e) {
    fail("{}: {}", text, e.what());
  }
}

}  // namespace zellige::view
