//===- WeightSource.cpp - elements of weights, read from files ------------===//

#include "passes/interpret/elements/WeightSource.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Strides.h"
#include "dialects/rank/RankDialect.h"
#include "passes/interpret/elements/FileElements.h"
#include "passes/interpret/elements/RandomElements.h"
#include "runtime/base/MappedFile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;
using namespace pcc::interpret;
using runtime::ElementType;

WeightSource::WeightSource(ModuleOp module) : module(module), root(".") {
  if (auto path = module->getAttrOfType<StringAttr>(graph::rootName))
    root = path.str();
  if (auto given = module->getAttrOfType<IntegerAttr>(rank::randomWeightsName))
    seed = given.getInt();
}

/// Copies elements of `tensor` to a new dense tensor of shape `shape`. Element
/// [i, j] of the new tensor is the element of `tensor` with the row-major index
/// `offset` + i * strides[0] + j * strides[1].
static HostTensor restrided(const HostTensor &tensor, ArrayRef<int64_t> shape,
                            int64_t offset, Strides strides) {
  HostTensor result = HostTensor::zeros(shape, tensor.kind);
  withStorage(tensor.kind, [&](auto zero) {
    using T = decltype(zero);
    copyStrided(shape, result.data<T>(), rowMajor(shape),
                tensor.data<T>() + offset, std::move(strides));
  });
  return result;
}

/// Returns a transposed copy of `tensor`: dim i of the result is dim perm[i] of
/// `tensor`.
static HostTensor permuted(const HostTensor &tensor, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape, strides, own = rowMajor(tensor.shape);
  for (int64_t dim : perm) {
    shape.push_back(tensor.shape[dim]);
    strides.push_back(own[dim]);
  }
  return restrided(tensor, shape, 0, strides);
}

/// Returns a copy of the part of `tensor` that `slice` selects. `slice` has
/// four numbers: the dim to slice, the first index to copy along this dim, the
/// number of indices to copy, and the step from one copied index to the next.
/// For example, the dim 0, the first index 1, the number 3 and the step 2
/// select the rows 1, 3 and 5 of a matrix.
static HostTensor sliced(const HostTensor &tensor, WeightSliceAttr slice) {
  SmallVector<int64_t> shape(tensor.shape), strides = rowMajor(tensor.shape);
  int64_t offset = slice.getStart() * strides[slice.getDim()];
  shape[slice.getDim()] = slice.getSize();
  strides[slice.getDim()] *= slice.getStep();
  return restrided(tensor, shape, offset, strides);
}

/// Applies `transform` to `tensor`, a weight from a file: a permutation of the
/// dims, a slice, a reshape or a cast. A cast changes nothing, because a
/// HostTensor stores all floats as f64. The caller of WeightSource::read() may
/// round them.
static HostTensor transformed(HostTensor tensor, Attribute transform) {
  return llvm::TypeSwitch<Attribute, HostTensor>(transform)
      .Case([&](PermuteAttr permute) {
        return permuted(tensor, permute.getPerm());
      })
      .Case([&](WeightSliceAttr slice) { return sliced(tensor, slice); })
      .Case([&](ReinterpretAttr reshape) {
        tensor.shape.assign(reshape.getShape().begin(),
                            reshape.getShape().end());
        return tensor;
      })
      .Default([&](Attribute) { return tensor; });
}

/// Reads the elements of `weight` from the file `path` as they are stored
/// there. Does not apply the weight's transforms, such as a transpose.
static Status readFile(WeightAttr weight, ElementType type,
                       const std::string &path, HostTensor &tensor) {
  RankedTensorType stored = weight.getStored();
  const auto size = uint64_t(stored.getNumElements()) * runtime::sizeOf(type);
  runtime::MappedFile file;
  std::span<const std::byte> bytes;
  PCC_RETURN_IF_ERROR(runtime::MappedFile::open(path, file, CannotRead));
  PCC_RETURN_IF_ERROR(
      file.slice(uint64_t(weight.getOffset()), size, CannotRead, bytes));
  tensor = readElements(stored.getShape(), type,
                        reinterpret_cast<const char *>(bytes.data()));
  return file.checkUnchanged(CannotRead);
}

/// Returns a tensor of the shape of `type` whose elements are all `number`.
static HostTensor filled(RankedTensorType type, double number) {
  HostTensor tensor = HostTensor::zeros(type);
  withStorage(tensor.kind, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(tensor.data<T>(), tensor.numElements(), static_cast<T>(number));
  });
  return tensor;
}

/// Sets `tensor` to the initial value of the parameter `name`. If the parameter
/// has a fill value, all elements have this value. Otherwise, reads the
/// elements from the weight file, or generates random elements if there is no
/// file. Then applies the transforms of the weight, such as a transpose.
Status WeightSource::read(StringRef name, HostTensor &tensor) {
  auto parameter = module.lookupSymbol<ParameterOp>(name);
  if (!parameter)
    return Status::error(Defect, "no weight is called '" + name.str() + "'");
  if (auto fill = parameter.getFill()) {
    tensor = filled(cast<RankedTensorType>(parameter.getType()),
                    fill->convertToDouble());
    return Status::success();
  }
  WeightAttr weight = parameter.getWeightAttr();
  auto type =
      weight ? weight.getStored() : cast<RankedTensorType>(parameter.getType());
  auto stored = fileTypeOf(type.getElementType());
  if (!stored)
    return Status::error(Unsupported,
                         "weight '" + name.str() +
                             "' has elements of a type that files cannot hold");
  if (!weight || weight.isAbsent())
    tensor = randomElements(runtime::randomWeight(seed, name.str(), *stored),
                            type.getShape());
  else if (Status status = readFile(
               weight, *stored, root + "/" + weight.getFile().str(), tensor);
           status.failed())
    return status.prefixed("weight '" + name.str() + "': ");
  if (weight)
    for (Attribute transform : weight.getTransforms())
      tensor = transformed(std::move(tensor), transform);
  return Status::success();
}
