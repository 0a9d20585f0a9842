// SPDX-License-Identifier: MIT
// MPICH's file. A program that calls what the file does not name aborts, so every collective stands in it; kDefaults says for each what
// MPICH 4.0 itself takes, in a short form: a test and what follows in braces; @ before an algorithm.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "chasqui/base/error.hpp"
#include "chasqui/tune/rules.hpp"

namespace chasqui::tune {
namespace {

using Json = nlohmann::ordered_json;

struct Default {
  std::string_view collective;
  std::string_view intra;  ///< empty: `inter` holds for all communicators
  std::string_view inter;
};

// avg: avg_msg_size, total: total_msg_size.
constexpr Default kDefaults[] = {
    {"bcast",
     "comm_size<=7{@Bcast_intra_binomial}"
     "comm_size=pow2{avg<=12288{@Bcast_intra_binomial}avg<=524288{@Bcast_intra_scatter_recursive_doubling_allgather}"
     "avg=any{@Bcast_intra_scatter_ring_allgather}}"
     "comm_size=any{avg<=12288{@Bcast_intra_binomial}avg=any{@Bcast_intra_scatter_ring_allgather}}",
     "@Bcast_inter_remote_send_local_bcast"},
    {"allreduce",
     "avg<=8{@Allreduce_intra_recursive_doubling}"
     "avg=any{is_op_built_in=no{@Allreduce_intra_recursive_doubling}"
     "is_op_built_in=yes{count<pow2{@Allreduce_intra_recursive_doubling}"
     "count=any{@Allreduce_intra_reduce_scatter_allgather}}}",
     "@Allreduce_inter_reduce_exchange_bcast"},
    {"reduce",
     "avg<=2048{@Reduce_intra_binomial}"
     "avg=any{is_op_built_in=no{@Reduce_intra_binomial}"
     "is_op_built_in=yes{count<pow2{@Reduce_intra_binomial}count=any{@Reduce_intra_reduce_scatter_gather}}}",
     "@Reduce_inter_local_reduce_remote_send"},
    {"allgather",
     "comm_size=pow2{total<524288{@Allgather_intra_recursive_doubling}total=any{@Allgather_intra_ring}}"
     "comm_size=any{total<81920{@Allgather_intra_brucks}total=any{@Allgather_intra_ring}}",
     "@Allgather_inter_local_gather_remote_bcast"},
    {"allgatherv",
     "comm_size=pow2{total<524288{@Allgatherv_intra_recursive_doubling}total=any{@Allgatherv_intra_ring}}"
     "comm_size=any{total<81920{@Allgatherv_intra_brucks}total=any{@Allgatherv_intra_ring}}",
     "@Allgatherv_inter_remote_gather_local_bcast"},
    {"reduce_scatter",
     "is_commutative=yes{total<524288{@Reduce_scatter_intra_recursive_halving}total=any{@Reduce_scatter_intra_pairwise}}"
     "is_commutative=no{@Reduce_scatter_intra_recursive_doubling}",
     "@Reduce_scatter_inter_remote_reduce_local_scatter"},
    {"reduce_scatter_block",
     "is_commutative=yes{total<524288{@Reduce_scatter_block_intra_recursive_halving}"
     "total=any{@Reduce_scatter_block_intra_pairwise}}"
     "is_commutative=no{@Reduce_scatter_block_intra_recursive_doubling}",
     "@Reduce_scatter_block_inter_remote_reduce_local_scatter"},
    {"gather", "@Gather_intra_binomial", "@Gather_inter_linear"},
    {"scatter", "@Scatter_intra_binomial", "@Scatter_inter_linear"},
    {"gatherv", "", "@Gatherv_allcomm_linear"},
    {"scatterv", "", "@Scatterv_allcomm_linear"},
    {"scan", "", "@Scan_intra_recursive_doubling"},
    {"exscan", "", "@Exscan_intra_recursive_doubling"},
    {"barrier", "@Barrier_intra_dissemination", "@Barrier_inter_bcast"},
    {"alltoall",
     "is_sendbuf_inplace=yes{@Alltoall_intra_pairwise_sendrecv_replace}"
     "is_sendbuf_inplace=no{comm_size<=7{avg<=32768{@Alltoall_intra_scattered}avg=any{@Alltoall_intra_pairwise}}"
     "comm_size=any{avg<=256{@Alltoall_intra_brucks}avg<=32768{@Alltoall_intra_scattered}avg=any{@Alltoall_intra_pairwise}}}",
     "@Alltoall_inter_pairwise_exchange"},
    {"alltoallv",
     "is_sendbuf_inplace=yes{@Alltoallv_intra_pairwise_sendrecv_replace}is_sendbuf_inplace=no{@Alltoallv_intra_scattered}",
     "@Alltoallv_inter_pairwise_exchange"},
    {"alltoallw",
     "is_sendbuf_inplace=yes{@Alltoallw_intra_pairwise_sendrecv_replace}is_sendbuf_inplace=no{@Alltoallw_intra_scattered}",
     "@Alltoallw_inter_pairwise_exchange"},
    {"neighbor_allgather", "", "@Neighbor_allgather_allcomm_nb"},
    {"neighbor_allgatherv", "", "@Neighbor_allgatherv_allcomm_nb"},
    {"neighbor_alltoall", "", "@Neighbor_alltoall_allcomm_nb"},
    {"neighbor_alltoallv", "", "@Neighbor_alltoallv_allcomm_nb"},
    {"neighbor_alltoallw", "", "@Neighbor_alltoallw_allcomm_nb"},
    {"ibarrier", "@Ibarrier_intra_sched_recursive_doubling", "@Ibarrier_inter_sched_bcast"},
    {"ibcast",
     "comm_size<=7{@Ibcast_intra_sched_binomial}"
     "comm_size=pow2{avg<12288{@Ibcast_intra_sched_binomial}avg<524288{@Ibcast_intra_sched_scatter_recursive_doubling_allgather}"
     "avg=any{@Ibcast_intra_sched_scatter_ring_allgather}}"
     "comm_size=any{avg<12288{@Ibcast_intra_sched_binomial}avg=any{@Ibcast_intra_sched_scatter_ring_allgather}}",
     "@Ibcast_inter_sched_flat"},
    {"iallreduce",
     "avg<=2048{@Iallreduce_intra_sched_recursive_doubling}"
     "avg=any{is_op_built_in=no{@Iallreduce_intra_sched_recursive_doubling}"
     "is_op_built_in=yes{count<pow2{@Iallreduce_intra_sched_recursive_doubling}"
     "count=any{@Iallreduce_intra_sched_reduce_scatter_allgather}}}",
     "@Iallreduce_inter_sched_remote_reduce_local_bcast"},
    {"ireduce",
     "avg<=2048{@Ireduce_intra_sched_binomial}"
     "avg=any{is_op_built_in=no{@Ireduce_intra_sched_binomial}"
     "is_op_built_in=yes{count<pow2{@Ireduce_intra_sched_binomial}"
     "count=any{@Ireduce_intra_sched_reduce_scatter_gather}}}",
     "@Ireduce_inter_sched_local_reduce_remote_send"},
    {"iallgather",
     "comm_size=pow2{total<524288{@Iallgather_intra_sched_recursive_doubling}total=any{@Iallgather_intra_sched_ring}}"
     "comm_size=any{total<81920{@Iallgather_intra_sched_brucks}total=any{@Iallgather_intra_sched_ring}}",
     "@Iallgather_inter_sched_local_gather_remote_bcast"},
    {"iallgatherv",
     "comm_size=pow2{total<524288{@Iallgatherv_intra_sched_recursive_doubling}total=any{@Iallgatherv_intra_sched_ring}}"
     "comm_size=any{total<81920{@Iallgatherv_intra_sched_brucks}total=any{@Iallgatherv_intra_sched_ring}}",
     "@Iallgatherv_inter_sched_remote_gather_local_bcast"},
    {"ireduce_scatter",
     "is_commutative=yes{total<524288{@Ireduce_scatter_intra_sched_recursive_halving}"
     "total=any{@Ireduce_scatter_intra_sched_pairwise}}"
     "is_commutative=no{@Ireduce_scatter_intra_sched_recursive_doubling}",
     "@Ireduce_scatter_inter_sched_remote_reduce_local_scatterv"},
    {"ireduce_scatter_block",
     "is_commutative=yes{total<524288{@Ireduce_scatter_block_intra_sched_recursive_halving}"
     "total=any{@Ireduce_scatter_block_intra_sched_pairwise}}"
     "is_commutative=no{@Ireduce_scatter_block_intra_sched_recursive_doubling}",
     "@Ireduce_scatter_block_inter_sched_remote_reduce_local_scatterv"},
    {"igather", "@Igather_intra_sched_binomial", "@Igather_inter_sched_long"},
    {"iscatter", "@Iscatter_intra_sched_binomial", "@Iscatter_inter_sched_linear"},
    {"igatherv", "", "@Igatherv_allcomm_sched_linear"},
    {"iscatterv", "", "@Iscatterv_allcomm_sched_linear"},
    {"iscan", "", "@Iscan_intra_sched_recursive_doubling"},
    {"iexscan", "", "@Iexscan_intra_sched_recursive_doubling"},
    {"ialltoall",
     "is_sendbuf_inplace=yes{@Ialltoall_intra_sched_inplace}"
     "is_sendbuf_inplace=no{comm_size<=7{avg<=32768{@Ialltoall_intra_sched_permuted_sendrecv}"
     "avg=any{@Ialltoall_intra_sched_pairwise}}"
     "comm_size=any{avg<=2048{@Ialltoall_intra_sched_brucks}avg<=32768{@Ialltoall_intra_sched_permuted_sendrecv}"
     "avg=any{@Ialltoall_intra_sched_pairwise}}}",
     "@Ialltoall_inter_sched_pairwise_exchange"},
    {"ialltoallv",
     "is_sendbuf_inplace=yes{@Ialltoallv_intra_sched_inplace}is_sendbuf_inplace=no{@Ialltoallv_intra_sched_blocked}",
     "@Ialltoallv_inter_sched_pairwise_exchange"},
    {"ialltoallw",
     "is_sendbuf_inplace=yes{@Ialltoallw_intra_sched_inplace}is_sendbuf_inplace=no{@Ialltoallw_intra_sched_blocked}",
     "@Ialltoallw_inter_sched_pairwise_exchange"},
    {"ineighbor_allgather", "", "@Ineighbor_allgather_allcomm_sched_linear"},
    {"ineighbor_allgatherv", "", "@Ineighbor_allgatherv_allcomm_sched_linear"},
    {"ineighbor_alltoall", "", "@Ineighbor_alltoall_allcomm_sched_linear"},
    {"ineighbor_alltoallv", "", "@Ineighbor_alltoallv_allcomm_sched_linear"},
    {"ineighbor_alltoallw", "", "@Ineighbor_alltoallw_allcomm_sched_linear"},
};

Json leaf(const std::string& algorithm, const Json& parameters = Json::object()) {
  return {{"algorithm=MPIR_" + algorithm, parameters}};
}

/// The short form of kDefaults as nested objects.
Json expand(std::string_view text) {
  if (text.front() == '@') return leaf(std::string(text.substr(1)));
  Json object = Json::object();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    std::size_t end = open, depth = 0;
    do {
      depth += text[end] == '{' ? 1 : 0;
      depth -= text[end] == '}' ? 1 : 0;
      ++end;
    } while (depth > 0);
    std::string test(text.substr(at, open - at));
    if (test.starts_with("avg")) test.replace(0, 3, "avg_msg_size");
    if (test.starts_with("total")) test.replace(0, 5, "total_msg_size");
    object[test] = expand(text.substr(open + 1, end - open - 2));
    at = end;
  }
  return object;
}

const Default& default_of(std::string_view collective) {
  const auto* found = std::find_if(std::begin(kDefaults), std::end(kDefaults),
                                   [&](const Default& row) { return row.collective == collective; });
  CHASQUI_CHECK(found != std::end(kDefaults), "{}", collective);
  return *found;
}
Json default_json(std::string_view collective) {
  const Default& row = default_of(collective);
  return expand(row.intra.empty() ? row.inter : row.intra);
}

std::string capital(std::string_view word) {
  std::string text(word);
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// What is waited for. All parameters must stand there: those left out hold whatever was in memory.
Json inner_leaf(const Algorithm& algorithm) {
  Json parameters = Json::object();
  const bool tree = algorithm.name == "tsp_tree", is_bcast = algorithm.collective == "bcast";
  if (tree && (is_bcast || algorithm.collective == "reduce" || algorithm.collective == "allreduce")) {
    parameters["tree_type=0"] = Json::object();  // k-ary
    parameters[fmt::format("k={}", algorithm.fan)] = Json::object();
    parameters[fmt::format("chunk_size={}", algorithm.segment)] = Json::object();
    if (!is_bcast) parameters["buffer_per_child=0"] = Json::object();
  } else if (algorithm.name == "tsp_ring" && is_bcast) {
    parameters[fmt::format("chunk_size={}", algorithm.segment)] = Json::object();
  } else if (algorithm.fan > 0) {
    parameters[fmt::format("k={}", algorithm.fan)] = Json::object();
  }
  return leaf(fmt::format("I{}_intra_{}", algorithm.collective, algorithm.name), parameters);
}

/// One choice as a chain of sizes. `inner`: for the non-blocking twin, which matters where it is waited for.
Json chain(const Choice& choice, bool inner) {
  const std::string other = inner ? "i" + choice.collective : choice.collective;
  const auto one = [&](const Algorithm& algorithm) {
    const bool waits = algorithm.inner != 0;
    if (algorithm.number == 0 || (inner && !waits)) return default_json(other);
    if (inner) return inner_leaf(algorithm);
    if (waits) return leaf(capital(choice.collective) + "_allcomm_nb");
    return leaf(fmt::format("{}_intra_{}", capital(choice.collective), algorithm.name));
  };
  if (choice.steps.size() == 1) return one(choice.steps.front().algorithm);
  const bool total = choice.collective.starts_with("allgather") || choice.collective.starts_with("reduce_scatter");
  const std::string test = total ? "total_msg_size" : "avg_msg_size";
  Json object = Json::object();
  for (std::size_t i = 0; i < choice.steps.size(); ++i) {
    const std::string bound = i + 1 == choice.steps.size()
                                  ? "=any"
                                  : fmt::format("<={}", choice.steps[i + 1].bytes * (total ? choice.ranks : 1) - 1);
    object[test + bound] = one(choice.steps[i].algorithm);
  }
  return object;
}

/// Only the commutative may be reordered, and in place is another algorithm: those tests stay above the choices.
Json guarded(std::string_view collective, const Json& own) {
  if (collective.find("reduce_scatter") != std::string_view::npos)
    return {{"is_commutative=yes", own}, {"is_commutative=no", default_json(collective)["is_commutative=no"]}};
  if (collective.find("alltoall") != std::string_view::npos)
    return {{"is_sendbuf_inplace=yes", default_json(collective)["is_sendbuf_inplace=yes"]},
            {"is_sendbuf_inplace=no", own}};
  if (collective.ends_with("reduce"))  // algorithms by chunks need a built-in operation, the others do not mind
    return {{"is_op_built_in=yes", own}, {"is_op_built_in=no", default_json(collective)}};
  return own;
}

}  // namespace

std::string mpich_json(const Rules& rules) {
  CHASQUI_CHECK(rules.library == Library::mpich, "rules of {}", to_string(rules.library));
  std::map<std::string, Json> tuned;  // by collective: tests of communicator sizes
  const auto add = [&](const std::string& collective, int ranks, const Json& own) {
    Json& sizes = tuned.try_emplace(collective, Json::object()).first->second;
    if (ranks > 2) sizes[fmt::format("comm_size<={}", ranks - 1)] = default_json(collective);
    sizes[fmt::format("comm_size<={}", ranks)] = guarded(collective, own);
  };
  for (const Choice& choice : rules.choices) {
    CHASQUI_CHECK(!choice.steps.empty() && choice.steps.front().bytes == 0, "{}", choice.collective);
    CHASQUI_CHECK(choice.steps.size() == 1 || tells_sizes(Library::mpich, choice.collective), "{}", choice.collective);
    add(choice.collective, choice.ranks, chain(choice, false));
    const bool waits = std::any_of(choice.steps.begin(), choice.steps.end(),
                                   [](const Step& step) { return step.algorithm.inner != 0; });
    if (waits) add("i" + choice.collective, choice.ranks, chain(choice, true));
  }
  Json file = Json::object();
  for (const Default& row : kDefaults) {
    const auto found = tuned.find(std::string(row.collective));
    Json own = expand(row.intra.empty() ? row.inter : row.intra);
    if (found != tuned.end()) {
      found->second["comm_size=any"] = own;
      own = found->second;
    }
    Json& object = file["collective=" + std::string(row.collective)];
    if (row.intra.empty()) object = own;
    else object = {{"comm_type=intra", own}, {"comm_type=inter", expand(row.inter)}};
  }
  std::string text = file.dump(1) + "\n";
  if (text.size() % 4096 == 0) text += "\n";  // it is read as a string that ends where its last page has zeros
  return text;
}

}  // namespace chasqui::tune
