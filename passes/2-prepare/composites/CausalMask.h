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

/// Two facts about an attention mask of shape [..., S, S]. The last two dims
/// have the query index s and the key index t. A member is true only if the
/// function readCausalMask() has proved the fact. Both facts hold for this
/// mask, which is added to the scores:
///
///   t:      0     1     2
///   s = 0   0    -inf  -inf
///   s = 1   0     0    -inf
///   s = 2   0     0     0
///
/// The element -inf hides key t from query s. The element 0 keeps key t visible
/// to query s. The fact `hidesLater` says that all elements above the diagonal
/// hide their keys. The fact `keepsOthers` says that all other elements keep
/// their keys visible.
struct CausalMask {
  /// Whether the mask hides every key t > s from query s.
  bool hidesLater = false;
  /// Whether every key t <= s is visible to query s: the mask is true, or adds
  /// 0 to the score. If `hidesLater` is true too, the flag `causal` of an
  /// attention op can replace the mask.
  bool keepsOthers = false;
};

/// Finds out whether an attention mask hides each key t > s from query s, and
/// whether it keeps each key t <= s. The last two dims of the mask must have
/// the same size, which must be at least 2. A boolean mask selects scores. A
/// float mask is added to the scores. The function interprets the elements like
/// this:
///
///   mask      keeps a key   hides a key
///   boolean   true          false
///   float     0             -infinity, or a number of at most -65504
///
/// The lowest f16 number is -65504. A finite number counts as hiding a key only
/// if the mask provably has the element 0 for every key t <= s.
///
/// The function understands constants, comparisons of token positions, selects,
/// sums and boolean ops. It proves nothing about a mask that other ops compute.
CausalMask readCausalMask(mlir::Value mask);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
