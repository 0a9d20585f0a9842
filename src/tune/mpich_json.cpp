// SPDX-License-Identifier: MIT
// MPICH's file. A program that calls what the file does not name aborts, so every collective stands in it; kDefaults says for each what
// MPICH 4.0 itself takes, in a short form: a test and what follows in braces; @ stands for MPIR_ and the collective.
#include <fmt/core.h>

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
     "comm_size<=7{@intra_binomial}comm_size=pow2{avg<=12288{@intra_binomial}"
     "avg<=524288{@intra_scatter_recursive_doubling_allgather}avg=any{@intra_scatter_ring_allgather}}"
     "comm_size=any{avg<=12288{@intra_binomial}avg=any{@intra_scatter_ring_allgather}}",
     "@inter_remote_send_local_bcast"},
    {"allreduce",
     "avg<=8{@intra_recursive_doubling}avg=any{is_op_built_in=no{@intra_recursive_doubling}"
     "is_op_built_in=yes{count<pow2{@intra_recursive_doubling}count=any{@intra_reduce_scatter_allgather}}}",
     "@inter_reduce_exchange_bcast"},
    {"reduce",
     "avg<=2048{@intra_binomial}avg=any{is_op_built_in=no{@intra_binomial}"
     "is_op_built_in=yes{count<pow2{@intra_binomial}count=any{@intra_reduce_scatter_gather}}}",
     "@inter_local_reduce_remote_send"},
    {"allgather",
     "comm_size=pow2{total<524288{@intra_recursive_doubling}total=any{@intra_ring}}"
     "comm_size=any{total<81920{@intra_brucks}total=any{@intra_ring}}",
     "@inter_local_gather_remote_bcast"},
    {"allgatherv",
     "comm_size=pow2{total<524288{@intra_recursive_doubling}total=any{@intra_ring}}"
     "comm_size=any{total<81920{@intra_brucks}total=any{@intra_ring}}",
     "@inter_remote_gather_local_bcast"},
    {"reduce_scatter",
     "is_commutative=yes{total<524288{@intra_recursive_halving}total=any{@intra_pairwise}}"
     "is_commutative=no{@intra_recursive_doubling}",
     "@inter_remote_reduce_local_scatter"},
    {"reduce_scatter_block",
     "is_commutative=yes{total<524288{@intra_recursive_halving}total=any{@intra_pairwise}}"
     "is_commutative=no{@intra_recursive_doubling}",
     "@inter_remote_reduce_local_scatter"},
    {"gather", "@intra_binomial", "@inter_linear"},
    {"scatter", "@intra_binomial", "@inter_linear"},
    {"gatherv", "", "@allcomm_linear"},
    {"scatterv", "", "@allcomm_linear"},
    {"scan", "", "@intra_recursive_doubling"},
    {"exscan", "", "@intra_recursive_doubling"},
    {"barrier", "@intra_dissemination", "@inter_bcast"},
    {"alltoall",
     "is_sendbuf_inplace=yes{@intra_pairwise_sendrecv_replace}"
     "is_sendbuf_inplace=no{comm_size<=7{avg<=32768{@intra_scattered}avg=any{@intra_pairwise}}"
     "comm_size=any{avg<=256{@intra_brucks}avg<=32768{@intra_scattered}avg=any{@intra_pairwise}}}",
     "@inter_pairwise_exchange"},
    {"alltoallv", "is_sendbuf_inplace=yes{@intra_pairwise_sendrecv_replace}is_sendbuf_inplace=no{@intra_scattered}",
     "@inter_pairwise_exchange"},
    {"alltoallw", "is_sendbuf_inplace=yes{@intra_pairwise_sendrecv_replace}is_sendbuf_inplace=no{@intra_scattered}",
     "@inter_pairwise_exchange"},
    {"neighbor_allgather", "", "@allcomm_nb"},
    {"neighbor_allgatherv", "", "@allcomm_nb"},
    {"neighbor_alltoall", "", "@allcomm_nb"},
    {"neighbor_alltoallv", "", "@allcomm_nb"},
    {"neighbor_alltoallw", "", "@allcomm_nb"},
    {"ibarrier", "@intra_sched_recursive_doubling", "@inter_sched_bcast"},
    {"ibcast",
     "comm_size<=7{@intra_sched_binomial}comm_size=pow2{avg<12288{@intra_sched_binomial}"
     "avg<524288{@intra_sched_scatter_recursive_doubling_allgather}avg=any{@intra_sched_scatter_ring_allgather}}"
     "comm_size=any{avg<12288{@intra_sched_binomial}avg=any{@intra_sched_scatter_ring_allgather}}",
     "@inter_sched_flat"},
    {"iallreduce",
     "avg<=2048{@intra_sched_recursive_doubling}avg=any{is_op_built_in=no{@intra_sched_recursive_doubling}"
     "is_op_built_in=yes{count<pow2{@intra_sched_recursive_doubling}count=any{@intra_sched_reduce_scatter_allgather}}}",
     "@inter_sched_remote_reduce_local_bcast"},
    {"ireduce",
     "avg<=2048{@intra_sched_binomial}avg=any{is_op_built_in=no{@intra_sched_binomial}"
     "is_op_built_in=yes{count<pow2{@intra_sched_binomial}count=any{@intra_sched_reduce_scatter_gather}}}",
     "@inter_sched_local_reduce_remote_send"},
    {"iallgather",
     "comm_size=pow2{total<524288{@intra_sched_recursive_doubling}total=any{@intra_sched_ring}}"
     "comm_size=any{total<81920{@intra_sched_brucks}total=any{@intra_sched_ring}}",
     "@inter_sched_local_gather_remote_bcast"},
    {"iallgatherv",
     "comm_size=pow2{total<524288{@intra_sched_recursive_doubling}total=any{@intra_sched_ring}}"
     "comm_size=any{total<81920{@intra_sched_brucks}total=any{@intra_sched_ring}}",
     "@inter_sched_remote_gather_local_bcast"},
    {"ireduce_scatter",
     "is_commutative=yes{total<524288{@intra_sched_recursive_halving}total=any{@intra_sched_pairwise}}"
     "is_commutative=no{@intra_sched_recursive_doubling}",
     "@inter_sched_remote_reduce_local_scatterv"},
    {"ireduce_scatter_block",
     "is_commutative=yes{total<524288{@intra_sched_recursive_halving}total=any{@intra_sched_pairwise}}"
     "is_commutative=no{@intra_sched_recursive_doubling}",
     "@inter_sched_remote_reduce_local_scatterv"},
    {"igather", "@intra_sched_binomial", "@inter_sched_long"},
    {"iscatter", "@intra_sched_binomial", "@inter_sched_linear"},
    {"igatherv", "", "@allcomm_sched_linear"},
    {"iscatterv", "", "@allcomm_sched_linear"},
    {"iscan", "", "@intra_sched_recursive_doubling"},
    {"iexscan", "", "@intra_sched_recursive_doubling"},
    {"ialltoall",
     "is_sendbuf_inplace=yes{@intra_sched_inplace}"
     "is_sendbuf_inplace=no{comm_size<=7{avg<=32768{@intra_sched_permuted_sendrecv}avg=any{@intra_sched_pairwise}}"
     "comm_size=any{avg<=2048{@intra_sched_brucks}avg<=32768{@intra_sched_permuted_sendrecv}"
     "avg=any{@intra_sched_pairwise}}}",
     "@inter_sched_pairwise_exchange"},
    {"ialltoallv", "is_sendbuf_inplace=yes{@intra_sched_inplace}is_sendbuf_inplace=no{@intra_sched_blocked}",
     "@inter_sched_pairwise_exchange"},
    {"ialltoallw", "is_sendbuf_inplace=yes{@intra_sched_inplace}is_sendbuf_inplace=no{@intra_sched_blocked}",
     "@inter_sched_pairwise_exchange"},
    {"ineighbor_allgather", "", "@allcomm_sched_linear"},
    {"ineighbor_allgatherv", "", "@allcomm_sched_linear"},
    {"ineighbor_alltoall", "", "@allcomm_sched_linear"},
    {"ineighbor_alltoallv", "", "@allcomm_sched_linear"},
    {"ineighbor_alltoallw", "", "@allcomm_sched_linear"},
};

