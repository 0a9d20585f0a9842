// SPDX-License-Identifier: MIT
#include "preload/types.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "chasqui/base/error.hpp"
#include "preload/component/component.h"
#include "preload/private_comm.hpp"
#include "preload/this_thread.hpp"

namespace chasqui::preload {
namespace {

/// MPI 4.1, 6.9.2. Fortran's integers and those that belong to no language (MPI_AINT) have one class: no logical operation is defined on them.
enum Class { kInteger = 1, kOtherInteger = 2, kFloating = 4, kLogical = 8, kComplex = 16, kByte = 32, kPair = 64 };

template <std::size_t N>
bool any(MPI_Datatype type, const MPI_Datatype (&list)[N]) {
  return std::any_of(list, list + N, [type](MPI_Datatype each) { return each == type && each != MPI_DATATYPE_NULL; });
}

// Fortran's types of two and of sixteen bytes are passed on: Open MPI 4.1 adds MPI_REAL16 without doing anything, MPICH 4.0 wrongly, and it
// refuses MPI_COMPLEX32. What a library lacks is either no macro or MPI_DATATYPE_NULL.
int class_of(MPI_Datatype type) {
  const MPI_Datatype integers[] = {
      MPI_INT,     MPI_LONG,           MPI_UNSIGNED,    MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
      MPI_SHORT,   MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T,    MPI_INT16_T,
      MPI_INT32_T, MPI_INT64_T,        MPI_UINT8_T,     MPI_UINT16_T,      MPI_UINT32_T,  MPI_UINT64_T};
  const MPI_Datatype other_integers[] = {MPI_INTEGER,  MPI_AINT, MPI_OFFSET,
#ifdef MPI_INTEGER1
                                         MPI_INTEGER1,
#endif
#ifdef MPI_INTEGER2
                                         MPI_INTEGER2,
#endif
#ifdef MPI_INTEGER4
                                         MPI_INTEGER4,
#endif
#ifdef MPI_INTEGER8
                                         MPI_INTEGER8,
#endif
                                         MPI_COUNT};
  const MPI_Datatype floating[] = {MPI_FLOAT,           MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL,
#ifdef MPI_REAL4
                                   MPI_REAL4,
#endif
#ifdef MPI_REAL8
                                   MPI_REAL8,
#endif
                                   MPI_DOUBLE_PRECISION};
  const MPI_Datatype logical[] = {MPI_C_BOOL,   MPI_CXX_BOOL,
#ifdef MPI_LOGICAL1
                                  MPI_LOGICAL1,
#endif
#ifdef MPI_LOGICAL2
                                  MPI_LOGICAL2,
#endif
#ifdef MPI_LOGICAL4
                                  MPI_LOGICAL4,
#endif
#ifdef MPI_LOGICAL8
                                  MPI_LOGICAL8,
#endif
                                  MPI_LOGICAL};
  const MPI_Datatype complex[] = {MPI_C_FLOAT_COMPLEX,   MPI_C_DOUBLE_COMPLEX,   MPI_C_LONG_DOUBLE_COMPLEX,
                                  MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX,
                                  MPI_COMPLEX,
#ifdef MPI_COMPLEX8
                                  MPI_COMPLEX8,
#endif
#ifdef MPI_COMPLEX16
                                  MPI_COMPLEX16,
#endif
                                  MPI_DOUBLE_COMPLEX};
  const MPI_Datatype bytes[] = {MPI_BYTE};
  const MPI_Datatype pairs[] = {MPI_2INT,     MPI_FLOAT_INT, MPI_DOUBLE_INT,
                                MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT,
                                MPI_2INTEGER, MPI_2REAL,     MPI_2DOUBLE_PRECISION};
  if (any(type, integers)) return kInteger;
  if (any(type, other_integers)) return kOtherInteger;
  if (any(type, floating)) return kFloating;
  if (any(type, logical)) return kLogical;
  if (any(type, complex)) return kComplex;
  if (any(type, bytes)) return kByte;
  return any(type, pairs) ? kPair : 0;
}

/// Of those that MPI_Type_create_f90_… returns: predefined, too, though they have no names.
int class_of_f90(int combiner, MPI_Count size) {
  if (combiner == MPI_COMBINER_F90_INTEGER) return size <= 8 ? kOtherInteger : 0;
  if (combiner == MPI_COMBINER_F90_REAL) return size == 4 || size == 8 ? kFloating : 0;
  return size == 8 || size == 16 ? kComplex : 0;
}

Number number_of(MPI_Datatype type, int kind, std::size_t size) {
  const MPI_Datatype with_sign[] = {MPI_SHORT,  MPI_INT,     MPI_LONG,    MPI_LONG_LONG, MPI_SIGNED_CHAR,
                                    MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T};
  if (kind == kOtherInteger || (kind == kInteger && any(type, with_sign))) {
    return size == 1   ? Number::int1
           : size == 2 ? Number::int2
           : size == 4 ? Number::int4
           : size == 8 ? Number::int8
                       : Number::other;
  }
  if (kind == kFloating && type != MPI_LONG_DOUBLE)
    return size == 4 ? Number::real4 : size == 8 ? Number::real8 : Number::other;
  return Number::other;
}

/// The classes a predefined operation is defined on; 0: not predefined, or none that is served; -1: a user's.
int domain_of(MPI_Op op) {
  if (op == MPI_MAX || op == MPI_MIN) return kInteger | kOtherInteger | kFloating;
  if (op == MPI_SUM || op == MPI_PROD) return kInteger | kOtherInteger | kFloating | kComplex;
  if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return kInteger | kLogical;
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) return kInteger | kOtherInteger | kByte;
  if (op == MPI_MAXLOC || op == MPI_MINLOC) return kPair;
  return op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP ? 0 : -1;
}

constexpr std::size_t kMostFromBottom = 0x7fffffff;  ///< what one message can count

int step_of(const TypeFacts& facts) {
  return static_cast<int>(std::max<std::size_t>(1, (std::size_t{1} << 30) / std::max<std::size_t>(1, facts.size)));
}

/// Who made it: MPI (MPI_COMBINER_NAMED, MPI_COMBINER_F90_…) or the program. False: the MPI library refuses it, or refuses to send it.
bool look_for_maker(MPI_Datatype type, int& combiner) {
  int integers = 0, addresses = 0, datatypes = 0;
#ifdef CHASQUI_COMPONENT
  // Open MPI calls collectives with types that no program has made, and that have no envelope.
  combiner = chasqui_component_is_named(type) != 0 ? MPI_COMBINER_NAMED : MPI_COMBINER_DUP;
  return chasqui_component_is_f90(type) == 0 ||
         PMPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner) == MPI_SUCCESS;
#else
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner) != MPI_SUCCESS) return false;
  if (combiner == MPI_COMBINER_NAMED) return true;
  char nothing = 0;
  int position = 0;  // not a byte, but only of a type that is committed
  return PMPI_Pack(&nothing, 0, type, &nothing, 0, &position, private_world()) == MPI_SUCCESS;
