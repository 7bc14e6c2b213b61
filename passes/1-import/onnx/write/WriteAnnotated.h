//===- WriteAnnotated.h - copies a model file with annotations ------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
#define PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H

#include "passes/1-import/onnx/model/Model.h"

#include <iosfwd>
#include <map>
#include <string>

namespace pcc::onnx {

/// What a model file is to say besides. The texts that it holds must outlive
/// its use.
struct Annotation {
  DeviceConfiguration configuration;
  /// Entries of metadata_props of the model, in place of those of equal keys.
  std::map<std::string, std::string> metadata;
  /// By the position of a node in the main graph, what it says about
  /// `configuration`.
  std::map<uint32_t, NodeDeviceConfiguration> nodes;
  /// The key of metadata_props under which values have these texts, by name: of
  /// inputs, outputs and initializers.
  std::string valueKey;
  std::map<std::string, std::string, std::less<>> inputs, outputs, initializers;
  /// Put in front of the locations of external data: "" or "weights/".
  std::string locationPrefix;
};

/// Writes `model` with `annotation`. The bytes of the file are copied as they
/// are, but for: the IR version, which becomes at least 11; what nodes and the
/// model said about a configuration of that name, which is replaced; the value
/// infos of inputs, outputs and initializers, which may be new; locations of
/// external data, if they have a prefix.
void writeAnnotated(const Model &model, const Annotation &annotation,
                    std::ostream &out);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
