//===- Composites.h - rewrites of recognise-composites --------------------===//
//
// Each finds one composite; the form that it reads is drawn in its file.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H
#define PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H

#include "mlir/IR/PatternMatch.h"

namespace pcc::prepare {

void addGeluPatterns(mlir::RewritePatternSet &patterns);
void addNormPatterns(mlir::RewritePatternSet &patterns);
void addSoftmaxPatterns(mlir::RewritePatternSet &patterns);
void addRotaryPatterns(mlir::RewritePatternSet &patterns);
void addAttentionPatterns(mlir::RewritePatternSet &patterns);
void addCausalPatterns(mlir::RewritePatternSet &patterns);
void addExpertPatterns(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H
