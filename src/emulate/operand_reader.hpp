// Reads the operands that a wgmma or a tcgen05.mma takes from shared memory through the asynchronous proxy.
#pragma once
#include <cstring>
#include <string_view>
#include <vector>

#include "emulate/calls.hpp"
#include "zellige/atom/gmma_operand.hpp"

namespace zellige::emulate {

/// Reads an operand of a matrix instruction from a block's shared memory, and checks each chunk of 16 bytes.
struct OperandReader {
  Block& b;  // whose memory it reads
  Fiber& f;
  std::uint32_t op;  // index of the instruction's AsyncOp
  Site site;
  const char* instruction;       // "wgmma", for messages
  const char* which;             // "A" or "B"; "" of tcgen05.cp
  const shadow::Actor& a;        // what issues it, with what it has observed
  std::uint16_t tensor = 0;      // id of the tensor from which the descriptor was made; 0: unknown
  bool swizzle_told = false;     // a mismatch of swizzles has been reported
  const Region* last = nullptr;  // where in `tensor` the last chunk was
  std::uint32_t agreeing = 0;    // the last AsyncOp that wrote a chunk with the descriptor's swizzle

  /// Checks a read of 16 bytes at offset `at` of shared memory, and returns a pointer to them. Returns a pointer to NaNs if
  /// the read is out of bounds, which is reported.
  const unsigned char* chunk(std::uint32_t at, unsigned swizzle);
  /// Reads an operand of `rows` rows (its extent along M or N) of `k` elements, of `size` bytes each, into `out`, row by
  /// row. mn_major: the operand is contiguous along M or N, not along K.
  void read(std::uint64_t descriptor, bool mn_major, unsigned rows, unsigned k, unsigned size,
            std::vector<unsigned char>& out);

 private:
  // What the instruction does with its operand, for messages.
  const char* verb() const {
    if (instruction[0] == 'w') return "multiplies by wgmma";
    return *which ? "multiplies by tcgen05.mma" : "copies by tcgen05.cp";
  }
  void check_swizzle(std::uint32_t at, unsigned swizzle);
  /// Returns whether the operand's tensor has the byte at this offset.
  bool inside(std::uint32_t at) {
    const unsigned char* const p = b.memory + at;
    if (!last || p < last->begin || p >= last->begin + last->bytes) last = b.region(tensor, at);
    return last != nullptr;
  }
  /// Writes the columns of 16 bytes of an operand that is contiguous along M or N, whose elements are T, row by row to `out`.
  template <class T>
  void transpose(std::uint64_t descriptor, unsigned rows, unsigned k, unsigned swizzle, unsigned char* out) {
    constexpr unsigned size = sizeof(T), wide = 16 / size;
    for (unsigned r = 0; r < rows; r += wide)
      for (unsigned c = 0; c < k; ++c) {
        const unsigned char* from = chunk(gmma_address(descriptor, true, size, r, c), swizzle);
        for (unsigned i = 0; i < wide; ++i) std::memcpy(out + ((r + i) * k + c) * size, from + i * size, size);
      }
  }
};

// Reports a TMA load that wrote the bytes with another swizzle than the descriptor's.
inline void OperandReader::check_swizzle(std::uint32_t at, unsigned swizzle) {
  const std::uint32_t by = b.async.writer(at);
  if (by == 0 || by == agreeing) return;
  const shadow::AsyncOp& writer = b.cluster.ops[by];
  if (writer.kind == shadow::AsyncOp::Kind::tma_load && writer.swizzle == swizzle) agreeing = by;
  if (writer.kind != shadow::AsyncOp::Kind::tma_load || writer.swizzle == swizzle ||
      !b.shadow.written_by(at, writer.thread, 0) || swizzle_told)
    return;
  swizzle_told = true;
  const auto name = [](unsigned s) { return s ? fmt::format("{} bytes", 16u << s) : std::string("none"); };
  f.home->fail_at(f, b.region_names[writer.region], {site, widen(writer.site, site.address)},
                  "{}'s descriptor of operand {} says swizzle {}, the tma_load at \2 wrote tensor {} with {}",
                  instruction, which, name(swizzle), b.region_names[writer.region], name(writer.swizzle));
}

inline const unsigned char* OperandReader::chunk(std::uint32_t at, unsigned swizzle) {
  Block& own = *f.home;
  if (at + 16 > b.shared_bytes) {
    own.report(f, Finding::Kind::out_of_bounds, nullptr, site,
               "of {}'s operand {}: {} reads bytes {}..{} of shared memory at \1, the launch gives a block {}",
               instruction, which, own.who(f.index), at, at + 16, b.shared_bytes);
    return rejected;
  }
  if (tensor && !inside(at)) {
    const Region* r = b.first_region(tensor);
    const std::string_view name = r ? r->name : "";
    const std::ptrdiff_t from = r ? b.memory + at - r->begin : std::ptrdiff_t(at);
    own.report(f, Finding::Kind::out_of_bounds, r ? r->name : nullptr, site,
               "on shared tensor {}: {} multiplies by {} bytes {}..{} at \1; the tensor has {}", name, own.who(f.index),
               instruction, from, from + 16, r ? r->bytes : 0);
    return rejected;
  }
  shadow::Clash c = b.shadow.proxy_read(at, 16, a);
  if (!c && tensor && b.shadow.region_at(at) != tensor) c = b.shadow.written_as(at);
  if (c.what == shadow::Clash::What::unwritten && tensor && b.is_raw(tensor)) c = {};
  if (c = shadow::first_of(c, b.async.read_by(op, at, a, b.cluster.ops)); c) {
    Region r;
    const std::uint16_t id = tensor ? tensor : b.shadow.region_at(at);
    const Region* named = b.region(id, at);
    if (!named) {
      r.name = "", r.begin = b.memory, r.bytes = b.shared_bytes, r.space = Space::shared, r.shadow = &b;
      named = &r;
    }
    clash(f, f.index, {b.memory + at, named}, 16, verb(), site, c);
  }
  check_swizzle(at, swizzle);
  return b.memory + at;
}

inline void OperandReader::read(std::uint64_t descriptor, bool mn_major, unsigned rows, unsigned k, unsigned size,
                                std::vector<unsigned char>& out) {
  const unsigned swizzle = gmma_swizzle(descriptor);
  tensor = gmma_tensor(descriptor);
  if (const Region* own = tensor && &b != f.home ? f.home->first_region(tensor) : nullptr)  // at the same place there
    tensor = b.shared(f, own->name, unsigned(own->begin - f.home->memory), unsigned(own->bytes), site)->id;
  out.resize(rows * k * size);
  if (!mn_major) {
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < k * size; c += 16)
        std::memcpy(&out[r * k * size + c], chunk(gmma_address(descriptor, false, size, r, c / size), swizzle), 16);
    return;
  }
  if (size == 1) return transpose<std::uint8_t>(descriptor, rows, k, swizzle, out.data());
  if (size == 2) return transpose<std::uint16_t>(descriptor, rows, k, swizzle, out.data());
  transpose<std::uint32_t>(descriptor, rows, k, swizzle, out.data());
}

}  // namespace zellige::emulate
