// SPDX-License-Identifier: MIT
// The runtime half of chasqui.h: a communicator, its calls, and what was started.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "c/boundary.hpp"
#include "c/typed.hpp"
#include "chasqui/group/join.hpp"
#include "chasqui/run/comm.hpp"
#include "run/comm/fabric.hpp"

struct chasqui_comm {
  std::unique_ptr<chasqui::run::Comm> comm;
  bool in_order = false;
};

/// After the sums of an average, each is divided.
struct chasqui_request {
  chasqui_comm* comm;
  chasqui::run::Request request;
  void* average = nullptr;
  std::int64_t count = 0;
  chasqui::c::Type type{};
};

namespace chasqui::c {
namespace {

/// The same for what goes over a communicator: after a failure that the other ranks hear of, it is of no use any more.
template <typename Body>
int guarded_by(const chasqui_comm* comm, Body&& body) noexcept {
  const int code = guarded_call([&] { body(*given(comm, "comm")); });
  return code == CHASQUI_ERROR_INPUT && comm != nullptr && run::broken(*comm->comm) ? CHASQUI_ERROR_GROUP : code;
}

/// A value of an enumeration of the header as the one of ours with the same number.
Type type_of(run::Comm& comm, chasqui_type type) {
  static_assert(CHASQUI_BOOL == static_cast<int>(Type::boolean) && CHASQUI_F16 == static_cast<int>(Type::f16) &&
                CHASQUI_U64 == static_cast<int>(Type::u64));
  if (static_cast<unsigned>(type) >= static_cast<unsigned>(kTypes))
    comm.refuse(fmt::format("type {}: expected CHASQUI_I8 .. CHASQUI_BOOL", static_cast<int>(type)));
  return static_cast<Type>(type);
}

run::Operator operator_for(chasqui_comm& comm, Type type, chasqui_operation operation) {
  static_assert(CHASQUI_XOR == static_cast<int>(Folding::bit_xor) && CHASQUI_MAX == static_cast<int>(Folding::maximum));
  if (static_cast<unsigned>(operation) > CHASQUI_AVERAGE)
    comm.comm->refuse(
        fmt::format("operation {}: expected CHASQUI_SUM .. CHASQUI_AVERAGE", static_cast<int>(operation)));
  const bool averages = operation == CHASQUI_AVERAGE;
  const run::Operator& found = typed_operator(type, averages ? Folding::sum : static_cast<Folding>(operation));
  if (found.combine == nullptr) comm.comm->refuse(fmt::format("bit operations are not for {}", to_string(type)));
  if (averages && !is_floating(type))
    comm.comm->refuse(fmt::format("averages are for floats, not for {}: sum, then divide", to_string(type)));
  run::Operator op = found;
  op.in_order = op.in_order || comm.in_order;
  return op;
}

/// To its end, or begun. `average`: where sums become averages at the end.
void run_or_start(chasqui_comm& comm, const run::Call& call, Type type, chasqui_request** request,
                  void* average = nullptr, std::shared_ptr<const void> kept = nullptr) {
  if (request == nullptr) {
    comm.comm->run(call);
    if (average != nullptr) divide(type, average, static_cast<std::size_t>(call.count), comm.comm->size());
    return;
  }
  *request = nullptr;
  auto started = std::make_unique<chasqui_request>(chasqui_request{&comm, {}, average, call.count, type});
  started->request = comm.comm->start(call, std::move(kept));
  *request = started.release();
}

int move(chasqui_comm* comm, Kind kind, const void* in, void* out, int64_t count, chasqui_type type, int root,
         chasqui_request** request) noexcept {
  return guarded_by(comm, [&](const chasqui_comm&) {
    const Type known = type_of(*comm->comm, type);
    run_or_start(*comm, {.kind = kind, .in = in, .out = out, .count = count, .element = bytes_of(known), .root = root},
                 known, request);
  });
}

int fold(chasqui_comm* comm, Kind kind, const void* in, void* out, int64_t count, chasqui_type type,
         chasqui_operation operation, int root, bool exclusive, chasqui_request** request) noexcept {
  return guarded_by(comm, [&](const chasqui_comm&) {
    const Type known = type_of(*comm->comm, type);
    const int rank = comm->comm->rank();
    if (kind == Kind::scan && operation == CHASQUI_AVERAGE) comm->comm->refuse("scan: there are no averages of a part");
    const bool gets = kind == Kind::reduce ? rank == root : kind != Kind::scan || !exclusive || rank > 0;
    run_or_start(*comm,
                 {.kind = kind,
                  .in = in,
                  .out = out,
                  .count = count,
                  .element = bytes_of(known),
                  .op = operator_for(*comm, known, operation),
                  .root = root,
                  .exclusive = exclusive},
                 known, request, operation == CHASQUI_AVERAGE && gets ? out : nullptr);
  });
}

/// The blocks of an all-gather whose ranks have different numbers of elements: as long as the longest on their way.
struct Ragged {
  std::vector<std::int64_t> counts, offsets;
  std::size_t element;
  std::int64_t longest, own;

