//===- ShardPicture.h - parts of tensors as ranks hold them ---------------===//

#ifndef PCC_RUNTIME_PROGRAM_SHARDPICTURE_H
#define PCC_RUNTIME_PROGRAM_SHARDPICTURE_H

#include "sharding/Runs.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A tensor, and the part of it that each rank holds.
struct HeldTensor {
  std::string name, dtype;
  /// Global shape.
  std::vector<int64_t> shape;
  /// For each rank that holds a part, the runs of global indices of each dim.
  std::map<int64_t, std::vector<dist::Runs>> parts = {};
};

/// Returns ranks in ascending order as text, such as "rank 0-2 5". Of more than
/// four ranges, the text has the first two, the last one and the number of all
/// ranks: "rank 0 8 … 120 (16 ranks)".
std::string rankListText(const std::vector<int64_t> &ranks);

/// Returns the name, type and shape, such as "w f32[4, 6]".
std::string titleOf(const HeldTensor &tensor);

/// Draws the parts of a tensor with lines, at most 100 columns wide. A cell has
/// the ranks that hold the part. At most two dims are drawn: the first two that
/// are divided, as rows and columns. Example: tp = 2 divides three equal blocks
/// of the columns:
///
///     ┌────────┬────────┬────────┬────────┬────────┬────────┐
///     │ rank 0 │ rank 1 │ rank 0 │ rank 1 │ rank 0 │ rank 1 │
///     └────────┴────────┴────────┴────────┴────────┴────────┘
///
/// A dim of more than 16 parts is cut off, and a last line says so.
std::string shardPicture(const HeldTensor &tensor);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SHARDPICTURE_H