Json leaf(const std::string& algorithm, const Json& parameters = Json::object()) {
  return {{"algorithm=MPIR_" + algorithm, parameters}};
}

std::string capital(std::string_view word) {
  std::string text(word);
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// The short form of kDefaults as nested objects.
Json expand(std::string_view collective, std::string_view text) {
  if (text.front() == '@') return leaf(fmt::format("{}_{}", capital(collective), text.substr(1)));
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
    object[test] = expand(collective, text.substr(open + 1, end - open - 2));
    at = end;
  }
  return object;
}

Json default_json(std::string_view collective) {
  const auto* row = std::find_if(std::begin(kDefaults), std::end(kDefaults),
                                 [&](const Default& each) { return each.collective == collective; });
  CHASQUI_CHECK(row != std::end(kDefaults), "{}", collective);
  return expand(collective, row->intra.empty() ? row->inter : row->intra);
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
    Json own = default_json(row.collective);
    if (found != tuned.end()) {
      found->second["comm_size=any"] = own;
      own = found->second;
    }
    Json& object = file["collective=" + std::string(row.collective)];
    if (row.intra.empty()) object = own;
    else object = {{"comm_type=intra", own}, {"comm_type=inter", expand(row.collective, row.inter)}};
  }
  std::string text = file.dump(1) + "\n";
  if (text.size() % 4096 == 0) text += "\n";  // it is read as a string that ends where its last page has zeros
  return text;
}

}  // namespace chasqui::tune
