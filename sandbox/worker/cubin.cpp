#include "sandbox/worker/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace onelaunch::worker {
namespace {

using sandbox::EntryResources;

template <class T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

struct Section {
  std::string name;
  Elf64_Shdr header;
  std::string_view content;  // empty for NOBITS
};

Result<std::vector<Section>> sections_of(std::string_view cubin) {
  const auto elf = at<Elf64_Ehdr>(cubin, 0);
  if (!elf || std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64)
    return invalid("the cubin is not a 64-bit ELF file");
  std::vector<Section> sections;
  for (unsigned i = 0; i < elf->e_shnum; ++i) {
    const auto header = at<Elf64_Shdr>(cubin, elf->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
    if (!header) return invalid("the cubin's section table is cut off");
    Section section{{}, *header, {}};
    if (header->sh_type != SHT_NOBITS) section.content = part(cubin, header->sh_offset, header->sh_size);
    sections.push_back(std::move(section));
  }
  if (elf->e_shstrndx >= sections.size()) return invalid("the cubin has no section names");
  const std::string_view names = sections[elf->e_shstrndx].content;
  for (Section& section : sections) {
    const std::string_view name = names.substr(std::min<std::size_t>(section.header.sh_name, names.size()));
    section.name = name.substr(0, name.find('\0'));
  }
  return sections;
}

// ".text.megakernel" without ".text." is the kernel's name.
std::optional<std::string> after(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return name.substr(prefix.size());
}

// Attributes of .nv.info: format, id, then a 16-bit value or a size and that many bytes.
constexpr unsigned char kSized = 4, kFrameSize = 0x11, kRegisterCount = 0x2f;

// The largest value of an attribute whose payload is a symbol's index and a number.
std::uint64_t attribute(std::string_view info, unsigned char wanted, std::uint32_t symbol) {
  std::uint64_t largest = 0;
  for (std::size_t offset = 0; offset + 4 <= info.size();) {
    const auto format = static_cast<unsigned char>(info[offset]);
    const auto id = static_cast<unsigned char>(info[offset + 1]);
    const std::uint16_t size = *at<std::uint16_t>(info, offset + 2);
    if (format == kSized && id == wanted && size >= 8 && at<std::uint32_t>(info, offset + 4) == symbol)
      largest = std::max<std::uint64_t>(largest, at<std::uint32_t>(info, offset + 8).value_or(0));
    offset += 4u + (format == kSized ? size : 0u);
  }
  return largest;
}

EntryResources* find(std::vector<EntryResources>& entries, std::string_view name) {
  for (EntryResources& entry : entries)
    if (entry.entry == name) return &entry;
  return nullptr;
}

// The number before `unit` in "408 bytes stack frame, 1028 bytes spill stores".
std::uint64_t number_before(const std::string& line, const std::string& unit) {
  std::size_t end = line.find(unit);
  if (end == std::string::npos) return 0;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  return start == end ? 0 : std::strtoull(line.c_str() + start, nullptr, 10);
}

}  // namespace

Result<std::vector<EntryResources>> cubin_resources(std::string_view cubin) {
  const auto sections = sections_of(cubin);
  if (!sections) return because(sections.error());
  std::string_view info;
  for (const Section& section : *sections)
    if (section.name == ".nv.info") info = section.content;
  std::vector<EntryResources> entries;
  for (const Section& section : *sections) {
    const auto name = after(section.name, ".text.");
    if (!name) continue;
    EntryResources entry;
    entry.entry = *name;
    const std::uint32_t symbol = section.header.sh_info & 0xffffff;
    // CUDA 12 keeps the count in the section header, CUDA 13 among the attributes.
    entry.registers = static_cast<int>(
        std::max<std::uint64_t>(section.header.sh_info >> 24, attribute(info, kRegisterCount, symbol)));
    entry.local_bytes = attribute(info, kFrameSize, symbol);
    entries.push_back(entry);
  }
  for (const Section& section : *sections) {
    const auto name = after(section.name, ".nv.shared.");
    if (EntryResources* entry = name ? find(entries, *name) : nullptr) entry->static_smem_bytes = section.header.sh_size;
  }
  return entries;
}

std::string take_ptxas_report(const std::string& log, std::vector<EntryResources>& entries) {
  std::string rest;
  EntryResources* current = nullptr;
  for (std::size_t start = 0; start < log.size();) {
    const std::size_t end = std::min(log.find('\n', start), log.size());
    const std::string line = log.substr(start, end - start);
    start = end + 1;
    if (!line.starts_with("ptxas ")) {
      rest += line + "\n";
      continue;
    }
    if (const std::size_t at = line.find("Function properties for "); at != std::string::npos)
      current = find(entries, line.substr(at + 24));
    const bool is_warning = line.find("warning") != std::string::npos || line.find("error") != std::string::npos;
    if (is_warning) rest += line + "\n";
    if (current == nullptr) continue;
    if (line.find(" bytes spill stores") != std::string::npos)
      current->spill_bytes = number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    if (line.find("Used ") != std::string::npos) {
      current->static_smem_bytes = number_before(line, " bytes smem");
      current = nullptr;
    }
  }
  return rest;
}

}  // namespace onelaunch::worker