#endif
}

struct Remembered {
  MPI_Datatype type{};
  TypeFacts facts{};
  std::uint64_t generation = 0;  ///< derived
};
/// Those of a few handles, the latest first.
using Few = std::array<Remembered, 4>;
/// More than a program uses; beyond, one that was looked at earlier is looked at again.
using RememberedTypes = std::array<Few, 16>;
Few& place_of(MPI_Datatype type) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // the golden ratio: handles are near each other
  return OfThread<RememberedTypes>::here()[std::hash<MPI_Datatype>{}(type)*kSpread >> 60];
}
/// What is kept of the type; the last place where there is nothing.
Remembered& remembered_of(Few& few, MPI_Datatype type) {
  for (std::size_t i = 0; i + 1 < few.size(); ++i) {
    if (few[i].type == type) return few[i];
  }
  return few.back();
}
void keep(Few& few, const Remembered& latest) {
  Remembered& old = remembered_of(few, latest.type);
  std::move_backward(few.data(), &old, &old + 1);
  few.front() = latest;
}

int end_of_type = MPI_KEYVAL_INVALID;
extern "C" int forget_type(MPI_Datatype, int, void*, void*) {
  type_generation.fetch_add(1, std::memory_order_release);
  return MPI_SUCCESS;
}

/// From now on its end raises the generation, before its handle can come again. False: the MPI library refuses.
bool hears_of_its_end(MPI_Datatype type) {
  void* value = nullptr;
  int found = 0;
  if (end_of_type == MPI_KEYVAL_INVALID || PMPI_Type_get_attr(type, end_of_type, &value, &found) != MPI_SUCCESS)
    return false;
  return found != 0 || PMPI_Type_set_attr(type, end_of_type, nullptr) == MPI_SUCCESS;
}

template <typename T>
bool typed(MPI_Op op, run::Operator& result) {
  static run::Sum sum;
  static run::Product product;
  static run::Minimum minimum;
  static run::Maximum maximum;
  if (op == MPI_SUM) return result = run::operator_of<T>(sum, true), true;
  if (op == MPI_PROD) return result = run::operator_of<T>(product, true), true;
  if (op == MPI_MIN) return result = run::operator_of<T>(minimum, true), true;
  if (op == MPI_MAX) return result = run::operator_of<T>(maximum, true), true;
  return false;
}

