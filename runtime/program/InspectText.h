//===- InspectText.h - readable text of a bundle description --------------===//

#ifndef PCC_RUNTIME_PROGRAM_INSPECTTEXT_H
#define PCC_RUNTIME_PROGRAM_INSPECTTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pcc::runtime {

/// Returns the description of a bundle as a readable page, with one line per
/// rank. `bundle` is the JSON that `pcc inspect --json` prints. For a single
/// rank, the page also lists the tensors.
std::string inspectText(const nlohmann::ordered_json &bundle);

/// Returns the actions of all programs as comma-separated values, one program
/// per line. `programs` is the list "programs" in bundle.json.
std::string scheduleText(const nlohmann::ordered_json &programs);

/// Returns a number of bytes as text in a suitable binary unit, such as "96.0
/// KiB".
std::string bytesText(double bytes);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSPECTTEXT_H
