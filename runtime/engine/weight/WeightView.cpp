//===- WeightView.cpp - strided view of a stored weight -------------------===//

#include "runtime/engine/weight/WeightView.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pcc::runtime {

/// Returns the row-major strides of a dense tensor, in elements.
static std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

WeightView::WeightView(const program::ParameterT &parameter, const void *data)
    : stored(static_cast<const char *>(data)), shape(parameter.stored_shape),
      strides(denseStrides(shape)), types{typeOf(parameter.stored_type)} {
  applyTransforms(parameter);
}

WeightView::WeightView(const program::ParameterT &parameter,
                       const RandomTensor &tensor)
    : random(tensor), shape(parameter.stored_shape),
      strides(denseStrides(shape)), types{typeOf(parameter.stored_type)} {
  applyTransforms(parameter);
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

void WeightView::applyTransforms(const program::ParameterT &parameter) {
  for (const auto &step : parameter.transforms) {
    if (const auto *permutation = step->step.AsTranspose())
      transpose(*permutation);
    else if (const auto *part = step->step.AsSlice())
      slice(*part);
    else if (const auto *wanted = step->step.AsReshape())
      reshape(*wanted);
    else
      types.push_back(typeOf(step->step.AsCast()->type));
  }
}

void WeightView::transpose(const program::TransposeT &step) {
  const std::vector<int64_t> oldShape = shape, oldStrides = strides;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    shape[dim] = oldShape[size_t(step.permutation[dim])];
    strides[dim] = oldStrides[size_t(step.permutation[dim])];
  }
}

void WeightView::slice(const program::SliceT &step) {
  offset += step.start * strides[size_t(step.dim)];
  strides[size_t(step.dim)] *= step.step;
  shape[size_t(step.dim)] = step.size;
}

void WeightView::reshape(const program::ReshapeT &step) {
  if (!reshapeStrides(step.shape)) {
    materialize();
    reshapeStrides(step.shape);
  }
}

/// Changes the shape to `wanted` and computes the new strides. Returns false
/// and changes nothing if the reshape needs a copy. The function matches groups
/// of old dims with groups of new dims that have the same number of elements,
/// as NumPy does. The dims of an old group must be contiguous in memory. In
/// this example, each row of 4 elements is followed by 4 unused elements:
///
///   shape [6, 4], strides [8, 1] to [2, 3, 4]   new strides [24, 8, 1]
///   shape [6, 4], strides [8, 1] to [24]        false
bool WeightView::reshapeStrides(const std::vector<int64_t> &wanted) {
  std::vector<int64_t> result(wanted.size(), 1);
  if (numElements(wanted) == 0) {
    shape = wanted;
    strides = result;
    return true;
  }
  // Leave out dims of size 1: their strides have no effect.
  std::vector<int64_t> sizes, steps;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] != 1) {
      sizes.push_back(shape[dim]);
      steps.push_back(strides[dim]);
    }
  size_t from = 0, to = 0;
  while (from < sizes.size() && to < wanted.size()) {
    size_t fromEnd = from + 1, toEnd = to + 1;
    int64_t fromSize = sizes[from], toSize = wanted[to];
    while (fromSize != toSize)
      fromSize < toSize ? fromSize *= sizes[fromEnd++]
                        : toSize *= wanted[toEnd++];
    for (size_t dim = from; dim + 1 < fromEnd; ++dim)
      if (steps[dim] != steps[dim + 1] * sizes[dim + 1])
        return false;
    int64_t stride = steps[fromEnd - 1];
    for (size_t dim = toEnd; dim-- > to;) {
      result[dim] = stride;
      stride *= wanted[dim];
    }
    from = fromEnd;
    to = toEnd;
  }
  shape = wanted;
  strides = result;
  return true;
}

