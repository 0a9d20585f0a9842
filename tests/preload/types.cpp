// SPDX-License-Identifier: MIT
// Every predefined type that the MPI library has, by the names of C, C++ and Fortran, with every operation that MPI 4.1 defines on it
// (6.9.2). Prints a digest of the results of each, which must be the same with and without the drop-in library. Values are small, so
// that no order of folding rounds. With "--undefined": some that are not defined; what the MPI library makes of them is printed.
#include <mpi.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

enum class Kind { integer, plain_integer, real, logical, complex, byte, pair, long_real, long_complex };

struct Type {
  const char* name;
  MPI_Datatype type;
  Kind kind;
};
struct Operation {
  const char* name;
  MPI_Op op;
};

const std::vector<Operation>& operations_of(Kind kind) {
  static const std::vector<Operation> order{{"max", MPI_MAX}, {"min", MPI_MIN}},
      sums{{"sum", MPI_SUM}, {"prod", MPI_PROD}}, logic{{"land", MPI_LAND}, {"lor", MPI_LOR}, {"lxor", MPI_LXOR}},
      bits{{"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR}},
      places{{"maxloc", MPI_MAXLOC}, {"minloc", MPI_MINLOC}};
  const auto all = [](auto... lists) {
    std::vector<Operation> result;
    (result.insert(result.end(), lists.begin(), lists.end()), ...);
    return result;
  };
  static const std::vector<Operation> integers = all(order, sums, logic, bits), plain = all(order, sums, bits),
                                      reals = all(order, sums);
  switch (kind) {
    case Kind::integer: return integers;
    case Kind::plain_integer: return plain;
    case Kind::real:
    case Kind::long_real: return reals;
    case Kind::logical: return logic;
    case Kind::byte: return bits;
    case Kind::pair: return places;
    case Kind::complex:
    case Kind::long_complex: break;
  }
  return sums;
}

std::vector<Type> types() {
  std::vector<Type> all;
  const auto have = [&all](const char* name, MPI_Datatype type, Kind kind) {
    if (type != MPI_DATATYPE_NULL) all.push_back({name, type, kind});
  };
#define HAVE(type, kind) have(#type, type, Kind::kind)
  HAVE(MPI_INT, integer), HAVE(MPI_LONG, integer), HAVE(MPI_SHORT, integer), HAVE(MPI_SIGNED_CHAR, integer),
      HAVE(MPI_LONG_LONG, integer);
  HAVE(MPI_UNSIGNED, integer), HAVE(MPI_UINT8_T, integer), HAVE(MPI_UINT16_T, integer), HAVE(MPI_UINT64_T, integer),
      HAVE(MPI_INT64_T, integer);
  HAVE(MPI_AINT, plain_integer), HAVE(MPI_OFFSET, plain_integer), HAVE(MPI_COUNT, plain_integer),
      HAVE(MPI_INTEGER, plain_integer);
  HAVE(MPI_FLOAT, real), HAVE(MPI_DOUBLE, real), HAVE(MPI_LONG_DOUBLE, long_real), HAVE(MPI_REAL, real),
      HAVE(MPI_DOUBLE_PRECISION, real);
  HAVE(MPI_C_BOOL, logical), HAVE(MPI_CXX_BOOL, logical), HAVE(MPI_LOGICAL, logical), HAVE(MPI_BYTE, byte);
  HAVE(MPI_C_FLOAT_COMPLEX, complex), HAVE(MPI_C_DOUBLE_COMPLEX, complex),
      HAVE(MPI_C_LONG_DOUBLE_COMPLEX, long_complex);
  HAVE(MPI_CXX_FLOAT_COMPLEX, complex), HAVE(MPI_CXX_DOUBLE_COMPLEX, complex),
      HAVE(MPI_CXX_LONG_DOUBLE_COMPLEX, long_complex);
  HAVE(MPI_COMPLEX, complex), HAVE(MPI_DOUBLE_COMPLEX, complex), HAVE(MPI_2INT, pair), HAVE(MPI_2INTEGER, pair);
#ifdef MPI_INTEGER1
  HAVE(MPI_INTEGER1, plain_integer);
#endif
#ifdef MPI_INTEGER2
  HAVE(MPI_INTEGER2, plain_integer);
#endif
#ifdef MPI_INTEGER4
  HAVE(MPI_INTEGER4, plain_integer);
#endif
#ifdef MPI_INTEGER8
  HAVE(MPI_INTEGER8, plain_integer);
#endif
#ifdef MPI_REAL4
  HAVE(MPI_REAL4, real);
#endif
#ifdef MPI_REAL8
  HAVE(MPI_REAL8, real);
#endif
#ifdef MPI_COMPLEX8
  HAVE(MPI_COMPLEX8, complex);
#endif
#ifdef MPI_COMPLEX16
  HAVE(MPI_COMPLEX16, complex);
#endif
#ifdef MPI_LOGICAL1
  HAVE(MPI_LOGICAL1, logical);
#endif
#ifdef MPI_LOGICAL2
  HAVE(MPI_LOGICAL2, logical);
#endif
#ifdef MPI_LOGICAL4
  HAVE(MPI_LOGICAL4, logical);
#endif
#ifdef MPI_LOGICAL8
  HAVE(MPI_LOGICAL8, logical);
#endif
#undef HAVE
  MPI_Datatype f90 = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_integer(9, &f90), have("f90_integer(9)", f90, Kind::plain_integer);
  MPI_Type_create_f90_integer(15, &f90), have("f90_integer(15)", f90, Kind::plain_integer);
  MPI_Type_create_f90_real(6, 30, &f90), have("f90_real(6)", f90, Kind::real);
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &f90), have("f90_real(15)", f90, Kind::real);
  MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &f90), have("f90_complex(15)", f90, Kind::complex);
  return all;
}