/// `count` elements in memory of our own, their origins aligned as an allocation is; gaps and negative bounds included.
class ElementBuffer {
 public:
  ElementBuffer(const TypeFacts& facts, MPI_Aint count) {
    const ByteRange range = range_of(facts, count);
    memory_.resize(static_cast<std::size_t>(range.high - range.low) / sizeof(std::max_align_t) + 2);
    constexpr MPI_Aint unit = sizeof(std::max_align_t);
    const MPI_Aint shift = range.low > 0 ? -(range.low / unit) * unit : (-range.low + unit - 1) / unit * unit;
    origin_ = moved(static_cast<void*>(memory_.data()), shift);
  }
  void* origin() const { return origin_; }

 private:
  std::vector<std::max_align_t> memory_;
  void* origin_;
};

/// Elements that are packed, laid out for the program's operation.
void fold_packed(void* context, const void* left, const void* right, void* out, std::size_t count) {
  constexpr std::size_t kLaidOut = 16 * 1024;  // bytes that are laid out at a time
  const TypeFold& fold = *static_cast<const TypeFold*>(context);
  const TypePacker& packer = fold.packer;
  const std::size_t size = packer.facts.size;
  const std::size_t step = std::max<std::size_t>(1, kLaidOut / size);
  const ElementBuffer first(packer.facts, static_cast<MPI_Aint>(std::min(step, count)));
  const ElementBuffer second(packer.facts, static_cast<MPI_Aint>(std::min(step, count)));
  for (std::size_t at = 0; at < count; at += step) {
    const int now = static_cast<int>(std::min(step, count - at));
    packer.unpack(first.origin(), now, static_cast<const std::byte*>(left) + at * size);
    packer.unpack(second.origin(), now, static_cast<const std::byte*>(right) + at * size);
    if (PMPI_Reduce_local(first.origin(), second.origin(), now, packer.type, fold.op) != MPI_SUCCESS) {
      throw Error("MPI_Reduce_local refuses the operation on a derived datatype");
    }
    packer.pack(second.origin(), now, static_cast<std::byte*>(out) + at * size);
  }
}

}  // namespace

std::atomic<std::uint64_t> type_generation{1};

void open_types() { PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &end_of_type, nullptr); }

#ifndef CHASQUI_COMPONENT
constinit thread_local std::vector<MPI_Datatype>* derived_types_seen = nullptr;
#endif

/// Of what is passed.
static void note_derived([[maybe_unused]] MPI_Datatype type) {
#ifndef CHASQUI_COMPONENT
  if (derived_types_seen != nullptr) derived_types_seen->push_back(type);
#endif
}

/// nullptr: it is to be looked at.
static const TypeFacts* kept_facts(Few& few, MPI_Datatype type) {
  const Remembered& remembered = remembered_of(few, type);
  if (remembered.type != type || !remembered.facts.valid) return nullptr;
  if (!remembered.facts.derived) return &remembered.facts;
  if (remembered.generation != generation_of_types()) return nullptr;
  note_derived(type);
  return &remembered.facts;
}

TypeUse use_of(MPI_Datatype type) {
  if (const TypeFacts* const kept = kept_facts(place_of(type), type)) return {true, kept->dense};
  const TypeFacts facts = facts_of(type);
  return {facts.valid, facts.dense};
}

TypeFacts facts_of(MPI_Datatype type) {
  Few& few = place_of(type);
  if (const TypeFacts* const kept = kept_facts(few, type)) return *kept;
  const std::uint64_t generation = generation_of_types();
  if (type == MPI_DATATYPE_NULL) return {};
  TypeFacts facts;
  int combiner = 0;
  MPI_Count size = 0;  // more than an int can say
  MPI_Aint lb = 0;
  if (!look_for_maker(type, combiner)) return facts;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return facts;
  if (PMPI_Type_get_extent(type, &lb, &facts.extent) != MPI_SUCCESS) return facts;
  if (PMPI_Type_get_true_extent(type, &facts.true_lb, &facts.true_extent) != MPI_SUCCESS) return facts;
  facts.size = static_cast<std::size_t>(size);
  const bool f90 =
      combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
  const bool predefined = combiner == MPI_COMBINER_NAMED || f90;  // lives as long as MPI
  facts.dense = predefined && lb == 0 && facts.true_lb == 0 && facts.extent == size && facts.true_extent == size;
  facts.valid = true;
  if (predefined) facts.kind = f90 ? class_of_f90(combiner, size) : class_of(type);
  facts.number = number_of(type, facts.kind, facts.size);
  facts.derived = !predefined;
  if (facts.derived) note_derived(type);
  if (predefined || hears_of_its_end(type)) keep(few, {type, facts, generation});
  return facts;
}

ByteRange range_of(const TypeFacts& facts, MPI_Aint count) {
  if (count <= 0) return {};
  const MPI_Aint last = (count - 1) * facts.extent;
  return {std::min<MPI_Aint>(0, last) + facts.true_lb, std::max<MPI_Aint>(0, last) + facts.true_lb + facts.true_extent};
}

