//===- Provenance.h - endpoints and causes of reshards, for pcc explain ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
#define PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H

#include "dialects/dist/Decision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Returns a description of the op or function argument that produces `value`,
/// for `pcc explain`. The description of an op contains the decisions of the
/// sharding search about the op, such as "split dim 1" for the mesh axis tp.
///
/// The function looks through three kinds of ops: a reshard (change of
/// sharding), a transfer to another pipeline stage, and a pin (requested
/// sharding). For example, a matmul computes x, and a reshard changes the
/// sharding of x. If `value` is the result of the reshard, the function returns
/// the description of the matmul.
dist::Endpoint endpointOf(mlir::Value value);

/// Returns a description of the reader of the operand `use`, for `pcc explain`.
/// The reader is an op, a pin (requested sharding), or an output of the model.
dist::Endpoint endpointOf(mlir::OpOperand &use);

/// Returns a description of a pin for `pcc explain`. A pin is a request for the
/// sharding of one value. `op` produces the value, and `seed` is the request.
/// If the search has decided another sharding, the compiler inserts a reshard
/// (change of sharding) after `op`. `pcc explain` then prints the description
/// as the reason for this reshard.
dist::Endpoint pinEndpoint(mlir::Operation *op, const Seed &seed);

/// Returns the location for a reshard of `value`. A reshard is an op that
/// changes the sharding of a tensor. The returned location is the location of
/// `value`, with an attached record (dist::Cause). The record says why the
/// reshard is needed, so that `pcc explain` can print the reason. The record
/// contains:
///
/// - the op or function argument that produces `value`
/// - `uses`, the consumers that need the reshard
mlir::Location reshardLocation(mlir::Value value,
                               llvm::ArrayRef<dist::Endpoint> uses);

/// Returns a record of `step` for `pcc explain`. `step` is one communication of
/// a reshard (change of sharding), such as an all-gather. It must not be a
/// slice, which does not communicate. `isShared` is true if another operand
/// needs the same reshard, so that the communication serves both operands.
dist::PricedStep pricedStep(const plan::ReshardStep &step,
                            const dist::Mesh &mesh, bool isShared = false);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
