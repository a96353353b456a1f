#include "bindings/tools/linkage.h"

#include <elf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace fab::tools {

namespace {

template <class Header>
bool read_at(std::ifstream& file, std::streamoff place, Header& header) {
  file.seekg(place);
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&header), sizeof header));
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
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    const auto place = static_cast<std::streamoff>(header.e_phoff) + i * std::streamoff{header.e_phentsize};
    if (!read_at(file, place, part) || part.p_type == PT_INTERP) return false;
  }
  return true;
}

}  // namespace fab::tools
