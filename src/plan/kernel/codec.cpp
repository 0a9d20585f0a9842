// SPDX-License-Identifier: MIT
#include "plan/kernel/codec.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "chasqui/base/error.hpp"

namespace chasqui::plan::kernel {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
constexpr int kSizeBits = 16;
constexpr int kGroupBits = 10;

/// Bits for one of `choices` values.
int width(int choices) { return choices <= 1 ? 0 : std::bit_width(static_cast<unsigned>(choices - 1)); }

class Writer {
 public:
  void put(int value, int bits) {
    for (int i = 0; i < bits; ++i) {
      pending_ |= ((static_cast<unsigned>(value) >> static_cast<unsigned>(i)) & 1U) << static_cast<unsigned>(used_);
      if (++used_ == 6) flush();
    }
  }

  std::string text() {
    if (used_ > 0) flush();
    return std::move(text_);
  }

 private:
  void flush() {
    text_.push_back(kAlphabet[pending_]);
    pending_ = 0;
    used_ = 0;
  }

  std::string text_;
  unsigned pending_ = 0;
  int used_ = 0;
};

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  if (c >= 'a' && c <= 'z') return c - 'a' + 36;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  int get(int bits) {
    while (have_ < bits) {
      const int d = next_ < text_.size() ? digit(text_[next_]) : -1;
      if (d < 0) throw Error("{}: the kernel ends early or has a bad character; rebuild the table", place_);
      ++next_;
      pending_ |= static_cast<std::uint64_t>(d) << static_cast<unsigned>(have_);
      have_ += 6;
    }
    const auto value = static_cast<int>(pending_ & ((std::uint64_t{1} << static_cast<unsigned>(bits)) - 1));
    pending_ >>= static_cast<unsigned>(bits);
    have_ -= bits;
    return value;
  }

  /// A value below `choices`.
  int choose(int choices) {
    const int value = get(width(choices));
    if (value >= std::max(1, choices)) throw Error("{}: a value is out of range; rebuild the table", place_);
    return value;
  }

  void finish() const {
    if (next_ != text_.size()) throw Error("{}: the kernel is too long; rebuild the table", place_);
  }

 private:
  std::string_view text_;
  std::string_view place_;
  std::size_t next_ = 0;
  std::uint64_t pending_ = 0;
  int have_ = 0;
};

/// The colours a role still lacks, then one entry per reception without a colour.
std::vector<int> choices_for(int kappa, std::size_t receptions) {
  std::vector<int> left(std::max(at(kappa), receptions), kNone);
  std::iota(left.begin(), left.begin() + kappa, 0);
  return left;
}

}  // namespace

std::string encode(const Kernel& kernel) {
  const Shape shape = shape_of(count(kernel.M, kernel.L), kernel.j);
  Writer out;
  out.put(kernel.j, 1);
  const auto groups = static_cast<int>(kernel.groups.size());
  out.put(groups - 1, kGroupBits);
  for (const Group& group : kernel.groups) {
    if (groups > 1) out.put(group.size(), kSizeBits);
    for (int h : group.H) out.put(h, width(shape.D + 1));
    int before = kNone;
    for (int s : group.S) {
      const bool goes_on = before > 0 && s == before - 1;
      out.put(goes_on ? 1 : 0, 1);
      if (!goes_on) out.put(s + 1, width(shape.D + 2));
      before = s;
    }
  }
  for (const std::vector<std::int8_t>& colours : kernel.colours) {
    std::vector<int> left = choices_for(shape.kappa, colours.size());
    for (int c : colours) {
      const auto found = std::find(left.begin(), left.end(), c);
      out.put(static_cast<int>(found - left.begin()), width(static_cast<int>(left.size())));
      left.erase(found);
    }
  }
  return out.text();
}

Kernel decode(std::string_view text, int M, int L, std::string_view place) {
  Reader in(text, place);
  if (6 * text.size() < at(M)) throw Error("{}: the kernel is too short for {} receivers; rebuild the table", place, M);
  Kernel kernel{M, L, in.get(1), {}, {}};
  const Shape shape = shape_of(count(M, L), kernel.j);
  if (shape.D > std::numeric_limits<std::int16_t>::max())
    throw Error("{}: a kernel for {} receivers and L={} has numbers above 32767; delete the line", place, M, L);
  const int groups = in.get(kGroupBits) + 1;
  int ranks = 0;
  for (int g = 0; g < groups; ++g) {
    const int m = groups > 1 ? in.get(kSizeBits) : M;
    ranks += m;
    if (m < 1 || ranks > M) throw Error("{}: the groups do not fit {} receivers; rebuild the table", place, M);
    Group group;
    group.H.resize(at(m));
    group.S.resize(at(m));
    for (std::int16_t& h : group.H) h = static_cast<std::int16_t>(in.choose(shape.D + 1));
    int before = kNone;
    for (std::int16_t& s : group.S) {
      const bool goes_on = in.get(1) == 1;
      if (goes_on && before <= 0) throw Error("{}: a block of sends goes below zero; rebuild the table", place);
      before = goes_on ? before - 1 : in.choose(shape.D + 2) - 1;
      s = static_cast<std::int16_t>(before);
    }
    kernel.groups.push_back(std::move(group));
  }
  if (ranks != M) throw Error("{}: the groups do not fit {} receivers; rebuild the table", place, M);
  kernel.colours.reserve(at(M));
  for (const Group& group : kernel.groups) {
    for (int b = 0; b < group.size(); ++b) {
      int receptions = 0;
      for (int tau = 0; tau < shape.D; ++tau) {
        receptions += tau - shape.D + group.H[at((b + tau) % group.size())] >= 0 ? 1 : 0;
      }
      std::vector<int> left = choices_for(shape.kappa, at(receptions));
      std::vector<std::int8_t>& colours = kernel.colours.emplace_back();
      colours.reserve(at(receptions));
      for (int i = 0; i < receptions; ++i) {
        const int pick = in.choose(static_cast<int>(left.size()));
        colours.push_back(static_cast<std::int8_t>(left[at(pick)]));
        left.erase(left.begin() + pick);
      }
    }
  }
  in.finish();
  return kernel;
}

}  // namespace chasqui::plan::kernel
