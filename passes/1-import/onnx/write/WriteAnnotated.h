//===- WriteAnnotated.h - copy of an ONNX file with annotations -----------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
#define PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H

#include "passes/1-import/onnx/model/Model.h"

#include <iosfwd>
#include <map>
#include <string>

namespace pcc::onnx {

/// Annotations that writeAnnotated adds to a copy of a model file. The memory
/// to which string views in the annotations point must stay alive until the
/// copy has been written.
struct Annotation {
  /// The device configuration to which the annotations of nodes refer.
  DeviceConfiguration configuration;
  /// Entries to add to metadata_props of the model. An entry of the file with
  /// the same key is replaced.
  std::map<std::string, std::string> metadata;
  /// Annotation of each annotated node, by the node's index in the main graph
  /// (Node::index). Each annotation must refer to `configuration`.
  std::map<uint32_t, NodeDeviceConfiguration> nodes;
  /// Metadata key of a value, such as "pcc.sharding", under which the texts in
  /// `inputs`, `outputs` and `initializers` are stored.
  std::string valueKey;
  /// Texts to store under `valueKey` in the metadata of model inputs, outputs
  /// and initializers. Each map is keyed by the name of the value.
  std::map<std::string, std::string, std::less<>> inputs, outputs, initializers;
  /// Prefix to add to the locations of initializers with external data; empty
  /// for none. An example is "weights/": the original model lies in a directory
  /// weights, and the copy lies in the parent of that directory.
  std::string locationPrefix;
};

/// Writes a copy of the file of `model` with the annotations in `annotation` to
/// `out`. The source is the mapped file, so changes to `model` after it was
/// read have no effect. All bytes are copied unchanged, except for:
///  - the IR version, which becomes at least 11
///  - the device configuration that has the name of `annotation.configuration`,
///    and annotations of nodes for this configuration, which are replaced
///  - metadata entries with keys of `annotation`, which are replaced
///  - value infos of annotated initializers, which are added if missing
///  - locations of external data, if `annotation.locationPrefix` is not empty
/// The caller must check the stream for errors.
void writeAnnotated(const Model &model, const Annotation &annotation,
                    std::ostream &out);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
