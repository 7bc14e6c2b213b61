//===- Weights.cpp - the elements of weights ------------------------------===//

#include "passes/interpret/Weights.h"
#include "dialects/graph/meaning/Strides.h"
#include "passes/interpret/Bytes.h"
#include "passes/interpret/RandomTensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;
using namespace pcc::interpret;

WeightSource::WeightSource(ModuleOp module) : module(module) {
  if (auto path = module->getAttrOfType<StringAttr>("graph.root"))
    root = path.str();
  if (auto given = module->getAttrOfType<IntegerAttr>("rank.random_weights"))
    seed = given.getInt();
}

/// `tensor` read with other strides and another shape.
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

static HostTensor permuted(const HostTensor &tensor, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape, strides, own = rowMajor(tensor.shape);
  for (int64_t dim : perm) {
    shape.push_back(tensor.shape[dim]);
    strides.push_back(own[dim]);
  }
  return restrided(tensor, shape, 0, strides);
}

static HostTensor sliced(const HostTensor &tensor, WeightSliceAttr slice) {
  SmallVector<int64_t> shape(tensor.shape), strides = rowMajor(tensor.shape);
  int64_t offset = slice.getStart() * strides[slice.getDim()];
  shape[slice.getDim()] = slice.getSize();
  strides[slice.getDim()] *= slice.getStep();
  return restrided(tensor, shape, offset, strides);
}

/// The weight after one transform. Casts between floats keep f64; the op that
/// reads the weight rounds if it is asked to.
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

FailureOr<HostTensor> WeightSource::stored(WeightAttr weight,
                                           StringRef parameter,
                                           std::string &error) {
  std::string path = root.empty() ? weight.getFile().str()
                                  : root + "/" + weight.getFile().str();
  RankedTensorType type = weight.getStored();
  if (seed && !llvm::sys::fs::exists(path))
    return randomTensor(type, *seed ^ llvm::xxh3_64bits(parameter));
  int64_t size = type.getNumElements() * bytesOf(type.getElementType());
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, size, weight.getOffset(),
                                                 /*IsVolatile=*/false);
  if (!buffer) {
    error = "cannot read '" + path + "': " + buffer.getError().message();
    return failure();
  }
  if (static_cast<int64_t>((*buffer)->getBufferSize()) < size) {
    error = "'" + path + "' ends within weight '" + parameter.str() + "'";
    return failure();
  }
  return readElements(type, (*buffer)->getBufferStart());
}

FailureOr<HostTensor> WeightSource::read(StringRef name, std::string &error) {
  auto parameter = module.lookupSymbol<ParameterOp>(name);
  if (!parameter) {
    error = "no weight is called '" + name.str() + "'";
    return failure();
  }
  WeightAttr weight = parameter.getWeightAttr();
  auto type = cast<RankedTensorType>(parameter.getType());
  if (!weight)
    return randomTensor(type, seed.value_or(0) ^ llvm::xxh3_64bits(name));
  auto tensor = stored(weight, name, error);
  if (failed(tensor))
    return failure();
  for (Attribute transform : weight.getTransforms())
    *tensor = transformed(std::move(*tensor), transform);
  return tensor;
}
