// SPDX-License-Identifier: MIT
#include "preload/reproducible.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "chasqui/base/error.hpp"
#include "preload/native.hpp"
#include "preload/types.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;  ///< bytes of all contributions that one rank holds at a time
constexpr std::size_t kAtOnce = 1024;  ///< bytes of a vector that is sent whole to whoever needs the fold

void check(int code, const char* what) {
  if (code != MPI_SUCCESS) throw Error("{} failed with MPI error {}", what, code);
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Elements without gaps travel as they are, others packed.
class Wire {
 public:
  Wire(ServedCall& served, const ReproducibleFold& fold) : fold_{fold.op, served.packer(fold.type)} {
    op_ = fold_.operator_of();
    type_ = fold.type;
    if (fold_.packer.facts.dense) return;
    check(PMPI_Type_contiguous(static_cast<int>(size()), MPI_BYTE, &type_), "MPI_Type_contiguous");
    check(PMPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~Wire() {
    if (!fold_.packer.facts.dense) PMPI_Type_free(&type_);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  MPI_Datatype type() const { return type_; }
  std::size_t size() const { return fold_.packer.facts.size; }
  bool packs() const { return !fold_.packer.facts.dense; }
  const TypePacker& packer() const { return fold_.packer; }
  const run::Operator& op() const { return op_; }

 private:
  TypeFold fold_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  run::Operator op_;
};

class RankOrder {
 public:
  RankOrder(ServedCall& served, const ReproducibleFold& fold)
      : served_(served), fold_(fold), wire_(served, fold), ranks_(served.size()), me_(served.rank()) {}

  void run() {
    const std::size_t bytes = at(fold_.count) * wire_.size();
    in_ = static_cast<const std::byte*>(fold_.in);
    out_ = static_cast<std::byte*>(fold_.out);
    run::AlignedBuffer in, out;
    if (wire_.packs()) {
      in = run::AlignedBuffer(bytes);
      out = run::AlignedBuffer(bytes);
      wire_.packer().pack(fold_.in, fold_.count, in.data());
      in_ = in.data();
      out_ = out.data();
    }
    served_.begin();
    const int results = bytes <= kAtOnce && fold_.keep != Keep::share ? at_once() : by_shares();
    if (wire_.packs() && results > 0) wire_.packer().unpack(fold_.out, results, out.data());
  }

 private:
  /// Slot r, of `count` elements, becomes the fold of slots 0 .. r.
  void accumulate(std::byte* slots, int count, int last) {
    const std::size_t slot = at(count) * wire_.size();
    for (int r = 1; r <= last; ++r)
      wire_.op()(slots + (at(r) - 1) * slot, slots + at(r) * slot, slots + at(r) * slot, at(count));
  }

  int at_once() {
    const int n = fold_.count;
    const MPI_Comm comm = served_.comm();
    const run::AlignedBuffer scratch(at(n) * wire_.size() * at(ranks_));
    std::byte* const slots = scratch.data();
    check(fold_.keep == Keep::root
              ? CHASQUI_LIBRARY(Gather)(in_, n, wire_.type(), slots, n, wire_.type(), fold_.root, comm)
              : CHASQUI_LIBRARY(Allgather)(in_, n, wire_.type(), slots, n, wire_.type(), comm),
          "gathering contributions");
    if (fold_.keep == Keep::root && me_ != fold_.root) return 0;
    const int last = fold_.keep == Keep::upto ? me_ : fold_.keep == Keep::before ? me_ - 1 : ranks_ - 1;
    if (last < 0) return 0;
    accumulate(slots, n, last);
    std::memcpy(out_, slots + at(last) * at(n) * wire_.size(), at(n) * wire_.size());
    return n;
  }

  int by_shares() {
    std::vector<int> counts = fold_.shares;
    if (counts.empty()) {
      for (int r = 0; r < ranks_; ++r) counts.push_back(fold_.count / ranks_ + (r < fold_.count % ranks_ ? 1 : 0));
    }
    std::vector<int> firsts(counts.size(), 0);
    std::partial_sum(counts.begin(), counts.end() - 1, firsts.begin() + 1);
    const int longest = *std::max_element(counts.begin(), counts.end());
    const int step =
        static_cast<int>(std::clamp<std::size_t>(kPiece / wire_.size() / at(ranks_), 1, at(std::max(1, longest))));
    const run::AlignedBuffer scratch(at(std::min(step, counts[at(me_)])) * at(ranks_) * wire_.size());
    std::byte* const slots = scratch.data();
    std::vector<int> taken(at(ranks_)), from(at(ranks_)), mine(at(ranks_)), slot(at(ranks_));
    for (int done = 0; done < longest; done += step) {
      for (int r = 0; r < ranks_; ++r) {
        taken[at(r)] = std::clamp(counts[at(r)] - done, 0, step);
        from[at(r)] = firsts[at(r)] + std::min(done, counts[at(r)]);
      }
      const int own = taken[at(me_)];
      for (int r = 0; r < ranks_; ++r) {
        mine[at(r)] = own;
        slot[at(r)] = r * own;
      }
      check(CHASQUI_LIBRARY(Alltoallv)(in_, taken.data(), from.data(), wire_.type(), slots, mine.data(), slot.data(),
                                       wire_.type(), served_.comm()),
            "exchanging contributions");
      if (own > 0) accumulate(slots, own, ranks_ - 1);
      hand_round(slots, own, done, taken, from, mine, slot);
    }
    if (fold_.keep == Keep::share) return counts[at(me_)];
    return (fold_.keep == Keep::root && me_ != fold_.root) || (fold_.keep == Keep::before && me_ == 0) ? 0
                                                                                                       : fold_.count;
  }

  void hand_round(const std::byte* slots, int own, int done, std::vector<int> taken, const std::vector<int>& from,
                  std::vector<int> mine, std::vector<int> slot) {
    const std::byte* const result = slots + at(ranks_ - 1) * at(own) * wire_.size();
    const MPI_Datatype type = wire_.type();
    const MPI_Comm comm = served_.comm();
    switch (fold_.keep) {
      case Keep::all:
        return check(CHASQUI_LIBRARY(Allgatherv)(result, own, type, out_, taken.data(), from.data(), type, comm),
                     "handing results round");
      case Keep::root:
        return check(
            CHASQUI_LIBRARY(Gatherv)(result, own, type, out_, taken.data(), from.data(), type, fold_.root, comm),
            "bringing results to the root");
      case Keep::share:
        if (own > 0) std::memcpy(out_ + at(done) * wire_.size(), result, at(own) * wire_.size());
        return;
      case Keep::before:  // rank r gets slot r-1; rank 0 nothing
        mine[0] = 0;
        for (std::size_t r = 1; r < slot.size(); ++r) slot[r] -= own;
        if (me_ == 0) std::fill(taken.begin(), taken.end(), 0);
        [[fallthrough]];
      case Keep::upto:
        return check(CHASQUI_LIBRARY(Alltoallv)(slots, mine.data(), slot.data(), type, out_, taken.data(), from.data(),
                                                type, comm),
                     "handing prefixes round");
    }
  }

  ServedCall& served_;
  const ReproducibleFold& fold_;
  const Wire wire_;
  int ranks_, me_;
  const std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
};

}  // namespace

void fold_reproducibly(ServedCall& served, const ReproducibleFold& fold) { RankOrder(served, fold).run(); }

}  // namespace chasqui::preload
