//===- InspectText.h - a bundle for people to read ------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_INSPECTTEXT_H
#define PCC_RUNTIME_PROGRAM_INSPECTTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pcc::runtime {

/// What `inspect --json` would print, as a page of text. With one rank its
/// weights are listed, with several one line per rank.
std::string inspectText(const nlohmann::ordered_json &bundle);

/// The actions of all programs: a line each, separated by commas.
std::string scheduleText(const nlohmann::ordered_json &programs);

/// "96.0 KiB"
std::string bytesText(double bytes);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSPECTTEXT_H
