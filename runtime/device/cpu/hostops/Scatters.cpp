//===- Scatters.cpp - scatters of elements and slices to indices ----------===//
//
// scatter_elements: inputs data, indices and updates, which has the shape of
// indices; output of the shape and type of data. Integers: dim, combination. An
// update goes to the position in data that has the update's own coordinates,
// except along dim, where the index is the coordinate.
//
// scatter_nd: the same inputs and output. The last dim of indices holds tuples
// of coordinates in the leading dims of data, and updates has one slice of data
// per tuple. Integer: combination.
//
// A combination says how an update is combined with the old value: 0 set, 1
// add, 2 multiply, 3 max, 4 min. Negative indices count from the end of the
// dim. Updates whose index is outside data are ignored; where they would be an
// error, the program has a CheckIndices instruction first.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/HostOps.h"
#include "runtime/tensor/ElementDispatch.h"

#include <cstring>

namespace pcc::runtime {

namespace {
/// Operation with which a scatter changes an element of its output. At first,
/// the output is a copy of the input `data`. A number of the input `updates`
/// then changes one element of the output. Let the element be 5, and let the
/// number be 3. The new value of the element is:
///
/// - Set: 3
/// - Add: 5 + 3 = 8
/// - Multiply: 5 * 3 = 15
/// - Max: 5, the larger value
/// - Min: 3, the smaller value
enum Combination : int64_t { Set, Add, Multiply, Max, Min };
} // namespace

/// Returns the new value of an element that a scatter changes. `old` is the
/// present value, and `update` is the number with which the scatter changes the
/// element. `kind` is an enumerator of Combination:
///
/// - Set: returns `update`
/// - Add: returns old + update
/// - Multiply: returns old * update
/// - Max: returns the larger value, or NaN if a value is NaN
/// - Min: returns the smaller value, or NaN if a value is NaN
///
/// f16 and bf16 are computed in f32.
template <typename T> static T combine(int64_t kind, T old, T update) {
  using C = Computed<T>;
  const C a = static_cast<C>(old), b = static_cast<C>(update);
  const C table[] = {b, C(a + b), C(a * b), b > a || b != b ? b : a,
                     b < a || b != b ? b : a};
  return static_cast<T>(table[kind]);
}

/// Returns whether the index tensor of a scatter may have the element type
/// `type`. The index tensor says which elements the scatter changes. The
/// allowed types are i64 and i32.
static bool isIndexType(ElementType type) {
  return type == ElementType::I64 || type == ElementType::I32;
}

/// Returns one number of the index tensor `indices`. `at` is the row-major
/// index of the number in `indices`. The number is an index in a dim of another
/// tensor. `size` is the size of that dim.
///
/// A negative index counts from the end of the dim, so the function adds `size`
/// to it. For example, if `size` is 5, the index -1 becomes 4. The function
/// does not check whether the result is in the range 0 to `size` - 1.
static int64_t indexAt(const HostOperand &indices, int64_t at, int64_t size) {
  const int64_t index = indices.type == ElementType::I64
                            ? static_cast<const int64_t *>(indices.data)[at]
                            : static_cast<const int32_t *>(indices.data)[at];
  return index < 0 ? index + size : index;
}

/// Checks the requirements that apply to both scatter_elements and scatter_nd.
/// Returns null if `call` meets them, otherwise a description of the fault. The
/// requirements are:
///
/// - The inputs are data, indices and updates, and there is one output.
/// - The output has the type and the shape of data. The updates have the type
///   of data. The indices are i64 or i32.
/// - There are as many integer attributes as the parameter `integers` says.
/// - The last integer attribute is an enumerator of Combination: 0 (Set) to 4
///   (Min). It says how an update is combined with the old element.
static const char *checkOperands(const HostOpCall &call, size_t integers) {
  if (call.inputs.size() != 3 || call.outputs.size() != 1 ||
      call.integers.size() != integers)
    return "needs data, indices, updates and its integers";
  const HostOperand &data = call.inputs[0];
  if (call.outputs[0].shape != data.shape ||
      call.outputs[0].type != data.type || call.inputs[2].type != data.type ||
      !isIndexType(call.inputs[1].type))
    return "has operands of another type or shape";
  if (call.integers.back() < Set || call.integers.back() > Min)
    return "has an unknown combination";
  return nullptr;
}

/// Copies the input `data` of a scatter to the output of the scatter. The
/// caller then changes elements of the output. Does nothing if the input and
/// the output are in the same memory.
static void copyData(HostOpCall &call) {
  const HostOperand &data = call.inputs[0];
  if (call.outputs[0].data != data.data)
    std::memcpy(call.outputs[0].data, data.data,
                size_t(numElements(data.shape)) * sizeOf(data.type));
}

//===----------------------------------------------------------------------===//
// scatter_elements
//===----------------------------------------------------------------------===//

/// Checks the operands of a call of scatter_elements. Returns null if they are
/// valid, otherwise a description of the fault.
static const char *prepareElements(HostOpCall &call) {
  if (const char *fault = checkOperands(call, 2))
    return fault;
  const std::vector<int64_t> &data = call.inputs[0].shape;
  const std::vector<int64_t> &indices = call.inputs[1].shape;
  if (call.inputs[2].shape != indices || indices.size() != data.size())
    return "has updates of another shape than its indices";
  if (call.integers[0] < 0 || call.integers[0] >= int64_t(data.size()))
    return "has a dim that its data lacks";
  for (size_t dim = 0; dim < data.size(); ++dim)
    if (int64_t(dim) != call.integers[0] && indices[dim] > data[dim])
      return "has more indices than elements";
  return nullptr;
}

/// Returns the row-major index in `data` (input 0) of the element that a
/// scatter_elements changes with the update at row-major index `at`. The
/// element has the coordinates of the update, except along the dim that the
/// first attribute names. The coordinate along this dim is `indices` (input 1)
/// at the coordinates of the update. For example, if the dim is 0, the update
/// is at (1, 2), and `indices` has 3 there, the element is at (3, 2). A
/// negative index counts from the end. Returns -1 if the element would be
/// outside `data`.
static int64_t placeOf(const HostOpCall &call, int64_t at) {
  const std::vector<int64_t> &data = call.inputs[0].shape;
  const std::vector<int64_t> &indices = call.inputs[1].shape;
  int64_t place = 0, stride = 1, rest = at;
  for (size_t dim = data.size(); dim-- > 0;) {
    int64_t index = rest % indices[dim];
    rest /= indices[dim];
    if (int64_t(dim) == call.integers[0])
      index = indexAt(call.inputs[1], at, data[dim]);
    if (index < 0 || index >= data[dim])
      return -1;
    place += index * stride;
    stride *= data[dim];
  }
  return place;
}

static void runElements(HostOpCall &call) {
  copyData(call);
  dispatch(call.inputs[0].type, [&](auto element) {
    using T = decltype(element);
    T *out = static_cast<T *>(call.outputs[0].data);
    const T *updates = static_cast<const T *>(call.inputs[2].data);
    const int64_t count = numElements(call.inputs[1].shape);
    for (int64_t at = 0; at < count; ++at)
      if (const int64_t place = placeOf(call, at); place >= 0)
        out[place] = combine(call.integers[1], out[place], updates[at]);
  });
}

//===----------------------------------------------------------------------===//
// scatter_nd
//===----------------------------------------------------------------------===//

/// Returns the number of elements of one slice of the input `data` of a
/// scatter_nd. The numbers along the last dim of the input `indices` form an
/// index tuple. An index tuple has one index for each of the first dims of
/// `data`, and selects the slice with these indices. For example, if `data` is
/// [4, 3, 5] and a tuple has one index, a slice is [3, 5] and has 15 elements.
static int64_t sliceSize(const HostOpCall &call) {
  const std::vector<int64_t> &data = call.inputs[0].shape;
  const auto depth = size_t(call.inputs[1].shape.back());
  return numElements(std::span(data).subspan(depth));
}

/// Checks the operands of a call of scatter_nd. Returns null if they are valid,
/// otherwise a description of the fault.
static const char *prepareNd(HostOpCall &call) {
  if (const char *fault = checkOperands(call, 1))
    return fault;
  const std::vector<int64_t> &indices = call.inputs[1].shape;
  if (indices.empty() || indices.back() < 0 ||
      indices.back() > int64_t(call.inputs[0].shape.size()))
    return "has index tuples longer than its data's shape";
  const int64_t tuples =
      numElements(std::span(indices).first(indices.size() - 1));
  return numElements(call.inputs[2].shape) == tuples * sliceSize(call)
             ? nullptr
             : "has updates that do not match its indices";
}

/// Returns the row-major index of the first element of one slice. The slice is
/// a part of the input `data` of a scatter_nd. The numbers along the last dim
/// of the input `indices` form an index tuple. Index tuple number `at` selects
/// the slice. For example, let `data` be [4, 3, 5]. The tuple (2, 1) selects
/// the 5 elements from (2, 1, 0) to (2, 1, 4). The function returns the
/// row-major index of the element (2, 1, 0), which is 35.
///
/// Returns -1 if an index of the tuple is out of bounds.
static int64_t sliceAt(const HostOpCall &call, int64_t at) {
  const std::vector<int64_t> &data = call.inputs[0].shape;
  const int64_t depth = call.inputs[1].shape.back();
  int64_t place = 0;
  for (int64_t dim = 0; dim < depth; ++dim) {
    const int64_t index =
        indexAt(call.inputs[1], at * depth + dim, data[size_t(dim)]);
    if (index < 0 || index >= data[size_t(dim)])
      return -1;
    place = place * data[size_t(dim)] + index;
  }
  return place * sliceSize(call);
}

static void runNd(HostOpCall &call) {
  copyData(call);
  const int64_t size = sliceSize(call);
  const std::vector<int64_t> &indices = call.inputs[1].shape;
  const int64_t tuples =
      numElements(std::span(indices).first(indices.size() - 1));
  dispatch(call.inputs[0].type, [&](auto element) {
    using T = decltype(element);
    const T *updates = static_cast<const T *>(call.inputs[2].data);
    for (int64_t at = 0; at < tuples; ++at) {
      const int64_t place = sliceAt(call, at);
      T *out = static_cast<T *>(call.outputs[0].data) + place;
      for (int64_t i = 0; place >= 0 && i < size; ++i)
        out[i] = combine(call.integers[0], out[i], updates[at * size + i]);
    }
  });
}

static constexpr HostOpRow rows[] = {
    {"scatter_elements", prepareElements, runElements},
    {"scatter_nd", prepareNd, runNd}};

std::span<const HostOpRow> scatterOps() { return rows; }

} // namespace pcc::runtime
