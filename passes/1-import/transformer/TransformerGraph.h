//===- TransformerGraph.h - graph of a transformer without a file ---------===//

#ifndef PCC_PASSES_1_IMPORT_TRANSFORMER_TRANSFORMERGRAPH_H
#define PCC_PASSES_1_IMPORT_TRANSFORMER_TRANSFORMERGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/1-import/transformer/TransformerSpec.h"

namespace pcc {

/// Makes the module that an import of such a model would give: the function
/// @main from token numbers `input_ids` [batch, seq] to `logits` [batch, seq,
/// vocab], in f32, and one `graph.parameter` without a file per weight. Names
/// of nodes and weights begin with those of their layer, such as "layers.3".
mlir::OwningOpRef<mlir::ModuleOp> makeTransformer(const TransformerSpec &spec,
                                                  int64_t batch,
                                                  mlir::MLIRContext *context);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_TRANSFORMER_TRANSFORMERGRAPH_H
