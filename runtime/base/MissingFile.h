//===- MissingFile.h - messages about paths at which nothing is -----------===//

#ifndef PCC_RUNTIME_BASE_MISSINGFILE_H
#define PCC_RUNTIME_BASE_MISSINGFILE_H

#include <string>

namespace pcc::runtime {

/// Returns the end of a message that nothing is at `path`. Examples for the
/// path `models/gtp2.onnx`:
///
///     does not exist; did you mean models/gpt2.onnx?
///     does not exist, because 'models' does not
///     is a link to '../old.onnx', which does not exist
///     does not exist
///
/// Names are suggested from the first 10,000 entries of the folder.
std::string describeMissing(const std::string &path);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MISSINGFILE_H
