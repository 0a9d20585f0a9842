// SPDX-License-Identifier: MIT
// One rank does something wrong in a collective: every rank must get an Error, nobody may hang.
#include <algorithm>
#include <stdexcept>

#include "chasqui/base/error.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

constexpr Kind kKinds[] = {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::gather,        Kind::allgather,
                           Kind::scatter,   Kind::scan,   Kind::alltoall,  Kind::reduce_scatter};

/// A call that is right on `size` ranks, with buffers large enough for anything.
struct Sound {
  explicit Sound(Kind kind, int size, std::int64_t count)
      : in(static_cast<std::size_t>((count + 9) * size)), out(in.size()) {
    call.kind = kind;
    call.in = in.data();
    call.out = out.data();
    call.count = count;
    call.element = sizeof(long);
    call.op = run::operator_of<long>(sum, true);
  }
  std::vector<long> in, out;  ///< gone as soon as the call has failed
  run::Sum sum;
  run::Call call;
};

struct Picky {
  bool refuses;
  long operator()(long a, long b) const {
    if (refuses) throw std::runtime_error("the operator is tired");
    return a + b;
  }
};

}  // namespace

bool Misuse::explained_by(const std::string& error) const {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return error.find(word) != std::string::npos; });
}

std::vector<Misuse> misuses(int culprit) {
  std::vector<Misuse> list;
  const std::vector<std::string> refusal = {"another rank refused the arguments"};
  const auto or_refusal = [&](const char* word) { return std::vector<std::string>{word, refusal.front()}; };
  for (const Kind kind : kKinds) {
    const std::string name(to_string(kind));
    for (const std::int64_t count : {2, 7, 14, 20, 130, 256, 3000}) {
      list.push_back({fmt::format("{}: another size than {}", name, count),
                      [=](run::Comm& comm) {
                        Sound sound(kind, comm.size(), comm.rank() == culprit ? count + 1 : count);
                        comm.run(sound.call);
                      },
                      {"same size", "different sizes", "same calls"}});
    }
    // On a board somebody waits in vain. Messages may just do for what was called instead.
    const Kind other = kind == Kind::allreduce ? Kind::allgather : Kind::allreduce;
    for (const std::int64_t count : {2, 20, 3000}) {
      list.push_back({fmt::format("{}: {} instead, {}", name, to_string(other), count),
                      [=](run::Comm& comm) {
                        Sound sound(comm.rank() == culprit ? other : kind, comm.size(), count);
                        comm.run(sound.call);
                      },
                      {"calls " + std::string(to_string(other)), "calls reduce where", "calls gather where",
                       "same size", "different sizes", "same calls"},
                      Passes::by_messages});
      list.push_back(
          {fmt::format("{}: {} instead in flight, {}", name, to_string(other), count),
           [=](run::Comm& comm) {
             Sound before(Kind::allreduce, comm.size(), 5), after(Kind::allgather, comm.size(), 2);
             Sound sound(comm.rank() == culprit ? other : kind, comm.size(), count);
             run::Request requests[] = {comm.start(before.call), comm.start(sound.call), comm.start(after.call)};
             std::exception_ptr error;
             for (int i = 3; i-- > 0;) {  // all of them end, and the buffers stay as long
               try {
                 requests[i].wait();
               } catch (...) {
                 if (!error) error = std::current_exception();
               }
             }
             if (error) std::rethrow_exception(error);
           },
           {"calls ", "same size", "different sizes", "same calls"},
           Passes::by_messages});
    }
    list.push_back({name + ": elements of another size",
                    [=](run::Comm& comm) {
                      Sound sound(kind, comm.size(), 3000);
                      if (comm.rank() == culprit) {
                        sound.call.count = 6000;
                        sound.call.element = sizeof(std::int32_t);
                        sound.call.op = run::operator_of<std::int32_t>(sound.sum, true);
                      }
                      comm.run(sound.call);
                    },
                    {"same size", "different sizes", "same calls"},
                    Passes::anywhere});
    list.push_back({name + ": a negative count",
                    [=](run::Comm& comm) {
                      Sound sound(kind, comm.size(), 4);
                      if (comm.rank() == culprit) sound.call.count = -4;
                      comm.run(sound.call);
                    },
                    or_refusal("negative count -4")});
    list.push_back({name + ": refused while in flight",
                    [=](run::Comm& comm) {
                      Sound sound(kind, comm.size(), 40), another(kind, comm.size(), 3);
                      if (comm.rank() == culprit) another.call.element = 0;
                      auto first = comm.start(sound.call);
                      try {
                        comm.start(another.call).wait();
                      } catch (...) {
                        first.wait();  // nothing was wrong with this one, and its buffers are about to go
                        throw;
                      }
                    },
                    or_refusal("elements of 0 bytes")});
    if (has_root(kind)) {
      list.push_back({name + ": a root that is not there",
                      [=](run::Comm& comm) {
                        Sound sound(kind, comm.size(), 4);
                        if (comm.rank() == culprit) sound.call.root = comm.size();
                        comm.run(sound.call);
                      },
                      or_refusal("root ")});
      for (const std::int64_t count : {2, 20, 3000}) {
        list.push_back({fmt::format("{}: another root, {}", name, count),
                        [=](run::Comm& comm) {
                          Sound sound(kind, comm.size(), count);
                          if (comm.rank() == culprit) sound.call.root = 1;
                          comm.run(sound.call);
                        },
                        {"same root", "same calls", "same size", "different sizes"},
                        Passes::anywhere});
      }
    }
    if (kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::scan) {
      for (const std::int64_t count : {1, 3000}) {
        list.push_back({name + ": an operator that throws",
                        [kind, count](run::Comm& comm) {
                          Sound sound(kind, comm.size(), count);
                          Picky picky{true};
                          sound.call.op = run::operator_of<long>(picky, true);
                          comm.run(sound.call);
                        },
                        {"the operator is tired"}});
      }
    }
  }
  return list;
}

}  // namespace chasqui::engines
