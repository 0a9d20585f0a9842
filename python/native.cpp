// SPDX-License-Identifier: MIT
// chasqui._native: chasqui.h for Python. The interpreter's lock is free while the library works. Arrays are neither converted
// nor copied here: comm.py hands over contiguous ones.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "chasqui/chasqui.h"

namespace {

namespace py = pybind11;

struct ChasquiError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(int code) {
  if (code < 0) throw ChasquiError(chasqui_last_error());
}

/// What a function of the planner answers, and its remarks.
template <int (*function)(const char*, const char*, char**)>
std::pair<std::string, std::string> ask(const std::string& subject, const std::string& options) {
  const py::gil_scoped_release free;
  char* text = nullptr;
  check(function(subject.c_str(), options.c_str(), &text));
  std::pair<std::string, std::string> answer{text, chasqui_last_error()};
  chasqui_free(text);
  return answer;
}

chasqui_type type_of(const py::array& array) {
  const py::dtype type = array.dtype();
  const char kind = type.kind();
  const auto size = type.itemsize();
  const int width = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
  if (!py::bool_(type.attr("isnative")))
    throw ChasquiError(
        "arrays of " + py::str(py::handle(type)).cast<std::string>() +
        " have the bytes of their numbers in another order than this processor: array.astype(array.dtype.newbyteorder('=')) "
        "has the same numbers in its own");
  if (kind == 'i' && width >= 0) return static_cast<chasqui_type>(CHASQUI_I8 + width);
  if (kind == 'u' && width >= 0) return static_cast<chasqui_type>(CHASQUI_U8 + width);
  if (kind == 'b') return CHASQUI_BOOL;
  if (kind == 'f' && size == 2) return CHASQUI_F16;
  if (kind == 'f' && size == 4) return CHASQUI_F32;
  if (kind == 'f' && size == 8) return CHASQUI_F64;
  const auto name = py::str(py::handle(type)).cast<std::string>();
  if (name == "bfloat16") return CHASQUI_BF16;
  throw ChasquiError("arrays of " + name +
                     " cannot be reduced: use integers of 8 to 64 bits, float16, bfloat16, float32, float64 or bool");
}

/// The bytes of an array; of None nothing.
struct Bytes {
  explicit Bytes(const std::optional<py::array>& array)
      : data(array ? const_cast<void*>(array->data()) : nullptr), count(array ? array->nbytes() : 0) {}
  void* data;
  std::int64_t count;
};

class Request;

class Comm {
 public:
  explicit Comm(chasqui_comm* comm) : comm_(comm) {}
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm() { close(); }

  void close();
  chasqui_comm* get() const {
    if (comm_ == nullptr) throw ChasquiError("this communicator is closed");
    return comm_;
  }

 private:
  friend class Request;

