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
  /// Whether the mask keeps every key t <= s visible to query s. A boolean mask
  /// keeps a key visible by the element true. A float mask, which the attention
  /// adds to the scores, keeps a key visible by the element 0. If `hidesLater`
  /// is true too, the flag `causal` of an attention op can replace the mask.
  bool keepsOthers = false;
};

/// Tries to prove two facts about an attention mask. The mask has the shape
/// [..., S, S]. The last two dims have the query index s and the key index t:
///
///   hidesLater    the mask hides each key t > s from query s
///   keepsOthers   the mask keeps each key t <= s visible to query s
///
/// In the result, a fact is true only if the function has proved it. If the
/// sizes of the last two dims differ, or if S is less than 2, both facts are
/// false.
///
/// A boolean mask selects attention scores, and a float mask is added to them.
/// The elements have this meaning:
///
///   mask      element keeps the key   element hides the key
///   boolean   true                    false
///   float     0                       -infinity
///
/// Exporters of f16 models write the lowest f16 number, -65504, in place of
/// -infinity. The function first tries to prove `keepsOthers`, and then tries
/// to prove `hidesLater`. There are two cases for `hidesLater`:
///
///   - If the function has proved `keepsOthers`, each query s sees at least key
///     s. An element of at most -65504 then counts as hiding its key. For
///     example, the softmax of [0, -65504] is [1, 0].
///   - If the function has not proved `keepsOthers`, only the element -infinity
///     counts as hiding its key. The element -65504 might not hide the key: if
///     all keys of a query have the element -65504, the softmax still gives a
///     weight to each key. For example, the softmax of [-65504, -65504] is
///     [0.5, 0.5].
///
/// The proofs use the ops that compute the mask: constants, comparisons of
/// token positions, selects, sums, boolean ops, broadcasts, and reshapes that
/// add or remove leading dims of size 1. The function proves nothing about the
/// results of other ops.
CausalMask readCausalMask(mlir::Value mask);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