/// Elements of a type, in bytes.
class Elements {
 public:
  Elements(const Type& type, int count) : kind_(type.kind), count_(static_cast<std::size_t>(count)) {
    int size = 0;
    MPI_Type_size(type.type, &size);
    size_ = static_cast<std::size_t>(size);
    bytes_.resize(size_ * count_ + 1);
  }
  void* data() { return bytes_.data(); }

  /// Element i: a small number, or two.
  void set(std::size_t i, int number, int other) {
    std::byte* const at = bytes_.data() + i * size_;
    switch (kind_) {
      case Kind::real: return size_ == 4 ? put(at, static_cast<float>(number)) : put(at, static_cast<double>(number));
      case Kind::long_real: return put(at, static_cast<long double>(number));
      case Kind::complex:
        if (size_ == 8) return put(at, std::complex<float>(static_cast<float>(number), static_cast<float>(other)));
        return put(at, std::complex<double>(number, other));
      case Kind::long_complex: return put(at, std::complex<long double>(number, other));
      case Kind::logical: return put_integer(at, size_, number % 2);
      case Kind::pair: put_integer(at, size_ / 2, number); return put_integer(at + size_ / 2, size_ / 2, other);
      default: return put_integer(at, size_, number);
    }
  }

  /// Of the first so many. Of a long double not its padding.
  void enter(std::uint64_t& digest, std::size_t count) const {
    if (kind_ != Kind::long_real && kind_ != Kind::long_complex) return enter(digest, bytes_.data(), count * size_);
    for (std::size_t i = 0; i < count * size_ / sizeof(long double); ++i) {
      long double value = 0;
      std::memcpy(&value, bytes_.data() + i * sizeof value, sizeof value);
      const auto number = static_cast<double>(value);
      enter(digest, reinterpret_cast<const std::byte*>(&number), sizeof number);
    }
  }

 private:
  template <typename T>
  static void put(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof value);
  }
  static void put_integer(std::byte* at, std::size_t size, std::int64_t value) {
    if (size == 1) return put(at, static_cast<std::int8_t>(value));
    if (size == 2) return put(at, static_cast<std::int16_t>(value));
    if (size == 4) return put(at, static_cast<std::int32_t>(value));
    put(at, value);
  }
  static void enter(std::uint64_t& digest, const std::byte* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) digest = (digest ^ static_cast<std::uint64_t>(data[i])) * 1099511628211u;
  }

  Kind kind_;
  std::size_t count_, size_ = 0;
  std::vector<std::byte> bytes_;
};

/// Of the results of all reductions with the operation, or the class of the error that was returned.
std::string results(const Type& type, const Operation& operation, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::uint64_t digest = 1469598103934665603u;
  int code = MPI_SUCCESS;
  for (const int count : {1, 7, 300}) {
    const int all = count * ranks;
    const auto fresh = [&] {
      Elements in(type, all);
      for (int i = 0; i < all; ++i) in.set(static_cast<std::size_t>(i), (rank * 7 + i) % 3, rank);
      return in;
    };
    Elements in = fresh();
    for (int form = 0; form < 6 && code == MPI_SUCCESS; ++form) {
      Elements out(type, all);
      std::size_t got = static_cast<std::size_t>(count);
      if (form == 0) code = MPI_Allreduce(in.data(), out.data(), count, type.type, operation.op, comm);
      if (form == 1) code = MPI_Reduce(in.data(), out.data(), count, type.type, operation.op, ranks - 1, comm);
      if (form == 2) code = MPI_Scan(in.data(), out.data(), count, type.type, operation.op, comm);
      if (form == 3) code = MPI_Exscan(in.data(), out.data(), count, type.type, operation.op, comm);
      if (form == 4) code = MPI_Reduce_scatter_block(in.data(), out.data(), count, type.type, operation.op, comm);
      if (form == 5) {
        out = fresh();
        code = MPI_Allreduce(MPI_IN_PLACE, out.data(), all, type.type, operation.op, comm);
        got = static_cast<std::size_t>(all);
      }
      if ((form == 1 && rank != ranks - 1) || (form == 3 && rank == 0)) got = 0;
      out.enter(digest, got);
    }
  }
  if (code != MPI_SUCCESS) {
    int error_class = 0;
    MPI_Error_class(code, &error_class);
    return "error " + std::to_string(error_class);
  }
  std::vector<std::uint64_t> digests(static_cast<std::size_t>(ranks));
  MPI_Gather(&digest, 1, MPI_UINT64_T, digests.data(), 1, MPI_UINT64_T, 0, comm);
  std::string text;
  for (const std::uint64_t each : digests) {
    char hex[20];
    std::snprintf(hex, sizeof hex, " %016llx", static_cast<unsigned long long>(each));
    text += hex;
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool undefined = argc > 1 && std::strcmp(argv[1], "--undefined") == 0;
  for (const Type& type : types()) {
    if (undefined && type.kind != Kind::plain_integer) continue;
    for (const Operation& operation : operations_of(undefined ? Kind::logical : type.kind)) {
      const std::string text = results(type, operation, MPI_COMM_WORLD);
      if (rank == 0) std::printf("%s %s:%s\n", type.name, operation.name, text.c_str());
    }
  }
  MPI_Finalize();
}
