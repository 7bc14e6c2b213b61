//===- Manifest.cpp - the manifest of a sharded checkpoint ----------------===//

#include "runtime/checkpoint/Manifest.h"
#include "status/Counted.h"

#include <algorithm>
#include <map>
#include <set>

namespace pcc::runtime {

const SavedTensor *Manifest::find(const std::string &name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const SavedTensor &t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Returns whether two descriptions of one tensor agree. `a` and `b` are the
/// descriptions, which two ranks have written. The descriptions agree if these
/// properties are equal:
///
/// - the element type
/// - the shape of the whole tensor
/// - the role: a trained parameter, another parameter, or optimizer state
/// - for optimizer state, the parameter to which the state belongs
///
/// The lists of saved sub-tensors are not compared.
static bool sameTensor(const SavedTensor &a, const SavedTensor &b) {
  return a.type == b.type && a.shape == b.shape && a.trained == b.trained &&
         a.isState == b.isState && a.stateOf == b.stateOf;
}

Status merge(Manifest &manifest, Manifest other) {
  std::map<std::string, SavedTensor *> known;
  for (SavedTensor &tensor : manifest.tensors)
    known[tensor.name] = &tensor;
  std::vector<SavedTensor> added;
  for (SavedTensor &tensor : other.tensors) {
    const auto found = known.find(tensor.name);
    if (found == known.end()) {
      added.push_back(std::move(tensor));
      continue;
    }
    if (!sameTensor(*found->second, tensor))
      return Status::error(DamagedBundle,
                           "ranks disagree about tensor '" + tensor.name + "'");
    std::move(tensor.pieces.begin(), tensor.pieces.end(),
              std::back_inserter(found->second->pieces));
  }
  std::move(added.begin(), added.end(), std::back_inserter(manifest.tensors));
  std::move(other.files.begin(), other.files.end(),
            std::back_inserter(manifest.files));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// Returns how many indices the index ranges `runs` contain. The indices belong
/// to one dim of a tensor, and `size` is the size of the dim. For example,
/// {[4, 6), [8, 9)} contains the 3 indices 4, 5 and 8. Returns -1 if `runs` is
/// invalid: a range is empty, is not within the dim, or begins before the end
/// of the previous range.
static int64_t numHeld(const Runs &runs, int64_t size) {
  int64_t held = 0, end = 0;
  for (const Run &run : runs) {
    if (run.lo < end || run.hi <= run.lo || run.hi > size)
      return -1;
    held += run.hi - run.lo;
    end = run.hi;
  }
  return held;
}

/// Checks one saved sub-tensor of `tensor`. `piece.runs` must have one list of
/// index ranges per dim of the tensor. Each list must contain at least one
/// index, and its ranges must be ascending, disjoint and within the dim.
/// `piece.bytes` must be the number of bytes of the elements in these ranges.
/// For example, 2 rows and 3 columns of f32 elements have 24 bytes. Returns the
/// first fault as text, or an empty string if there is no fault.
static std::string findPieceFault(const SavedTensor &tensor,
                                  const SavedPiece &piece) {
  if (piece.runs.size() != tensor.shape.size())
    return "has a piece of another number of dims";
  int64_t elements = 1;
  for (size_t dim = 0; dim < piece.runs.size(); ++dim) {
    const int64_t held = numHeld(piece.runs[dim], tensor.shape[dim]);
    if (held <= 0)
      return "has a piece with impossible runs of dim " + std::to_string(dim) +
             " of size " + std::to_string(tensor.shape[dim]);
    elements *= held;
  }
  const uint64_t bytes = uint64_t(elements) * sizeOf(tensor.type);
  if (piece.bytes == bytes)
    return {};
  return "has a piece of " + counted(piece.bytes, "byte") + ", its runs have " +
         std::to_string(bytes);
}

std::string findFault(const SavedTensor &tensor) {
  int64_t bytes = int64_t(sizeOf(tensor.type));
  for (int64_t size : tensor.shape)
    if (size < 0 ||
        __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes))
      return "has an impossible shape";
  for (const SavedPiece &piece : tensor.pieces)
    if (std::string fault = findPieceFault(tensor, piece); !fault.empty())
      return fault;
  if (tensor.origin.initializer.empty())
    return {};
  const char *fault = findOriginFault(tensor.origin, tensor.type, tensor.shape);
  return fault ? fault : "";
}

namespace {
/// Returns whether the list `a` of index ranges precedes the list `b`. The
/// order compares the first ranges of both lists. If the first ranges are
/// equal, the order compares the second ranges, and so on. If one list ends
/// before a difference, the shorter list precedes the longer list. A range
/// precedes another range if its begin is lower, or if the begins are equal and
/// its end is lower. For example, {[0, 2), [4, 6)} precedes {[0, 3)}, because
/// [0, 2) precedes [0, 3). A std::set needs such an order of its keys.
bool isBefore(const Runs &a, const Runs &b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const Run &x, const Run &y) {
        return x.lo != y.lo ? x.lo < y.lo : x.hi < y.hi;
      });
}

struct RunsBefore {
  bool operator()(const Runs &a, const Runs &b) const { return isBefore(a, b); }
};
} // namespace