  chasqui_comm* comm_;
  std::set<Request*> started_;  ///< and not known to be complete
};

/// A collective in flight. It keeps its arrays and its communicator alive.
class Request {
 public:
  Request(chasqui_request* request, Comm& comm, py::object kept)
      : request_(request), comm_(comm), kept_(std::move(kept)) {
    comm_.started_.insert(this);
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() {
    comm_.started_.erase(this);
    end();
  }
  /// The buffers go with this object, and the communicator when it is closed: nobody may write to them afterwards. A process that
  /// the rank forked has a copy of it, and leaves it to the rank.
  void end() {
    const py::gil_scoped_release free;
    if (getpid() != process_) request_ = nullptr;
    if (chasqui_wait(&request_) < 0) failed_ = chasqui_last_error();
  }

  void wait() {
    check_ended();
    const py::gil_scoped_release free;
    check(chasqui_wait(&request_));
  }
  bool test() {
    check_ended();
    const py::gil_scoped_release free;
    int done = 1;
    if (request_ != nullptr) check(chasqui_test(&request_, &done));
    return done != 0;
  }

 private:
  void check_ended() const {
    if (!failed_.empty()) throw ChasquiError(failed_);
  }

  chasqui_request* request_;
  std::string failed_;  ///< what end() heard
  pid_t process_ = getpid();
  Comm& comm_;
  py::object kept_;
};

void Comm::close() {
  while (!started_.empty()) started_.extract(started_.begin()).value()->end();
  const py::gil_scoped_release free;
  chasqui_comm_free(std::exchange(comm_, nullptr));
}

/// Runs a collective, or starts it: then the result is its Request, else None.
template <typename Call>
py::object collective(const py::object& self, bool start, py::tuple kept, Call call) {
  chasqui_comm* const comm = self.cast<Comm&>().get();
  chasqui_request* request = nullptr;
  {
    const py::gil_scoped_release free;
    check(call(comm, start ? &request : nullptr));
  }
  if (!start) return py::none();
  return py::cast(new Request(request, self.cast<Comm&>(), py::make_tuple(self, std::move(kept))),
                  py::return_value_policy::take_ownership);
}

py::object join(int rank, int size, const std::optional<std::string>& rendezvous,
                const std::optional<std::string>& secret, double timeout, double patience, bool reproducible) {
  chasqui_comm* comm = nullptr;
  {
    const py::gil_scoped_release free;
    chasqui_join_options options = CHASQUI_JOIN_OPTIONS;
    options.rank = rank;
    options.size = size;
    options.rendezvous = rendezvous ? rendezvous->c_str() : nullptr;
    options.secret = secret ? secret->c_str() : nullptr;
    options.timeout = timeout;
    options.patience = patience;
    options.reproducible = reproducible;
    check(chasqui_join(&options, &comm));
  }
  return py::cast(new Comm(comm), py::return_value_policy::take_ownership);
}

using Array = py::array;
using Maybe = std::optional<py::array>;

void bind_comm(py::module_& module) {
  py::class_<Request>(module, "Request").def("wait", &Request::wait).def("test", &Request::test);
  py::class_<Comm>(module, "Comm")
      .def("close", &Comm::close)
      .def("rank", [](const Comm& self) { return chasqui_comm_rank(self.get()); })
      .def("size", [](const Comm& self) { return chasqui_comm_size(self.get()); })
      .def("split",
           [](const Comm& self, int colour, int key) -> py::object {
             chasqui_comm* part = nullptr;
             {
               const py::gil_scoped_release free;
               check(chasqui_comm_split(self.get(), colour, key, &part));
             }
             if (part == nullptr) return py::none();
             return py::cast(new Comm(part), py::return_value_policy::take_ownership);
           })
      .def("set_timeout", [](const Comm& self, double s) { check(chasqui_comm_set_timeout(self.get(), s)); })
      .def("set_reproducible", [](const Comm& self, bool on) { check(chasqui_comm_set_reproducible(self.get(), on)); })
      .def("leave",
           [](const Comm& self, const std::string& why) { check(chasqui_comm_leave(self.get(), why.c_str())); })
      .def("barrier",
           [](const py::object& self, bool start) {
             return collective(self, start, py::tuple(), [](auto* comm, auto** r) { return chasqui_barrier(comm, r); });
           })
      .def("broadcast",
           [](const py::object& self, bool start, const Array& data, int root) {
             const Bytes bytes(data);
             return collective(self, start, py::make_tuple(data), [=](auto* comm, auto** r) {
               return chasqui_broadcast(comm, bytes.data, bytes.count, CHASQUI_U8, root, r);
             });
           })
      .def("reduce",
           [](const py::object& self, bool start, const Array& in, const Maybe& out, int operation, int root) {
             return collective(self, start, py::make_tuple(in, out),
                               [from = in.data(), to = Bytes(out).data, count = in.size(), type = type_of(in),
                                operation, root](auto* comm, auto** r) {
                                 return chasqui_reduce(comm, from, to, count, type,
                                                       static_cast<chasqui_operation>(operation), root, r);
                               });
           })
      .def("allreduce",
           [](const py::object& self, bool start, const Array& in, const Array& out, int operation) {
             return collective(self, start, py::make_tuple(in, out),
                               [from = in.data(), to = Bytes(out).data, count = in.size(), type = type_of(in),
                                operation](auto* comm, auto** r) {
                                 return chasqui_allreduce(comm, from, to, count, type,
                                                          static_cast<chasqui_operation>(operation), r);
                               });
           })
      .def("scan",
           [](const py::object& self, bool start, const Array& in, const Array& out, int operation, bool exclusive) {
             return collective(self, start, py::make_tuple(in, out),
                               [from = in.data(), to = Bytes(out).data, count = in.size(), type = type_of(in),
                                operation, exclusive](auto* comm, auto** r) {
                                 return chasqui_scan(comm, from, to, count, type,
                                                     static_cast<chasqui_operation>(operation), exclusive, r);
                               });
           })
      .def("allgather",
           [](const py::object& self, bool start, const Array& in, const Array& out) {
             return collective(self, start, py::make_tuple(in, out),
                               [from = Bytes(in), to = Bytes(out).data](auto* comm, auto** r) {
                                 return chasqui_allgather(comm, from.data, to, from.count, CHASQUI_U8, r);
                               });
           })
      .def("alltoall",
           [](const py::object& self, bool start, const Array& in, const Array& out, int blocks) {
             return collective(self, start, py::make_tuple(in, out),
                               [from = Bytes(in), to = Bytes(out).data, blocks](auto* comm, auto** r) {
                                 return chasqui_alltoall(comm, from.data, to, from.count / blocks, CHASQUI_U8, r);
                               });
           })
      .def("reduce_scatter",
           [](const py::object& self, bool start, const Array& in, const Array& out, int operation) {
             return collective(self, start, py::make_tuple(in, out),
                               [from = in.data(), to = Bytes(out).data, count = out.size(), type = type_of(in),
                                operation](auto* comm, auto** r) {
                                 return chasqui_reduce_scatter(comm, from, to, count, type,
                                                               static_cast<chasqui_operation>(operation), r);
                               });
           })
      .def("gather",
           [](const py::object& self, bool start, const Array& in, const Maybe& out, int root) {
             return collective(self, start, py::make_tuple(in, out),
                               [from = Bytes(in), to = Bytes(out).data, root](auto* comm, auto** r) {
                                 return chasqui_gather(comm, from.data, to, from.count, CHASQUI_U8, root, r);
                               });
           })
      .def("scatter", [](const py::object& self, bool start, const Maybe& in, const Array& out, int root) {
        return collective(self, start, py::make_tuple(in, out),
                          [from = Bytes(in).data, to = Bytes(out), root](auto* comm, auto** r) {
                            return chasqui_scatter(comm, from, to.data, to.count, CHASQUI_U8, root, r);
                          });
      });
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  py::register_exception<ChasquiError>(module, "ChasquiError", PyExc_RuntimeError).doc() =
      "What Chasqui refuses or cannot do, in one line with the remedy.";
  module.def("version", [] { return std::string(chasqui_version()); });
  module.def("plan", &ask<chasqui_plan>);
  module.def("bound", &ask<chasqui_bound>);
  module.def("verify", &ask<chasqui_verify>);
  module.def("simulate", &ask<chasqui_simulate>);
  module.def("draw", &ask<chasqui_draw>);
  module.def("join", &join);
  bind_comm(module);
}
