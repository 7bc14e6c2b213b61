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

/// Facts that readCausalMask() has proved about an attention mask with the
/// query index s and the key index t. Both are true if query s provably sees
/// exactly the keys t <= s. A member is false if the proof fails.
struct CausalMask {
  /// Whether the mask hides every key t > s from query s.
  bool hidesLater = false;
  /// Whether the mask keeps every key t <= s visible to query s. A boolean mask
  /// keeps a key visible by the element true. A float mask, which the attention
  /// adds to the scores, keeps a key visible by the element 0. If `hidesLater`
  /// is true too, the flag `causal` of an attention op can replace the mask.
  bool keepsOthers = false;
};

/// Tries to prove the facts of CausalMask. An element of a boolean mask hides a
/// key if it is false. A float mask is added to the scores. An element of a
/// float mask hides a key if it is -infinity. If `keepsOthers` is proved, each
/// query sees a key, so an element of at most -65504 (the lowest f16 number)
/// also hides a key. Both facts are false if the mask has fewer than two dims,
/// or if its last two dims differ in size or are smaller than 2.
CausalMask readCausalMask(mlir::Value mask);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
