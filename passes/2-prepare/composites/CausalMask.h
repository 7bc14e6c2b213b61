//===- CausalMask.h - does a mask hide what comes later? ------------------===//

#ifndef PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
#define PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H

#include "mlir/IR/Value.h"

namespace pcc::prepare {

/// What is known about a mask [..., S, S] of queries s and keys t.
struct CausalMask {
  bool hidesLater = false;  ///< t > s is hidden everywhere
  bool keepsOthers = false; ///< t ≤ s is hidden nowhere, and nothing is added
};

/// Of an additive float mask, or a mask of booleans that keep. An element hides
/// a key if it is false or −∞. Where all of t ≤ s is kept a number that is at
/// most the lowest f16 does as well: the key's weight is 0 next to those that
/// are kept.
CausalMask readCausalMask(mlir::Value mask);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_CAUSALMASK_H
