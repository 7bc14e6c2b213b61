//===- WeightOrigin.cpp - derivation of a parameter from a weight ---------===//

#include "runtime/checkpoint/WeightOrigin.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

WeightOrigin originOf(const program::ParameterT &parameter) {
  WeightOrigin origin;
  origin.initializer = parameter.name;
  origin.type = typeOf(parameter.stored_type);
  origin.shape = parameter.stored_shape;
  for (const auto &step : parameter.transforms) {
    if (const auto *transpose = step->step.AsTranspose())
      origin.steps.emplace_back(*transpose);
    else if (const auto *slice = step->step.AsSlice())
      origin.steps.emplace_back(*slice);
    else if (const auto *reshape = step->step.AsReshape())
      origin.steps.emplace_back(*reshape);
    else
      origin.steps.emplace_back(*step->step.AsCast());
  }
  return origin;
}

//===----------------------------------------------------------------------===//
// Type and shape after each transform
//===----------------------------------------------------------------------===//

namespace {
/// Element type and shape of a tensor. A parameter is derived from a weight by
/// a list of transforms, and each transform may change the type or the shape.
/// For example, a weight has type f32 and shape 4x8. After a transpose, the
/// type is f32 and the shape is 8x4. After a cast to bf16, the type is bf16 and
/// the shape is 8x4.
struct Form {
  ElementType type;
  std::vector<int64_t> shape;

  size_t bytes() const { return size_t(numElements(shape)) * sizeOf(type); }
};
} // namespace

/// Returns whether `dims` contains each number from 0 to `rank` - 1 exactly
/// once. `rank` is the number of dims of a tensor.
static bool isPermutation(const std::vector<int32_t> &dims, size_t rank) {
  std::vector<int32_t> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int32_t(i))
      return false;
  return sorted.size() == rank;
}

/// Returns whether all elements that `slice` selects exist in a tensor of shape
/// `shape`. A slice selects the indices start + i * step of dim `slice.dim`,
/// for i from 0 to size - 1. For example, start 1, step 2 and size 3 select the
/// indices 1, 3 and 5, so the dim must have at least 6 indices.
///
/// The numbers of the slice come from a file, and may be huge. The function
/// uses 128-bit integers, because a product of two such numbers may exceed 64
/// bits.
static bool fits(const program::SliceT &slice,
                 const std::vector<int64_t> &shape) {
  if (slice.dim < 0 || slice.dim >= int64_t(shape.size()) || slice.size < 0 ||
      slice.step == 0)
    return false;
  const int64_t size = shape[size_t(slice.dim)];
  const __int128 last =
      __int128(slice.start) + __int128(slice.size - 1) * slice.step;
  return slice.size == 0 ||
         (slice.start >= 0 && slice.start < size && last >= 0 && last < size);
}

/// Returns the number of elements of a tensor of shape `shape`. Returns -1 if
/// the shape is impossible: a size is negative, or the elements could need more
/// than 2^63 - 1 bytes. An element has at most 8 bytes. A size of 0 counts as 1
/// in this check.
static int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 ||
        __builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count))
      return -1;
  return count > INT64_MAX / 8 ? -1 : numElements(shape);
}

/// Applies the transform `step` to the type and shape in `form`. Returns a
/// description of the fault if the transform is invalid, otherwise null.
static const char *advance(const WeightStep &step, Form &form) {
  if (const auto *transpose = std::get_if<program::TransposeT>(&step)) {
    if (!isPermutation(transpose->permutation, form.shape.size()))
      return "was transposed by a list that is not a permutation";
    const std::vector<int64_t> before = form.shape;
    for (size_t dim = 0; dim < before.size(); ++dim)
      form.shape[dim] = before[size_t(transpose->permutation[dim])];
  } else if (const auto *slice = std::get_if<program::SliceT>(&step)) {
    if (!fits(*slice, form.shape))
      return "was sliced outside of its tensor";
    form.shape[size_t(slice->dim)] = slice->size;
  } else if (const auto *reshape = std::get_if<program::ReshapeT>(&step)) {
    if (countOf(reshape->shape) != countOf(form.shape))
      return "was reshaped to another number of elements";
    form.shape = reshape->shape;
  } else {
    form.type = typeOf(std::get<program::CastT>(step).type);
  }
  return nullptr;
}

