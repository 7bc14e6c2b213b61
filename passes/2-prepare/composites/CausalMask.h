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
/// one is indexed by the query s, the last dim by the key t. A member is false
/// if the fact is not proven.
///
///   t:      0     1     2
///   s = 0   0    -inf  -inf      hidesLater: all elements above the diagonal
///   s = 1   0     0    -inf      keepsOthers: the diagonal and below
///   s = 2   0     0     0
struct CausalMask {
  /// Whether the mask hides every key t > s from query s.
  bool hidesLater = false;
  /// Whether every key t <= s is visible to query s, and the mask adds 0 to its
  /// score. If `hidesLater` is also true, the flag `causal` of attention can
  /// replace the mask.
  bool keepsOthers = false;
};

/// Proves facts about `mask`, which is either boolean (true keeps a key) or
/// float (added to the scores). The last two dims must be equal and at least 2,
/// else no fact is proven. These elements hide their key:
///
///   false, -infinity               always
///   -65504 (lowest f16) or lower   if `keepsOthers` is true
///
/// In the second case each query has a key to whose score the mask adds 0.
/// Therefore the softmax weight of the hidden key underflows to 0.
///
/// The proof examines the ops that compute the mask, up to a limited number:
/// constants, comparisons of token positions, selects, sums and boolean ops. If
/// any other op computes the mask, nothing is proven.
CausalMask readCausalMask(mlir::Value mask);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