  static void pack(void* context, const void* from, std::size_t, std::size_t, void* packed) {
    const auto& ragged = *static_cast<const Ragged*>(context);
    if (ragged.own != 0) std::memcpy(packed, from, static_cast<std::size_t>(ragged.own) * ragged.element);
  }
  static void unpack(void* context, void* to, std::size_t, std::size_t, const void* packed) {
    const auto& ragged = *static_cast<const Ragged*>(context);
    const auto bytes = [&](std::int64_t elements) {
      return static_cast<std::ptrdiff_t>(elements) * static_cast<std::ptrdiff_t>(ragged.element);
    };
    for (std::size_t r = 0; r < ragged.counts.size(); ++r) {
      const auto* from = static_cast<const std::byte*>(packed) + bytes(ragged.longest) * static_cast<std::ptrdiff_t>(r);
      if (ragged.counts[r] != 0)
        std::memcpy(static_cast<std::byte*>(to) + bytes(ragged.offsets[r]), from,
                    static_cast<std::size_t>(bytes(ragged.counts[r])));
    }
  }
};

void complete(chasqui_request& request) {
  if (request.average == nullptr) return;
  divide(request.type, request.average, static_cast<std::size_t>(request.count), request.comm->comm->size());
}

}  // namespace
}  // namespace chasqui::c

using namespace chasqui;
using namespace chasqui::c;

int chasqui_join(const chasqui_join_options* options, chasqui_comm** comm) {
  return guarded([&] {
    *given(comm, "comm") = nullptr;
    chasqui_join_options wanted = CHASQUI_JOIN_OPTIONS;
    if (options != nullptr) {
      if (options->bytes == 0 || options->bytes > sizeof wanted)
        throw Error("options->bytes is {}: begin with CHASQUI_JOIN_OPTIONS of this version's chasqui.h",
                    options->bytes);
      std::memcpy(&wanted, options, options->bytes);
    }
    group::Options how;
    how.rank = wanted.rank;
    how.size = wanted.size;
    if (wanted.rendezvous != nullptr) how.rendezvous = wanted.rendezvous;
    if (wanted.secret != nullptr) how.secret = wanted.secret;
    how.timeout = wanted.timeout;
    how.patience = wanted.patience;
    auto made = std::make_unique<chasqui_comm>();
    made->comm = group::join(std::move(how));
    made->in_order = wanted.reproducible != 0;
    *comm = made.release();
  });
}

int chasqui_comm_free(chasqui_comm* comm) {
  return guarded([&] { delete comm; });
}

int chasqui_comm_rank(const chasqui_comm* comm) {
  return comm != nullptr ? comm->comm->rank() : guarded([&] { given(comm, "comm"); });
}

int chasqui_comm_size(const chasqui_comm* comm) {
  return comm != nullptr ? comm->comm->size() : guarded([&] { given(comm, "comm"); });
}

int chasqui_comm_split(chasqui_comm* comm, int colour, int key, chasqui_comm** part) {
  return guarded_by(comm, [&](const chasqui_comm& whole) {
    *given(part, "part") = nullptr;
    auto made = std::make_unique<chasqui_comm>();
    made->comm = comm->comm->split(colour, key);
    made->in_order = whole.in_order;
    if (made->comm != nullptr) *part = made.release();
  });
}

int chasqui_comm_set_timeout(chasqui_comm* comm, double seconds) {
  return guarded_by(comm, [&](const chasqui_comm&) { group::set_timeout(*comm->comm, seconds); });
}

int chasqui_comm_set_reproducible(chasqui_comm* comm, int on) {
  return guarded_by(comm, [&](const chasqui_comm&) { comm->in_order = on != 0; });
}

int chasqui_comm_leave(chasqui_comm* comm, const char* why) {
  return guarded([&] { given(comm, "comm")->comm->leave(why != nullptr ? why : "it says no more"); });
}

int chasqui_barrier(chasqui_comm* comm, chasqui_request** request) {
  return guarded_by(comm, [&](const chasqui_comm&) { run_or_start(*comm, {}, Type::u8, request); });
}

int chasqui_broadcast(chasqui_comm* comm, void* data, int64_t count, chasqui_type type, int root,
                      chasqui_request** request) {
  return move(comm, Kind::broadcast, nullptr, data, count, type, root, request);
}

int chasqui_reduce(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                   chasqui_operation operation, int root, chasqui_request** request) {
  return fold(comm, Kind::reduce, in, out, count, type, operation, root, false, request);
}

int chasqui_allreduce(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                      chasqui_operation operation, chasqui_request** request) {
  return fold(comm, Kind::allreduce, in, out, count, type, operation, 0, false, request);
}

