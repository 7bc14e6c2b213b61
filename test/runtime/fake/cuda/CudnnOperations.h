//===- CudnnOperations.h - a graph of operations, as cuDNN is told it -----===//

#ifndef PCC_TEST_RUNTIME_FAKE_CUDA_CUDNNOPERATIONS_H
#define PCC_TEST_RUNTIME_FAKE_CUDA_CUDNNOPERATIONS_H

#include "test/runtime/fake/cuda/AccessLog.h"

#include <array>
#include <cudnn_graph.h>

namespace pcc::fake {

/// A tensor of four dims.
struct CudnnTensor {
  using Dims = std::array<int64_t, 4>;
  int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Dims dims = {}, strides = {};
  bool isVirtual = false, isNumber = false;

  int64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  /// Returns the bytes from the first element to the end of the last one.
  size_t bytes() const;
  bool operator==(const CudnnTensor &) const = default;
};

enum class CudnnKind { Product, Pointwise, Reduction, Reorder };

/// result = kind(a, b, condition). An absent operand has no dims.
struct CudnnOperation {
  CudnnKind kind;
  CudnnTensor a, b, condition, result;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;
  int64_t dim = -1;
};

/// The operations of a graph, in the order in which they run.
class CudnnOperations {
public:
  std::vector<CudnnOperation> operations;

  /// Returns the reason why the fake cannot run the graph: an unknown feature,
  /// or dims that do not fit. Returns an empty string if it can.
  std::string findFault() const;
  /// Finds the accesses of the graph. `places` maps ids to addresses. Returns
  /// false if the id of a tensor of the graph is missing, or if there is an id
  /// of any other tensor, which cuDNN refuses as well.
  bool findAccesses(const std::map<int64_t, void *> &places,
                    std::vector<Access> &accesses) const;
  void run(const std::map<int64_t, void *> &places) const;
};

} // namespace pcc::fake

#endif // PCC_TEST_RUNTIME_FAKE_CUDA_CUDNNOPERATIONS_H
