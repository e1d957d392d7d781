// The smallest cubin: an ELF file of one kernel k.
//
//   std::string code;
//   put<std::uint64_t>(code, 0, lower), put<std::uint64_t>(code, 8, upper);    // an instruction
//   descriptors(cubin_of(code));
#pragma once
#include <cstdint>
#include <cstring>
#include <string>

/// Writes a value at a byte of `bytes`, which grow where they end before it.
template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  if (bytes.size() < at + sizeof(T)) bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// A cubin of one kernel k with this machine code, as ELF has it: a header, the sections' names, the code, and their table.
inline std::string cubin_of(const std::string& code) {
  const std::string names = std::string("\0.shstrtab\0.text.k\0", 19);
  std::string elf(64, '\0');
  elf.replace(0, 5, "\177ELF\2");
  const std::size_t names_at = elf.size();
  elf += names;
  elf.resize(128);
  const std::size_t code_at = elf.size();
  elf += code;
  const std::size_t table = elf.size();
  put<std::uint64_t>(elf, 0x28, table);
  put<std::uint16_t>(elf, 0x3a, 64);
  put<std::uint16_t>(elf, 0x3c, 3);
  put<std::uint16_t>(elf, 0x3e, 1);
  elf.resize(table + 3 * 64);
  const auto section = [&](int i, std::uint32_t name, std::uint64_t at, std::uint64_t size) {
    const std::size_t to = table + static_cast<std::size_t>(i) * 64;
    put<std::uint32_t>(elf, to, name), put<std::uint32_t>(elf, to + 4, 1);
    put<std::uint64_t>(elf, to + 0x18, at), put<std::uint64_t>(elf, to + 0x20, size);
  };
  section(1, 1, names_at, names.size());
  section(2, 11, code_at, code.size());
  return elf;
}
