//===- Composites.h - rewrites of recognise-composites --------------------===//
//
// Each finds one composite; the form that it reads is drawn in its file.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H
#define PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H

#include "mlir/IR/PatternMatch.h"

namespace pcc::prepare {

void addGelu(mlir::RewritePatternSet &patterns);
void addNorms(mlir::RewritePatternSet &patterns);
void addSoftmax(mlir::RewritePatternSet &patterns);
void addRotary(mlir::RewritePatternSet &patterns);
void addAttention(mlir::RewritePatternSet &patterns);
void addCausal(mlir::RewritePatternSet &patterns);
void addExperts(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H
