//===- AxisRole.h - what a mesh axis may split ----------------------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
#define PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pcc::shard {

/// What an axis is for, which restricts what it may split. Those of the
/// sequence must split it in every op on tokens (SequenceOps) where it can be. The
/// roles that know of experts may split anything between tokens and experts
/// (ExpertRegion), and must split the batch, or the sequence, everywhere else.
enum class AxisRole : uint8_t {
  Batch,    ///< the batch, of every input that has one: `dp`, and `mb` in time
  Sequence, ///< the sequence, or heads within attention: `cp`
  Tensor,   ///< anything but the batch and stripes, and every contraction
            ///< weight: `tp`
  Free,     ///< anything: axes of the user's own
  BatchAndExperts, ///< the batch, and the experts, whose weights must be split
  SequenceAndExperts,     ///< the same with the sequence
  BatchOutsideExperts,    ///< the batch, where other parts divide experts
  SequenceOutsideExperts, ///< the same with the sequence
  Storage, ///< weights as they are stored, where the axis splits nothing of
           ///< them
};

/// By the reserved names; the names of `--mesh` are free, and so is the mesh of
/// all others.
AxisRole roleOf(llvm::StringRef axis);

/// The role of parts of an axis with `role` where experts are divided, by these
/// parts or by others.
AxisRole withExperts(AxisRole role, bool divides);

/// Whether axes of this role divide experts: BatchAndExperts and
/// SequenceAndExperts.
bool dividesExperts(AxisRole role);

/// Whether experts restrict axes of this role: the two of dividesExperts and
/// the two whose names end in OutsideExperts.
bool knowsExperts(AxisRole role);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
