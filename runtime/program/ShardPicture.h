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
  /// Elements that each rank holds: one list of runs (contiguous ranges of
  /// global indices) per dim. Example: a rank that holds rows 0 to 3 and
  /// columns 0, 1, 4 and 5 of a tensor has the run [0, 4) in dim 0 and the runs
  /// [0, 2) and [4, 6) in dim 1.
  std::map<int64_t, std::vector<dist::Runs>> parts = {};
};

/// Returns ranks in ascending order as text, such as "rank 0-2 5". If there are
/// more than four ranges of ranks, the text contains only the first two ranges,
/// the last range and the number of ranks: "rank 0 8 … 120 (16 ranks)".
std::string rankListText(const std::vector<int64_t> &ranks);

/// Returns the name, type and shape, such as "w f32[4, 6]".
std::string titleOf(const HeldTensor &tensor);

/// Draws how ranks divide a tensor, as a table of text at most 100 characters
/// wide. A cell stands for one part of the tensor, and contains the ranks that
/// hold this part. The table shows at most two dims. These are the first two
/// dims that are divided: the first one as rows, the second one as columns.
/// Example: the columns of a tensor consist of three equal blocks, and tp = 2
/// divides each block:
///
///     ┌────────┬────────┬────────┬────────┬────────┬────────┐
///     │ rank 0 │ rank 1 │ rank 0 │ rank 1 │ rank 0 │ rank 1 │
///     └────────┴────────┴────────┴────────┴────────┴────────┘
///
/// A dim of more than 16 parts is cut off, and a last line says so.
std::string shardPicture(const HeldTensor &tensor);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SHARDPICTURE_H
