//===- BundleFields.h - checked content of bundle.json and explain.json ---===//
//
// A bundle is the directory that pcc writes. It has the files bundle.json,
// which describes it, and explain.json, which tells why its collectives are
// there. Both have a checksum, which is not a secret: a stranger can edit a
// file and make the checksum anew. All readers therefore read the files by the
// functions below, and need no checks of their own.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_BUNDLE_BUNDLEFIELDS_H
#define PCC_RUNTIME_PROGRAM_BUNDLE_BUNDLEFIELDS_H

#include "runtime/program/bundle/FieldCheck.h"

namespace pcc::runtime {

/// Reads the file bundle.json in the directory `bundle`. Sets `content` to the
/// file's JSON object, without its seal (checksum). Returns an error with exit
/// code 11 if the file is absent or damaged, or if a field is absent, has a
/// wrong value or contradicts another field. Returns exit code 7 if the system
/// refuses access.
Status readBundleJson(const std::string &bundle,
                      nlohmann::ordered_json &content);

/// Reads the file explain.json in the directory `bundle`. Sets `content` to the
/// fields of `pcc explain --json`. Returns an error with exit code 11 if the
/// file is absent or damaged, if a field is absent or has a wrong value, or if
/// the file belongs to another bundle. Returns exit code 7 if the system
/// refuses access.
Status readExplainJson(const std::string &bundle,
                       nlohmann::ordered_json &content);

/// Returns the text of the file explain.json for a bundle. `explanation` is the
/// JSON of `pcc explain --json`, and `bundleJson` the text of the file
/// bundle.json. The result has a member "bundle" with the seal of bundle.json:
/// readExplainJson() refuses the file in another bundle.
std::string explainJsonFor(std::string explanation,
                           const std::string &bundleJson);

/// Returns the first fault of `bundle`, the content of bundle.json. Returns
/// nothing if each field has a possible value and no field contradicts another
/// field.
std::optional<FieldFault> findBundleFault(const nlohmann::ordered_json &bundle);

/// Returns the first fault of `explanation`, the JSON of `pcc explain --json`
/// or the content of explain.json.
std::optional<FieldFault>
findExplanationFault(const nlohmann::ordered_json &explanation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_BUNDLE_BUNDLEFIELDS_H