const char *findOriginFault(const WeightOrigin &origin, ElementType type,
                            std::span<const int64_t> shape) {
  Form form{origin.type, origin.shape};
  if (countOf(form.shape) < 0)
    return "came from an initializer of impossible shape";
  for (const WeightStep &step : origin.steps)
    if (const char *fault = advance(step, form))
      return fault;
  const bool ends =
      form.type == type && std::equal(form.shape.begin(), form.shape.end(),
                                      shape.begin(), shape.end());
  return ends ? nullptr : "was made by steps that end in another type or shape";
}

//===----------------------------------------------------------------------===//
// Transforms and their inverses
//===----------------------------------------------------------------------===//

/// Returns the row-major strides of a dense tensor, in elements.
static std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Returns a description of nested loops that apply the transform `step` to a
/// tensor. Each iteration of the innermost loop copies one element. The loops
/// read a dense tensor of shape `before.shape`, and write a dense tensor of
/// shape `after.shape`. The copied elements depend on the transform:
///
/// - Transpose: for example, the transpose of a 2x3 tensor copies element
///   (i, j) to element (j, i).
/// - Slice: only the elements that the slice selects are copied.
/// - Reshape: element i in row-major order is copied to element i in row-major
///   order. For example, element 3 is copied to element 3.
/// - Cast: the elements are copied in the same way as for a reshape. The loops
///   do not convert the elements to another type. uncast() converts them.
static StridedCopy copyOf(const WeightStep &step, const Form &before,
                          const Form &after) {
  StridedCopy copy;
  std::vector<int64_t> from = denseStrides(before.shape);
  const std::vector<int64_t> to = denseStrides(after.shape);
  if (const auto *transpose = std::get_if<program::TransposeT>(&step)) {
    const std::vector<int64_t> strides = from;
    for (size_t dim = 0; dim < from.size(); ++dim)
      from[dim] = strides[size_t(transpose->permutation[dim])];
  } else if (const auto *slice = std::get_if<program::SliceT>(&step)) {
    copy.sourceOffset = slice->start * from[size_t(slice->dim)];
    from[size_t(slice->dim)] *= slice->step;
  } else {
    from = to;
  }
  for (size_t dim = 0; dim < to.size(); ++dim)
    copy.loops.push_back({after.shape[dim], from[dim], to[dim]});
  return copy;
}

/// Returns the loop nest that copies in the opposite direction: from the target
/// of `copy` to the source of `copy`. For example, if `copy` copies element 8
/// of the array A to element 0 of the array B, the result copies element 0 of B
/// to element 8 of A.
static StridedCopy reversed(StridedCopy copy) {
  std::swap(copy.sourceOffset, copy.targetOffset);
  for (CopyLoop &loop : copy.loops)
    std::swap(loop.sourceStride, loop.targetStride);
  return copy;
}

namespace {
using Bytes = std::vector<std::byte>;

/// Computes a weight of the model from a trained parameter. The parameter was
/// derived from the weight by the transforms in `origin`, such as a transpose
/// or a slice. The class applies the inverse transforms. `stored` has the
/// current elements of the whole weight. Elements of the weight that the
/// parameter does not contain keep these values.
///
/// The class does not convert elements: all elements have the type that the
/// weight has in the model. The caller inverts the casts in `origin`.
class WeightPath {
public:
  WeightPath(const WeightOrigin &origin, std::span<const std::byte> stored)
      : steps(origin.steps), stored(stored) {
    forms.push_back({origin.type, origin.shape});
    for (const WeightStep &step : steps) {
      forms.push_back(forms.back());
      if (!std::holds_alternative<program::CastT>(step))
        advance(step, forms.back());
    }
  }

