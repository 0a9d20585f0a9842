// SPDX-License-Identifier: MIT
// Public headers include what declares the standard names in them. A compiler does not notice a forgotten one where the
// common headers are there already (headers_of_* in CMakeLists.txt), or where its own library happens to include it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "structure/source_tree.hpp"

namespace chasqui::structure {
namespace {

/// What we use of each standard header. A name may come from several: size_t and what moves or pairs values come with every container.
const std::map<std::string, std::string> kDeclared = {
    {"algorithm",
     "clamp copy fill find_if inplace_merge lower_bound max min ranges::fill sort stable_sort upper_bound"},
    {"array", "array"},
    {"bit", "bit_width has_single_bit"},
    {"bits/stl_function.h", "bit_and bit_or bit_xor less logical_and logical_or multiplies plus"},
    {"cmath", "llround sqrt"},
    {"complex", "complex polar"},
    {"cstddef", "byte ptrdiff_t size_t"},
    {"cstdint", "int32_t int64_t uint32_t uint64_t uint8_t uintptr_t"},
    {"cstdlib", "free malloc realloc size_t"},
    {"cstring", "memcpy size_t"},
    {"exception", "exception_ptr"},
    {"filesystem", "filesystem::path"},
    {"functional", "bit_and bit_or bit_xor function less logical_and logical_or multiplies plus"},
    {"initializer_list", "initializer_list"},
    {"iterator", "forward_iterator_tag"},
    {"limits", "numeric_limits"},
    {"map", "map"},
    {"memory", "enable_shared_from_this make_shared make_unique shared_ptr unique_ptr weak_ptr"},
    {"memory_resource", "pmr::memory_resource"},
    {"new", "align_val_t bad_alloc"},
    {"numbers", "numbers::pi"},
    {"optional", "optional"},
    {"set", "set"},
    {"span",
     "as_bytes ranges::borrowed_range ranges::contiguous_range ranges::data ranges::range_reference_t "
     "ranges::enable_borrowed_range ranges::range_value_t ranges::size ranges::sized_range ranges::view span"},
    {"stdexcept", "runtime_error"},
    {"string", "forward move pair size_t string"},
    {"string_view", "string_view"},
    {"type_traits",
     "common_type_t is_arithmetic_v is_array_v is_const_v is_default_constructible_v is_empty_v is_enum_v "
     "is_floating_point_v is_integral_v is_invocable_r_v is_nothrow_invocable_r_v is_pointer_v is_same_v "
     "is_trivially_copyable_v make_unsigned_t remove_const_t remove_cv_t remove_cvref_t remove_pointer_t "
     "remove_reference_t type_identity_t"},
    {"unordered_map", "unordered_map"},
    {"utility", "exchange forward move pair swap"},
    {"variant", "variant"},
    {"vector", "forward move pair pmr::vector size_t vector"},
};

/// Which standard headers declare a name of std: of "string" for std::string and for std::string::npos.
std::set<std::string> declaring(std::string name) {
  for (;; name.resize(name.rfind("::"))) {
    std::set<std::string> headers;
    for (const auto& [header, names] : kDeclared) {
      std::istringstream words(names);
      for (std::string word; words >> word;) {
        if (word == name) headers.insert(header);
      }
    }
    if (!headers.empty() || name.find("::") == std::string::npos) return headers;
  }
}

/// What follows std:: in a header, comments aside.
std::set<std::string> standard_names(const SourceFile& file) {
  std::set<std::string> names;
  for (const std::string& whole : file.lines) {
    const std::string line = whole.substr(0, whole.find("//"));
    for (std::size_t at = line.find("std::"); at != std::string::npos; at = line.find("std::", at)) {
      const std::size_t begin = at + 5;
      for (at = begin; std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_' || line[at] == ':';)
        ++at;
      names.insert(line.substr(begin, at - begin));
    }
  }
  return names;
}

/// vector for #include <vector>, of a file and of our own headers that it includes.
std::set<std::string> standard_headers(const std::map<std::string, const SourceFile*>& files, const Graph& includes,
                                       const SourceFile& file) {
  std::set<std::string> paths = reachable(includes, file.path), headers;
  paths.insert(file.path);
  for (const std::string& path : paths) {
    for (const std::string& line : files.at(path)->lines) {
      if (line.rfind("#include <", 0) == 0) headers.insert(line.substr(10, line.find('>') - 10));
    }
  }
  return headers;
}

TEST(Headers, IncludeWhatDeclaresTheirStandardNames) {
  const std::vector<SourceFile> all = source_files();
  std::map<std::string, const SourceFile*> files;
  Graph includes;
  for (const SourceFile& file : all) {
    files[file.path] = &file;
    includes[file.path].insert(file.includes.begin(), file.includes.end());
  }
  int names = 0;
  for (const SourceFile& file : all) {
    if (file.path.rfind("include/", 0) != 0) continue;
    const std::set<std::string> included = standard_headers(files, includes, file);
    for (const std::string& name : standard_names(file)) {
      const std::set<std::string> from = declaring(name);
      ++names;
      EXPECT_FALSE(from.empty()) << file.path << ": std::" << name << " is not in the table above: add it there";
      if (from.empty()) continue;
      EXPECT_TRUE(std::any_of(from.begin(), from.end(), [&](const auto& header) { return included.count(header) > 0; }))
          << file.path << ": std::" << name << " needs #include <" << *from.begin() << ">";
    }
    const bool formats =
        std::any_of(included.begin(), included.end(), [](const auto& h) { return h.rfind("fmt/", 0) == 0; });
    for (const std::string& line : file.lines) {
      EXPECT_TRUE(formats || line.substr(0, line.find("//")).find("fmt::") == std::string::npos)
          << file.path << ": fmt:: needs #include <fmt/core.h>";
    }
  }
  EXPECT_GT(names, 300);
}

}  // namespace
}  // namespace chasqui::structure
