//===- Provenance.h - endpoints and causes of reshards, for pcc explain ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
#define PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H

#include "dialects/dist/Decision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Returns the op or the function argument that makes `value`, with the
/// decisions about it. Reshards, pins and transfers on the way are skipped.
dist::Endpoint endpointOf(mlir::Value value);

/// Returns the reader of `use`: an op, a pin of the model, or an output.
dist::Endpoint endpointOf(mlir::OpOperand &use);

/// Returns the endpoint for `seed`, to which the result of `op` is pinned.
dist::Endpoint pinEndpoint(mlir::Operation *op, const Seed &seed);

/// Returns the location of a reshard of `value` for `uses`: the value's
/// location with the cause of the reshard attached (dialects/dist/Decision.h).
mlir::Location reshardLocation(mlir::Value value,
                               llvm::ArrayRef<dist::Endpoint> uses);

/// Returns a step of a reshard in the form in which decisions keep it.
/// `isShared` marks a step that other readers need, too. `step` must
/// communicate.
dist::PricedStep pricedStep(const plan::ReshardStep &step,
                            const dist::Mesh &mesh, bool isShared = false);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
