#include "bindings/tools/linkage.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace fab::tools {

namespace {

template <class Record>
bool read_at(std::ifstream& file, std::streamoff place, Record& record) {
  file.clear();
  file.seekg(place);
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&record), sizeof record));
}

/// Empty where it is no program, or library, of 64 bits.
std::vector<Elf64_Phdr> parts_of(std::ifstream& file) {
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  std::vector<Elf64_Phdr> parts(header.e_phnum);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto place = static_cast<std::streamoff>(header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!read_at(file, place, parts[i])) return {};
  }
  return parts;
}

/// Where the file has what the program will see at that address; -1: nowhere.
std::streamoff place_of(Elf64_Addr address, const std::vector<Elf64_Phdr>& parts) {
  for (const Elf64_Phdr& part : parts)
    if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
      return static_cast<std::streamoff>(address - part.p_vaddr + part.p_offset);
  return -1;
}

std::vector<Elf64_Dyn> dynamic_entries(std::ifstream& file, const std::vector<Elf64_Phdr>& parts) {
  const auto part = std::ranges::find(parts, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (part == parts.end()) return {};
  std::vector<Elf64_Dyn> entries;
  for (Elf64_Xword i = 0; i < part->p_filesz / sizeof(Elf64_Dyn); ++i) {
    Elf64_Dyn entry{};
    if (!read_at(file, static_cast<std::streamoff>(part->p_offset + i * sizeof entry), entry)) return {};
    if (entry.d_tag == DT_NULL) break;
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace

std::filesystem::path find_program(const char* name) {
  if (std::strchr(name, '/') != nullptr) return name;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

bool is_statically_linked(const std::filesystem::path& program) {
  std::ifstream file(program, std::ios::binary);
  const std::vector<Elf64_Phdr> parts = parts_of(file);
  return !parts.empty() && std::ranges::find(parts, Elf64_Word{PT_INTERP}, &Elf64_Phdr::p_type) == parts.end();
}

std::vector<std::string> needed_libraries(const std::filesystem::path& program) {
  std::ifstream file(program, std::ios::binary);
  const std::vector<Elf64_Phdr> parts = parts_of(file);
  const std::vector<Elf64_Dyn> entries = dynamic_entries(file, parts);
  const auto table = std::ranges::find(entries, Elf64_Sxword{DT_STRTAB}, &Elf64_Dyn::d_tag);
  const std::streamoff strings = table == entries.end() ? -1 : place_of(table->d_un.d_ptr, parts);
  if (strings < 0) return {};
  std::vector<std::string> libraries;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED) continue;
    file.clear();
    file.seekg(strings + static_cast<std::streamoff>(entry.d_un.d_val));
    if (std::string name; std::getline(file, name, '\0')) libraries.push_back(name);
  }
  return libraries;
}

}  // namespace fab::tools