/// Writes the result of the transforms so far to the new array `owned`, in
/// row-major order and without gaps. The array has all elements of the tensor,
/// not only the elements of this rank's shard. Afterwards this object reads
/// this array instead of the weight file or the random generator.
void WeightView::materialize() {
  const Mesh mesh;
  const Coordinates at;
  const Layout whole = wholeLayout(shape);
  std::vector<char> dense(size_t(numElements(shape)) * sizeOf(types.back()));
  read(whole, mesh, at, dense.data());
  owned = std::move(dense);
  stored = owned.data();
  random.reset();
  offset = 0;
  strides = denseStrides(shape);
  types = {types.back()};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::vector<StridedCopy> WeightView::copies(const Layout &layout,
                                            const Mesh &mesh,
                                            const Coordinates &at) const {
  const Layout whole = wholeLayout(shape);
  std::vector<StridedCopy> list =
      intersect({&whole, &at, strides}, {&layout, &at}, mesh);
  for (StridedCopy &copy : list)
    copy.sourceOffset += offset;
  return list;
}

/// Returns the address of this rank's shard in the mapped weight file, so that
/// instructions can read the shard without a copy. Returns null unless all of
/// these conditions hold:
///
/// - The elements are in the mapped file. They are not randomly generated, and
///   materialize() has not copied them to the array `owned`.
/// - The program does not convert the elements to another type. For example, it
///   does not convert the float32 elements of the file to bfloat16.
/// - The shard is one contiguous range of the file, in row-major order.
/// - The shard has no padding.
/// - The address is a multiple of the element size.
const void *WeightView::findInPlace(const Layout &layout, const Mesh &mesh,
                                    const Coordinates &at) const {
  if (!stored || !owned.empty())
    return nullptr;
  for (ElementType type : types)
    if (type != types.front())
      return nullptr;
  const std::vector<StridedCopy> list = copies(layout, mesh, at);
  if (list.size() != 1 || !isDenseSource(list[0]) || !isDenseTarget(list[0]) ||
      list[0].targetOffset != 0 ||
      numElements(list[0]) != numElements(localShape(layout)))
    return nullptr;
  const size_t size = sizeOf(types.front());
  const char *address = stored + list[0].sourceOffset * int64_t(size);
  return reinterpret_cast<uintptr_t>(address) % size == 0 ? address : nullptr;
}

std::optional<std::vector<StridedCopy>>
WeightView::findGenerated(const Layout &layout, const Mesh &mesh,
                          const Coordinates &at) const {
  if (!random)
    return std::nullopt;
  return copies(layout, mesh, at);
}

/// Copies the elements of this rank's shard to `target`. Two cases exist:
///
/// - The elements are in memory, and the program does not convert the elements
///   to another type. runCopy() then copies the bytes directly.
/// - The elements are randomly generated, or the program converts the elements
///   to another type. readCopy() then generates or converts up to 1024 elements
///   at a time.
void WeightView::read(const Layout &layout, const Mesh &mesh,
                      const Coordinates &at, void *target) const {
  const size_t size = sizeOf(types.back());
  const std::vector<int64_t> local = localShape(layout);
  std::memset(target, 0, size_t(numElements(local)) * size);
  for (const StridedCopy &copy : copies(layout, mesh, at)) {
    if (stored && types.size() == 1)
      runCopy(copy, stored, target, size);
    else
      readCopy(copy, static_cast<char *>(target));
  }
}

/// Executes the loop nest `copy`, which copies elements of the stored tensor to
/// `target`. Each iteration of the innermost loop copies one element and
/// converts the element to the element type of `target`. readRow() processes at
/// most 1024 elements per call, so the innermost loop is divided into groups of
/// 1024 iterations. For example, 2500 iterations give groups of 1024, 1024 and
/// 452.
void WeightView::readCopy(const StridedCopy &copy, char *target) const {
  const size_t size = sizeOf(types.back());
  if (copy.loops.empty())
    return readRow(copy.sourceOffset, 1, 1,
                   target + copy.targetOffset * int64_t(size));
  if (copy.loops.size() > 1) {
    StridedCopy inner = copy;
    const CopyLoop outer = inner.loops.front();
    inner.loops.erase(inner.loops.begin());
    for (int64_t i = 0; i < outer.extent; ++i) {
      readCopy(inner, target);
      inner.sourceOffset += outer.sourceStride;
      inner.targetOffset += outer.targetStride;
    }
    return;
  }
  std::array<char, size_t{8} * 1024> row;
  const CopyLoop &loop = copy.loops.front();
  for (int64_t i = 0; i < loop.extent; i += 1024) {
    const int64_t count = std::min<int64_t>(1024, loop.extent - i);
    readRow(copy.sourceOffset + i * loop.sourceStride, loop.sourceStride, count,
            row.data());
    const StridedCopy scatter{0,
                              copy.targetOffset + i * loop.targetStride,
                              {{count, 1, loop.targetStride}}};
    runCopy(scatter, row.data(), target, size);
  }
}

/// Reads or generates `count` elements of the stored tensor: the elements with
/// the indices `from`, `from + stride`, `from + 2 * stride` and so on. Then
/// applies the casts of the parameter. A cast converts the elements to another
/// element type, such as float32 to bfloat16. Each cast except the last one
/// writes to one of two temporary arrays. The casts use the two arrays
/// alternately. The last cast writes to `target`. If the parameter has no cast,
/// the elements are written to `target` directly.
void WeightView::readRow(int64_t from, int64_t stride, int64_t count,
                         void *target) const {
  std::array<std::array<char, size_t{8} * 1024>, 2> stages;
  char *current =
      types.size() == 1 ? static_cast<char *>(target) : stages[0].data();
  if (random)
    fillRandom(*random, uint64_t(from), stride, count, current);
  else
    runCopy({from, 0, {{count, stride, 1}}}, stored, current,
            sizeOf(types.front()));
  for (size_t i = 1; i < types.size(); ++i) {
    char *next = i + 1 == types.size() ? static_cast<char *>(target)
                                       : stages[i % 2].data();
    convertElements(types[i - 1], current, count, types[i], next);
    current = next;
  }
}

} // namespace pcc::runtime
