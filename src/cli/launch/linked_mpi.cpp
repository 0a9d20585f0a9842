// SPDX-License-Identifier: MIT
#include "cli/launch/linked_mpi.hpp"

#include <elf.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace chasqui::cli {
namespace {

constexpr std::size_t kMost = 4096;  ///< entries of a table that is believed

/// Reads `count` values at `offset`; false when the file is shorter.
template <typename T>
bool read_at(std::ifstream& file, std::uint64_t offset, std::vector<T>& values) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  return !values.empty() &&
         file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

std::string text_at(std::ifstream& file, std::uint64_t offset) {
  std::string text;
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  std::getline(file, text, '\0');
  return text.size() < kMost ? text : std::string();
}

/// Where a virtual address lies in the file.
std::optional<std::uint64_t> place_of(std::uint64_t address, const std::vector<Elf64_Phdr>& parts) {
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz) {
      return part.p_offset + (address - part.p_vaddr);
    }
  }
  return std::nullopt;
}

/// The names of the shared libraries that a 64-bit ELF file of this machine's byte order needs.
std::vector<std::string> needed(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Elf64_Ehdr> head(1);
  if (!file || !read_at(file, 0, head) || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (head[0].e_ident[EI_CLASS] != ELFCLASS64 || head[0].e_phentsize != sizeof(Elf64_Phdr) || head[0].e_phnum > kMost)
    return {};
  std::vector<Elf64_Phdr> parts(head[0].e_phnum);
  if (!read_at(file, head[0].e_phoff, parts)) return {};
  std::vector<std::string> names;
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type != PT_DYNAMIC || part.p_filesz / sizeof(Elf64_Dyn) > kMost) continue;
    std::vector<Elf64_Dyn> entries(part.p_filesz / sizeof(Elf64_Dyn));
    if (!read_at(file, part.p_offset, entries)) return {};
    std::optional<std::uint64_t> strings;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) strings = place_of(entry.d_un.d_ptr, parts);
    }
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NEEDED && strings) names.push_back(text_at(file, *strings + entry.d_un.d_val));
    }
  }
  return names;
}

}  // namespace

std::string found_in_path(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  std::string places = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  for (std::size_t at = 0; at <= places.size();) {
    const std::size_t end = std::min(places.find(':', at), places.size());
    const std::string path = places.substr(at, end - at) + "/" + word;
    if (end > at && access(path.c_str(), X_OK) == 0) return path;
    at = end + 1;
  }
  return word;
}

std::string linked_mpi(const std::string& program) {
  for (const std::string& name : needed(program)) {
    if (name == "libmpi.so.0") continue;  // built from a git checkout, of the one or the other
    if (name.starts_with("libmpich") || name.starts_with("libmpi.so.12")) return "mpich";
    if (name.starts_with("libmpi.so") || name.starts_with("libmpi_")) return "openmpi";
  }
  return {};
}

std::string loaded_first(const std::string& program) {
  for (const std::string& name : needed(program)) {
    if (name.starts_with("libasan.so")) return name;
  }
  return {};
}

MpiProgram first_mpi_program(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::error_code ignored;
    const std::string path = found_in_path(word);
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    if (std::string flavour = linked_mpi(path); !flavour.empty()) return {path, flavour};
  }
  return {};
}

}  // namespace chasqui::cli