int chasqui_scan(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                 chasqui_operation operation, int exclusive, chasqui_request** request) {
  return fold(comm, Kind::scan, in, out, count, type, operation, 0, exclusive != 0, request);
}

int chasqui_allgather(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                      chasqui_request** request) {
  return move(comm, Kind::allgather, in, out, count, type, 0, request);
}

int chasqui_allgatherv(chasqui_comm* comm, const void* in, void* out, const int64_t* counts, const int64_t* offsets,
                       chasqui_type type, chasqui_request** request) {
  return guarded_by(comm, [&](const chasqui_comm& whole) {
    run::Comm& ranks = *whole.comm;
    const Type known = type_of(ranks, type);
    if (counts == nullptr || offsets == nullptr) ranks.refuse("allgatherv: counts or offsets is a null pointer");
    const auto size = static_cast<std::size_t>(ranks.size()), me = static_cast<std::size_t>(ranks.rank());
    const auto ragged = std::make_shared<Ragged>(
        Ragged{{counts, counts + size}, {offsets, offsets + size}, bytes_of(known), 0, counts[me]});
    for (const std::int64_t each : ragged->counts) {
      if (each < 0) ranks.refuse(fmt::format("allgatherv: a count of {}", each));
      ragged->longest = std::max(ragged->longest, each);
    }
    for (std::size_t r = 0; r < size; ++r) {
      if (counts[r] != 0 && offsets[r] < 0)
        ranks.refuse(fmt::format("allgatherv: the block of rank {} at offset {} of the buffer", r, offsets[r]));
    }
    if (in == nullptr && counts[me] != 0 && out != nullptr)  // in place
      in = static_cast<const std::byte*>(out) + static_cast<std::size_t>(offsets[me]) * ragged->element;
    if (in == nullptr) in = &ragged;  // nothing is read from it
    const run::Layout layout{.pack = Ragged::pack, .unpack = Ragged::unpack, .context = ragged.get()};
    run_or_start(*comm,
                 {.kind = Kind::allgather,
                  .in = in,
                  .out = out,
                  .count = ragged->longest,
                  .element = ragged->element,
                  .in_layout = layout,
                  .out_layout = layout},
                 known, request, nullptr, ragged);
  });
}

int chasqui_gather(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type, int root,
                   chasqui_request** request) {
  return move(comm, Kind::gather, in, out, count, type, root, request);
}

int chasqui_scatter(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type, int root,
                    chasqui_request** request) {
  return move(comm, Kind::scatter, in, out, count, type, root, request);
}

int chasqui_reduce_scatter(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                           chasqui_operation operation, chasqui_request** request) {
  return fold(comm, Kind::reduce_scatter, in, out, count, type, operation, 0, false, request);
}

int chasqui_alltoall(chasqui_comm* comm, const void* in, void* out, int64_t count, chasqui_type type,
                     chasqui_request** request) {
  return move(comm, Kind::alltoall, in, out, count, type, 0, request);
}

int chasqui_alltoallv(chasqui_comm* comm, const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                      void* out, const int64_t* out_counts, const int64_t* out_offsets, chasqui_type type,
                      chasqui_request** request) {
  return guarded_by(comm, [&](const chasqui_comm& whole) {
    if (in_counts == nullptr || in_offsets == nullptr || out_counts == nullptr || out_offsets == nullptr)
      whole.comm->refuse("alltoallv: counts or offsets is a null pointer");
    const Type known = type_of(*whole.comm, type);
    run_or_start(*comm,
                 {.kind = Kind::alltoall,
                  .in = in,
                  .out = out,
                  .element = bytes_of(known),
                  .in_blocks = {in_counts, in_offsets},
                  .out_blocks = {out_counts, out_offsets}},
                 known, request);
  });
}

int chasqui_test(chasqui_request** request, int* done) {
  if (request == nullptr || done == nullptr || *request == nullptr) {
    return guarded([&] {
      given(request, "request");
      *given(done, "done") = 1;
    });
  }
  std::unique_ptr<chasqui_request> owned(*request);
  bool complete_now = false;
  const int code = guarded_by(owned->comm, [&](const chasqui_comm&) {
    complete_now = owned->request.test();
    if (complete_now) complete(*owned);
  });
  *done = complete_now || code != 0 ? 1 : 0;
  if (*done != 0) *request = nullptr;
  else static_cast<void>(owned.release());
  return code;
}

int chasqui_wait(chasqui_request** request) {
  if (request == nullptr || *request == nullptr) return guarded([&] { given(request, "request"); });
  const std::unique_ptr<chasqui_request> owned(std::exchange(*request, nullptr));
  return guarded_by(owned->comm, [&](const chasqui_comm&) {
    owned->request.wait();
    complete(*owned);
  });
}
