//===- ShardsText.h - page of the shards that ranks hold ------------------===//

#ifndef PCC_RUNTIME_PROGRAM_SHARDSTEXT_H
#define PCC_RUNTIME_PROGRAM_SHARDSTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pcc::runtime {

/// Returns a page about the tensors of `ranks`, the list of `pcc inspect
/// --json`, with one picture for all tensors that the same ranks hold in the
/// same parts. After about 40 lines, tensors have a line each. The tensors also
/// have the fields "dtype", "shape" and "sharding".
std::string shardsText(const nlohmann::ordered_json &ranks);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SHARDSTEXT_H
