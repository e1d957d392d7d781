// Statements of inline PTX as values: instructions with their operands, by the names and rules of the PTX ISA.
//
//   const auto s = parse_ptx("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p trap; }");
//   s->code[1].name                                           // "trap", with s->code[1].guard
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::cuda {

/// A type of PTX: ".u32", ".f16x2".
struct PtxType {
  enum class Kind : unsigned char { none, bits, integer, natural, real, brain, tensor, e4m3, e5m2, predicate };
  Kind kind = Kind::none;
  std::uint8_t bits = 0;  // of one number
  std::uint8_t count = 1;

  bool is_float() const { return kind >= Kind::real && kind <= Kind::e5m2; }
  bool is_signed() const { return kind == Kind::integer; }
  unsigned bytes() const { return bits * count / 8u; }
};

/// Returns the type of this name without the point; of kind none if there is none.
PtxType ptx_type(std::string_view name);

/// An operand of an instruction.
struct PtxValue {
  enum class Kind : unsigned char {
    none,
    slot,      // "%2": an operand of the statement
    variable,  // a register that the statement declares
    number,
    real,     // a number with a point
    special,  // "%laneid"; `name` has its name
    address,  // "[a+16, {x, y}]": parts[0] is a, parts[1] the number, parts[2] the group
    group,    // "{a, b}", and "a|b"
    nothing   // "_"
  };
  Kind kind = Kind::none;
  bool negated = false;      // "!p", "-a"
  unsigned index = 0;        // of a slot or a variable
  std::uint64_t number = 0;  // its bits
  std::string name;
  std::vector<PtxValue> parts;
};

struct PtxInstruction;
struct PtxMachine;
/// Executes an instruction.
using PtxFunction = void (*)(PtxMachine&, const PtxInstruction&);

/// An instruction.
struct PtxInstruction {
  std::string name;                     // "ld.global.v4.f32"
  std::vector<std::string_view> words;  // of the name
  PtxType type, source;                 // the last type of its name; cvt: the result's, and the operand's
  std::vector<PtxValue> operands;
  PtxValue guard;  // "@p"
  PtxFunction run = nullptr;
  std::string label;  // bra: where it goes on
  std::size_t target = 0;

  bool has(std::string_view word) const {
    for (const std::string_view w : words)
      if (w == word) return true;
    return false;
  }
};

/// A statement: what an `asm` has between its quotes.
struct PtxStatement {
  std::string text;  // in which the words of the instructions lie
  std::vector<PtxInstruction> code;
  unsigned variables = 0;  // registers that it declares
  std::string error;       // why it cannot run, such as "tcgen05.mma"; "" if it can
};

/// Parses a statement. What the emulator cannot run is in PtxStatement::error.
std::unique_ptr<PtxStatement> parse_ptx(std::string_view text);

/// Returns the operands that are parts of a word: 3 and 4 of "wgmma.mma_async.sync.aligned.m64n%3k%4".
std::vector<unsigned> pasted_operands(std::string_view text);

/// Returns the function that executes an instruction, or null: no instruction of these words is known, or it has a word
/// that the instruction does not have here.
PtxFunction ptx_function(const std::vector<std::string_view>& words);
/// Returns whether there is a special register of this name, such as "tid.x".
bool is_ptx_special(std::string_view name);

}  // namespace zellige::cuda
