//===- Composites.h - pattern sets of recognise-composites ----------------===//
//
// A composite is one op for a subgraph that exporters decompose: gelu, norms,
// softmax, rotary embedding, attention. Each function below adds the patterns
// of one composite. The decomposed forms that a pattern matches are drawn at
// the head of the source file Composite*.cpp. Operands of commutative ops may
// stand in either order, and constants may be scalars or splats.
//
// Invariant: a composite computes the same function as the ops that it
// replaces, up to rounding and the assumptions stated in the source file. A
// pattern that cannot prove this does not match.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H
#define PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H

#include "mlir/IR/PatternMatch.h"

namespace pcc::prepare {

/// Adds gelu, in the erf and the tanh form (CompositeGelu.cpp).
void addGeluPatterns(mlir::RewritePatternSet &patterns);
/// Adds layer_norm and rms_norm, and patterns that fuse a scale, a bias and the
/// casts around a norm into the norm (CompositeNorms.cpp).
void addNormPatterns(mlir::RewritePatternSet &patterns);
/// Adds softmax and log_softmax with the maximum subtracted
/// (CompositeSoftmax.cpp).
void addSoftmaxPatterns(mlir::RewritePatternSet &patterns);
/// Adds rotary position embedding (RoPE, Su et al. 2021), half-split and
/// interleaved (CompositeRotary.cpp).
void addRotaryPatterns(mlir::RewritePatternSet &patterns);
/// Adds attention with masks and grouped key heads (CompositeAttention.cpp).
/// Reads `graph.softmax` ops, so the softmax patterns must have run before.
void addAttentionPatterns(mlir::RewritePatternSet &patterns);
/// Adds the replacement of a causal mask of `graph.attention` by its flag
/// `causal` (CompositeCausal.cpp).
void addCausalPatterns(mlir::RewritePatternSet &patterns);
/// Adds the mark `graph.chosen` on sums of expert outputs of which each token
/// uses few (mixture of experts; CompositeExperts.cpp).
void addExpertPatterns(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H
