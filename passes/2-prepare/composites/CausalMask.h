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

/// Two facts about an attention mask with the query index s and the key index t
/// in its last two dims. A member is true only if readCausalMask() has proved
/// the fact. Both facts hold for this mask, which is added to the scores (-inf
/// hides a key):
///
///   t:      0     1     2
///   s = 0   0    -inf  -inf
///   s = 1   0     0    -inf
///   s = 2   0     0     0
struct CausalMask {
  /// Whether the mask hides every key t > s from query s.
  bool hidesLater = false;
  /// Whether the mask keeps every key t <= s visible to query s. A boolean mask
  /// keeps a key visible by the element true. A float mask, which the attention
  /// adds to the scores, keeps a key visible by the element 0. If `hidesLater`
  /// is true too, the flag `causal` of an attention op can replace the mask.
  bool keepsOthers = false;
};

/// Tries to prove the two facts of CausalMask about an attention mask. A
/// boolean mask keeps a key by true and hides it by false. A float mask is
/// added to the scores: 0 keeps a key, and -infinity hides it. Exporters of f16
/// models write -65504 in place of -infinity. If `keepsOthers` is proved, each
/// query sees a key, and numbers of at most -65504 hide the other keys.
/// Otherwise, a query may have -65504 for all keys, and the softmax still gives
/// each key a weight. Both facts are false if the sizes of the last two dims
/// differ or are less than 2.
CausalMask readCausalMask(mlir::Value mask);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