void TypePacker::pack(const void* from, MPI_Aint count, void* packed) const {
  const std::size_t bytes = static_cast<std::size_t>(count) * facts.size;
  if (bytes == 0) return;
  if (facts.dense) {
    std::memcpy(packed, from, bytes);
    return;
  }
  if (from == MPI_BOTTOM) {  // MPICH packs nothing from there, but sends it
    const int self = private_rank(), tag = private_self_tag();
    if (bytes > kMostFromBottom) throw Error("data at absolute addresses is longer than {} bytes", kMostFromBottom);
    const int sent = PMPI_Sendrecv(from, static_cast<int>(count), type, self, tag, packed, static_cast<int>(bytes),
                                   MPI_PACKED, self, tag, private_world(), MPI_STATUS_IGNORE);
    if (sent != MPI_SUCCESS) throw Error("data at absolute addresses cannot be packed");
    return;
  }
  const int step = step_of(facts);
  for (MPI_Aint first = 0; first < count; first += step) {  // MPI_Pack counts bytes in an int
    const int now = static_cast<int>(std::min<MPI_Aint>(step, count - first));
    const std::size_t piece = static_cast<std::size_t>(now) * facts.size;
    int position = 0;
    const int code = PMPI_Pack(moved(from, first * facts.extent), now, type, packed, static_cast<int>(piece), &position,
                               private_world());
    if (code != MPI_SUCCESS || static_cast<std::size_t>(position) != piece)
      throw Error("MPI_Pack made {} of {} bytes", position, piece);
    packed = static_cast<std::byte*>(packed) + piece;
  }
}

void TypePacker::unpack(void* to, MPI_Aint count, const void* packed) const {
  const std::size_t bytes = static_cast<std::size_t>(count) * facts.size;
  if (bytes == 0) return;
  if (facts.dense) {
    std::memcpy(to, packed, bytes);
    return;
  }
  if (to == MPI_BOTTOM) {
    const int self = private_rank(), tag = private_self_tag();
    if (bytes > kMostFromBottom) throw Error("data at absolute addresses is longer than {} bytes", kMostFromBottom);
    const int sent = PMPI_Sendrecv(packed, static_cast<int>(bytes), MPI_PACKED, self, tag, to, static_cast<int>(count),
                                   type, self, tag, private_world(), MPI_STATUS_IGNORE);
    if (sent != MPI_SUCCESS) throw Error("data at absolute addresses cannot be unpacked");
    return;
  }
  const int step = step_of(facts);
  for (MPI_Aint first = 0; first < count; first += step) {
    const int now = static_cast<int>(std::min<MPI_Aint>(step, count - first));
    const std::size_t piece = static_cast<std::size_t>(now) * facts.size;
    int position = 0;
    const int code = PMPI_Unpack(packed, static_cast<int>(piece), &position, moved(to, first * facts.extent), now, type,
                                 private_world());
    if (code != MPI_SUCCESS || static_cast<std::size_t>(position) != piece)
      throw Error("MPI_Unpack took {} of {} bytes", position, piece);
    packed = static_cast<const std::byte*>(packed) + piece;
  }
}

bool of_program(MPI_Op op) { return domain_of(op) == -1; }

bool defined(MPI_Op op, const TypeFacts& facts) {
  const int domain = domain_of(op);
  return domain == -1 || (domain & facts.kind) != 0;
}

bool is_complex(const TypeFacts& facts) { return facts.kind == kComplex; }

bool order_matters(MPI_Op op, const TypeFacts& facts, int ranks) {
#ifdef OPEN_MPI
  if (op == MPI_SUM && facts.size <= 2 && (facts.kind & (kInteger | kOtherInteger)) != 0) return true;
#endif
  const int one_operation = op == MPI_SUM ? kFloating | kComplex : op == MPI_PROD ? kFloating : 0;
  if (ranks == 2 && (facts.kind & one_operation) != 0) return false;
  return domain_of(op) == -1 || (facts.kind & (kInteger | kOtherInteger | kLogical | kByte)) == 0;
}

run::Operator TypeFold::operator_of() {
  if (!packer.facts.dense) {
    int commutes = 0;
    if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS) throw Error("MPI_Op_commutative refuses the operation");
    return {fold_packed, this, commutes != 0};
  }
  run::Operator result;  // of one and two bytes the library's: see order_matters()
  const Number number = packer.facts.number;
  if (number == Number::real8 && typed<double>(op, result)) return result;
  if (number == Number::int4 && typed<std::int32_t>(op, result)) return result;
  if (number == Number::real4 && typed<float>(op, result)) return result;
  if (number == Number::int8 && typed<std::int64_t>(op, result)) return result;
  dense = {op, packer.type, static_cast<int>(packer.facts.size)};
  return mpi::operator_of(dense);
}

}  // namespace chasqui::preload
