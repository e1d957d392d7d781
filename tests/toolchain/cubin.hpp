// The smallest cubin: an ELF file of one kernel k.
//
//   std::string code;
//   put<std::uint64_t>(code, 0, lower), put<std::uint64_t>(code, 8, upper);    // an instruction
//   descriptors(cubin_of(code));
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/// Writes a value at a byte of `bytes`, which grow where they end before it.
template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  if (bytes.size() < at + sizeof(T)) bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// The properties of a cubin's kernel, and the form of the file.
struct CubinForm {
  std::vector<std::uint32_t> parameters = {};  // their sizes; none: nothing is said of the kernel
  std::uint32_t max_threads = 0, cluster = 0;  // 0: nothing is said
  std::uint8_t abi = 8;                        // 7 before CUDA 13
  std::uint32_t capability = 90;
};

/// The section .nv.info.k.
inline std::string attributes_of(const CubinForm& form) {
  std::string info;
  const auto add = [&](std::uint8_t number, const std::vector<std::uint32_t>& words) {
    put<std::uint8_t>(info, info.size(), 4), put<std::uint8_t>(info, info.size(), number);
    put<std::uint16_t>(info, info.size(), static_cast<std::uint16_t>(4 * words.size()));
    for (const std::uint32_t w : words) put(info, info.size(), w);
  };
  std::uint32_t offset = 0;
  for (std::uint32_t i = 0; i < form.parameters.size(); offset += form.parameters[i++])
    add(0x17, {0, offset << 16 | i, form.parameters[i] << 18 | 0x1f000});
  if (form.max_threads) add(0x05, {form.max_threads, 1, 1});
  put<std::uint8_t>(info, info.size(), 1), put<std::uint8_t>(info, info.size(), 0x3e);  // one that is passed over
  put<std::uint16_t>(info, info.size(), 0);
  if (form.cluster) add(0x3d, {form.cluster, 1, 1});
  return info;
}

/// A cubin of one kernel k with this machine code, as ELF has it: a header, the sections' names, the code, and their table.
inline std::string cubin_of(const std::string& code, const CubinForm& form = {}) {
  const std::string names = std::string("\0.shstrtab\0.text.k\0.nv.info.k\0", 30);
  std::string elf(64, '\0');
  elf.replace(0, 5, "\177ELF\2");
  put<std::uint8_t>(elf, 8, form.abi);
  put<std::uint32_t>(elf, 0x30, form.abi == 7 ? form.capability : form.capability << 8 | 4);
  const std::size_t names_at = elf.size();
  elf += names;
  elf.resize(128);
  const std::size_t code_at = elf.size();
  elf += code;
  const bool says = !form.parameters.empty() || form.max_threads || form.cluster;
  const std::string info = says ? attributes_of(form) : "";
  const std::size_t info_at = elf.size();
  elf += info;
  const std::size_t table = elf.size();
  const std::size_t sections = says ? 4 : 3;
  put<std::uint64_t>(elf, 0x28, table);
  put<std::uint16_t>(elf, 0x3a, 64);
  put<std::uint16_t>(elf, 0x3c, static_cast<std::uint16_t>(sections));
  put<std::uint16_t>(elf, 0x3e, 1);
  elf.resize(table + sections * 64);
  const auto section = [&](int i, std::uint32_t name, std::uint64_t at, std::uint64_t size) {
    const std::size_t to = table + static_cast<std::size_t>(i) * 64;
    put<std::uint32_t>(elf, to, name), put<std::uint32_t>(elf, to + 4, 1);
    put<std::uint64_t>(elf, to + 0x18, at), put<std::uint64_t>(elf, to + 0x20, size);
  };
  section(1, 1, names_at, names.size());
  section(2, 11, code_at, code.size());
  if (says) section(3, 19, info_at, info.size());
  return elf;
}