/// Returns whether `parts` divides a dim of `size` elements. `parts` is a set
/// of parts, and each part is a list of index ranges. The parts divide the dim
/// if each index from 0 to `size` - 1 lies in exactly one range of all parts.
/// For example, `size` is 6:
///
/// - The parts {[0, 2), [4, 6)} and {[2, 4)} divide the dim.
/// - The parts {[0, 2)} and {[2, 4)} do not divide the dim, because no part
///   contains the indices 4 and 5.
/// - The parts {[0, 4)} and {[2, 6)} do not divide the dim, because both parts
///   contain the indices 2 and 3.
static bool divideDim(const std::set<Runs, RunsBefore> &parts, int64_t size) {
  Runs all;
  for (const Runs &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end(),
            [](const Run &a, const Run &b) { return a.lo < b.lo; });
  int64_t end = 0;
  for (const Run &run : all) {
    if (run.lo != end)
      return false;
    end = run.hi;
  }
  return end == size;
}

/// Returns whether the saved sub-tensors of `tensor` form a grid. In a grid,
/// each dim is divided into parts that contain each index exactly once. There
/// is exactly one sub-tensor for each combination of parts. Each element of the
/// tensor thus lies in exactly one sub-tensor.
///
/// For example, the rows of a 4x6 matrix are divided into [0, 2) and [2, 4).
/// The columns are divided into [0, 2), [2, 4) and [4, 6). The grid then has
/// 2 x 3 = 6 sub-tensors.
static bool isGrid(const SavedTensor &tensor) {
  const size_t numDims = tensor.shape.size();
  std::vector<std::set<Runs, RunsBefore>> parts(numDims);
  for (const SavedPiece &piece : tensor.pieces)
    for (size_t dim = 0; dim < numDims; ++dim)
      parts[dim].insert(piece.runs[dim]);
  size_t combinations = 1;
  for (size_t dim = 0; dim < numDims; ++dim) {
    combinations *= parts[dim].size();
    if (!divideDim(parts[dim], tensor.shape[dim]) ||
        combinations > tensor.pieces.size())
      return false;
  }
  std::set<std::vector<int64_t>> distinct;
  for (const SavedPiece &piece : tensor.pieces) {
    std::vector<int64_t> corner;
    for (const Runs &dim : piece.runs)
      corner.push_back(dim.front().lo);
    distinct.insert(corner);
  }
  return tensor.pieces.size() == combinations &&
         distinct.size() == combinations;
}

std::string findPiecesFault(const Manifest &manifest) {
  std::set<std::string> names;
  for (const SavedTensor &tensor : manifest.tensors) {
    if (!names.insert(tensor.name).second)
      return "tensor '" + tensor.name + "' is listed twice";
    const bool isEmpty = numElements(tensor.shape) == 0;
    if (isEmpty ? !tensor.pieces.empty() : !isGrid(tensor))
      return "the pieces of tensor '" + tensor.name +
             "' do not hold each element once";
  }
  return {};
}

} // namespace pcc::runtime
