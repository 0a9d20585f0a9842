// SPDX-License-Identifier: MIT
#include "plan/clusters/items/with_readers.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/listing.hpp"

namespace chasqui::plan {
namespace {

class WithReaders final : public Plan {
 public:
  WithReaders(const Cluster& cluster, const Problem& problem, PlanPtr equal, std::int64_t lanes)
      : Plan(cluster, problem, equal->claim()), equal_(std::move(equal)), where_(cluster.nodes), lanes_(lanes),
        home_(where_.node_of(problem.root)), root_place_(problem.root.index - where_.first_rank(home_)) {
    std::int64_t node = 0;
    for (const Nodes::Run& run : cluster.nodes.runs) {
      if (run.size > lanes_) break;
      node += run.count;
    }
    last_ = rank_of(node, where_.size(node) - 1);
  }

  LocalForm local(Rank rank) const override {
    const std::int64_t node = where_.node_of(rank), n = where_.size(node);
    const std::int64_t place = modulo(rank.index - where_.first_rank(node) - (node == home_ ? root_place_ : 0), n);
    LocalForm form = equal_->local(Rank{static_cast<std::int32_t>(node * (lanes_ + 1) + std::min(place, lanes_))});
    form.rank = rank;
    for (Send& send : form.sends) send = of_ranks(send);
    for (Send& send : form.receives) send = of_ranks(send);
    if (n == 1) form.publications.clear();
    for (Publication& publication : form.publications) publication.rank = rank;
    for (Reading& reading : form.readings) {
      reading.rank = rank;
      reading.from = of_rank(reading.from);
    }
    if (rank == last_) at_the_end(form.readings);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    require_listable({machine_, nodes_}, problem_,
                     saturating_multiply(machine_.P + 2 * where_.count(), problem_.items));
    const Schedule equal = equal_->schedule();
    Schedule all = empty_schedule();
    for (const Send& send : equal.sends) all.sends.push_back(of_ranks(send));
    for (const Publication& publication : equal.publications) {
      if (where_.size(node_of(publication.rank)) == 1) continue;
      all.publications.push_back(publication);
      all.publications.back().rank = of_rank(publication.rank);
    }
    std::vector<Reading> at_last;
    for (const Reading& reading : equal.readings) {
      const std::int64_t node = node_of(reading.rank), first = reading.rank.index % (lanes_ + 1);
      const std::int64_t end = first == lanes_ ? where_.size(node) : first + 1;
      for (std::int64_t place = first; place < end; ++place) {
        const Reading one{reading.begin, rank_of(node, place), of_rank(reading.from), reading.part, reading.second};
        (one.rank == last_ ? at_last : all.readings).push_back(one);
      }
    }
    at_the_end(at_last);
    all.readings.insert(all.readings.end(), at_last.begin(), at_last.end());
    normalise(all);
    return all;
  }

 private:
  std::int64_t node_of(Rank equal) const { return equal.index / (lanes_ + 1); }
  Rank rank_of(std::int64_t node, std::int64_t place) const {
    if (node == home_) place = (place + root_place_) % where_.size(node);
    return {static_cast<std::int32_t>(where_.first_rank(node) + place)};
  }
  Rank of_rank(Rank equal) const { return rank_of(node_of(equal), equal.index % (lanes_ + 1)); }
  Send of_ranks(Send send) const {
    send.from = of_rank(send.from);
    send.to = of_rank(send.to);
    return send;
  }
  /// The last reading ends when everything does.
  void at_the_end(std::vector<Reading>& readings) const {
    std::max_element(readings.begin(), readings.end())->begin = claim_.finish - nodes_.read;
  }

  PlanPtr equal_;
  NodeIndex where_;
  std::int64_t lanes_, home_, root_place_;
  Rank
      last_;  ///< of the ranks that only read, one with which the claim is exact: who would be the last may not be there
};

}  // namespace

PlanPtr with_readers(const Cluster& cluster, const Problem& problem,
                     const std::function<PlanPtr(const Cluster& equal, const Problem&, std::int64_t lanes)>& make) {
  const std::int64_t N = cluster.nodes.count();
  const std::int64_t lanes = std::min(cluster.nodes.smallest(), std::numeric_limits<std::int32_t>::max() / N - 1);
  if (lanes < 1) return nullptr;
  const Nodes& nodes = cluster.nodes;
  const Cluster equal = Cluster::uniform(N, lanes + 1, cluster.base, nodes.gamma, nodes.publish, nodes.read);
  Problem from_first = problem;
  from_first.root = Rank{static_cast<std::int32_t>(nodes.node_of(problem.root) * (lanes + 1))};
  PlanPtr plan = make(equal, from_first, lanes);
  return plan ? std::make_shared<WithReaders>(cluster, problem, std::move(plan), lanes) : nullptr;
}

}  // namespace chasqui::plan
