//===- Arrays.h - arrays shared by Python and the runtime -----------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_ARRAYS_H
#define PCC_PYTHON_BINDINGS_SRC_ARRAYS_H

#include "runtime/engine/io/Inputs.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <vector>

namespace pcc::python {

/// Inputs of a step by name: views of arrays that Python owns, from NumPy or
/// any other library with DLPack. This object keeps the arrays alive. Dense
/// row-major arrays in host memory are used in place; others are copied.
class BorrowedArrays {
public:
  /// Takes the arrays of a dict of names. Raises `pcc.Error` if a value is no
  /// such array or has an element type that no input has.
  explicit BorrowedArrays(const nanobind::dict &arrays);
  /// Returns the views, which are valid as long as this object exists.
  const runtime::InputArrays &views() const { return inputs; }

private:
  using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig,
                                  nanobind::device::cpu>;

  /// Arrays that the views refer to.
  std::vector<Array> owners;
  runtime::InputArrays inputs;
};

/// A dense array in host memory that the runtime fills and NumPy then takes
/// over.
class OwnedArray {
public:
  /// Allocates an array of zeros. `type` must be one that NumPy has, as
  /// runtime::npyTypeOf() returns.
  OwnedArray(runtime::ElementType type, std::vector<int64_t> shape);

  /// Returns the elements; null after toNumpy().
  std::byte *data() const { return memory.get(); }
  /// Returns the number of bytes.
  size_t bytes() const { return size; }
  /// Returns a NumPy array that owns the memory. May be called once. The caller
  /// must hold the GIL.
  nanobind::object toNumpy();

private:
  runtime::ElementType type;
  std::vector<int64_t> shape;
  size_t size;
  std::unique_ptr<std::byte[]> memory;
};

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_ARRAYS_H
