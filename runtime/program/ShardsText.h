//===- ShardsText.h - page of the shards that ranks hold ------------------===//

#ifndef PCC_RUNTIME_PROGRAM_SHARDSTEXT_H
#define PCC_RUNTIME_PROGRAM_SHARDSTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pcc::runtime {

/// Returns text with pictures of the shards that each rank holds. `ranks` is
/// the list with this name in the output of `pcc inspect --json`. Each tensor
/// in this list must also have the fields "dtype", "shape" and "sharding".
///
/// One picture stands for all tensors with equal type, shape, sharding and
/// shards. If the pictures would need more than 40 lines, the last tensors get
/// only a line each in a table.
std::string shardsText(const nlohmann::ordered_json &ranks);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SHARDSTEXT_H
