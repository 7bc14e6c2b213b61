//===- JsonNumbers.h - numbers of JSON files ------------------------------===//

#ifndef PCC_RUNTIME_TENSOR_JSONNUMBERS_H
#define PCC_RUNTIME_TENSOR_JSONNUMBERS_H

#include <nlohmann/json_fwd.hpp>

namespace pcc::runtime {

/// Rounds each number in `json` that is not whole to nine significant digits,
/// so that a report says 0.044680017 and not 0.044680016999999995. The numbers
/// are measured or predicted, and further digits mean nothing. Fields called
/// "loss" and "grad_norm" keep all digits, because runs are compared by them
/// bit by bit.
void roundNumbers(nlohmann::ordered_json &json);

/// Returns `json` with rounded numbers, as roundNumbers() does it.
nlohmann::ordered_json withRoundNumbers(nlohmann::ordered_json json);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_JSONNUMBERS_H
