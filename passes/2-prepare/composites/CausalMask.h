//===- CausalMask.h - facts about causal attention masks ------------------===//
//
// Causal attention (decoder-only transformers): query s sees keys t <= s. An
// attention op with the flag `causal` skips the hidden keys in place of reading
// a mask of S x S elements.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
#define PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H

#include "mlir/IR/Value.h"

namespace pcc::prepare {

/// Facts that are proven about an attention mask [..., S, S]. The last dim but
/// one has the query index s, the last dim has the key index t. False means
/// unknown.
///
///   t:      0     1     2
///   s = 0   0    -inf  -inf      hidesLater: all elements above the diagonal
///   s = 1   0     0    -inf      keepsOthers: the diagonal and below
///   s = 2   0     0     0
struct CausalMask {
  /// Whether every key t > s is hidden.
  bool hidesLater = false;
  /// Whether every key t <= s is visible and the mask adds 0 to its score. If
  /// both members are true, `causal` can replace the mask entirely.
  bool keepsOthers = false;
};

/// Proves facts about `mask`, which is either boolean (true keeps a key) or
/// float (added to the scores). Masks whose last two dims are unequal, or
/// smaller than 2, give no facts.
///
/// A key is hidden by false or by -inf. If `keepsOthers` holds, a finite number
/// that is at most the lowest f16 (-65504) hides a key as well: next to a
/// visible key its softmax weight is 0. The proof follows constants,
/// comparisons of positions, selects, sums and boolean ops backwards through a
/// bounded number of ops; everything else counts as unknown.
CausalMask readCausalMask(mlir::Value mask);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
