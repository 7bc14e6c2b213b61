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

/// Adds the pattern that creates gelu ops, from the exact formula with erf and
/// from the tanh approximation (CompositeGelu.cpp).
void addGeluPatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns that create layer_norm and rms_norm ops (CompositeNorms.cpp).
/// Other patterns in the set fuse a scale, a bias and casts around a norm into
/// the norm.
void addNormPatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns that create softmax and log_softmax ops from exponentials of x
/// − max(x) (CompositeSoftmax.cpp).
void addSoftmaxPatterns(mlir::RewritePatternSet &patterns);
/// Adds the pattern that creates rotary position embedding ops (RoPE, Su et al.
/// 2021) from x · cos + r · sin (CompositeRotary.cpp). For x = [x0, x1, x2,
/// x3], r is [−x2, −x3, x0, x1] or, interleaved, [−x1, x0, −x3, x2].
void addRotaryPatterns(mlir::RewritePatternSet &patterns);
/// Adds the pattern that creates `graph.attention` ops
/// (CompositeAttention.cpp). The pattern matches `graph.softmax` ops. Therefore
/// run the patterns of addSoftmaxPatterns first.
void addAttentionPatterns(mlir::RewritePatternSet &patterns);
/// Adds the pattern that replaces a causal mask of `graph.attention` by the
/// op's flag `causal` (CompositeCausal.cpp).
void addCausalPatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns for mixtures of experts in which a token uses only a few
/// experts (CompositeExperts.cpp). The model multiplies the output of each
/// expert by a weight and adds the products. The weight is 0 for an expert that
/// the token does not use. The patterns replace this sum by an einsum with the
/// attribute `graph.chosen`, which is the largest number of experts that one
/// token can use.
void addExpertPatterns(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_COMPOSITES_H
