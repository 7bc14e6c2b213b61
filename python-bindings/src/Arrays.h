//===- Arrays.h - arrays of Python and of the runtime ---------------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_ARRAYS_H
#define PCC_PYTHON_BINDINGS_SRC_ARRAYS_H

#include "runtime/engine/io/Inputs.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <vector>

namespace pcc::python {

/// Arrays that somebody else owns, by name, for as long as this lives: NumPy's,
/// or anything with DLPack. Dense ones in row-major order are used where they
/// are, others are copied. Raises where a value is no such array.
class BorrowedArrays {
public:
  explicit BorrowedArrays(const nanobind::dict &arrays);
  const runtime::InputArrays &views() const { return inputs; }

private:
  using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig,
                                  nanobind::device::cpu>;

  std::vector<Array> owners;
  runtime::InputArrays inputs;
};

/// An array that owns its memory, for NumPy.
class OwnedArray {
public:
  /// A type that NumPy has: runtime::npyTypeOf's.
  OwnedArray(runtime::ElementType type, std::vector<int64_t> shape);

  std::byte *data() const { return memory.get(); }
  size_t bytes() const { return size; }
  /// Hands the memory over; once.
  nanobind::object toNumpy();

private:
  runtime::ElementType type;
  std::vector<int64_t> shape;
  size_t size;
  std::unique_ptr<std::byte[]> memory;
};

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_ARRAYS_H