  /// Computes a weight of the model from a trained parameter, and returns the
  /// elements of the whole weight. The parameter was derived from the weight by
  /// the transforms in `steps`, such as a transpose or a slice. `value` has the
  /// elements of the parameter, in the type of the weight. `stored` has the
  /// current elements of the whole weight.
  ///
  /// The function inverts the transforms from the last transform to the first.
  /// A slice selects only some elements of the weight. The function takes all
  /// other elements from `stored`. For example, the parameter is a slice with
  /// the first 2 of 4 rows of a weight. Rows 0 and 1 of the result come from
  /// `value`, and rows 2 and 3 come from `stored`.
  Bytes back(Bytes value) const {
    for (size_t step = steps.size(); step-- > 0;) {
      const bool isPart = std::holds_alternative<program::SliceT>(steps[step]);
      Bytes before = isPart ? forwardTo(step) : Bytes(forms[step].bytes());
      run(reversed(copyOf(steps[step], forms[step], forms[step + 1])), value,
          before);
      value = std::move(before);
    }
    return value;
  }

private:
  /// Copies the weight from `stored`, applies the first `step` transforms to
  /// the copy, and returns the copy. For example, forwardTo(2) applies
  /// `steps[0]` and then `steps[1]`, and forwardTo(0) applies no transform.
  /// Casts are skipped, so the elements keep the type of the weight.
  Bytes forwardTo(size_t step) const {
    Bytes value(stored.begin(), stored.end());
    for (size_t i = 0; i < step; ++i) {
      Bytes after(forms[i + 1].bytes());
      run(copyOf(steps[i], forms[i], forms[i + 1]), value, after);
      value = std::move(after);
    }
    return value;
  }

  /// Copies elements from the memory `from` to the memory `to`. `copy`
  /// describes nested loops, and each iteration of the innermost loop copies
  /// one element. For example, `copy` has one loop with 3 iterations, a source
  /// stride of 10 and a target stride of 1. The function then copies the
  /// elements 0, 10 and 20 of `from` to the elements 0, 1 and 2 of `to`.
  ///
  /// The elements have the type that the weight has in the model's file. If a
  /// loop has no iterations, the function does nothing.
  void run(const StridedCopy &copy, const Bytes &from, Bytes &to) const {
    if (numElements(copy) > 0)
      runCopy(copy, from.data(), to.data(), sizeOf(forms.front().type));
  }

  const std::vector<WeightStep> &steps;
  std::span<const std::byte> stored;
  std::vector<Form> forms; ///< before each transform, and after the last
};
} // namespace

/// Converts the elements of a parameter back to the type of the weight from
/// which the parameter was derived. `value` has the elements of the parameter.
/// `origin` lists the transforms that derived the parameter, and some of these
/// transforms may be casts. The function inverts the casts from the last cast
/// to the first. For example, the weight has type f32, and was cast to f16 and
/// then to bf16. The function converts the elements from bf16 to f16, and then
/// from f16 to f32.
static Bytes uncast(const WeightOrigin &origin, Bytes value) {
  std::vector<ElementType> types = {origin.type};
  for (const WeightStep &step : origin.steps)
    if (const auto *cast = std::get_if<program::CastT>(&step))
      types.push_back(typeOf(cast->type));
  for (size_t i = types.size() - 1; i > 0; --i) {
    const size_t count = value.size() / sizeOf(types[i]);
    Bytes before(count * sizeOf(types[i - 1]));
    convertElements(types[i], value.data(), int64_t(count), types[i - 1],
                    before.data());
    value = std::move(before);
  }
  return value;
}

void writeBack(const WeightOrigin &origin, std::span<const std::byte> parameter,
               std::span<std::byte> stored) {
  Bytes value = uncast(origin, Bytes(parameter.begin(), parameter.end()));
  value = WeightPath(origin, stored).back(std::move(value));
  std::copy(value.begin(), value.end(), stored.begin());
}

} // namespace pcc::runtime
