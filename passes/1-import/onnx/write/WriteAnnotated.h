//===- WriteAnnotated.h - copy of an ONNX file with annotations -----------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
#define PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H

#include "passes/1-import/onnx/model/Model.h"

#include <iosfwd>
#include <map>
#include <string>

namespace pcc::onnx {

/// The annotations to add to a model file. The memory that the views in it
/// refer to must stay alive until the file has been written.
struct Annotation {
  /// The device configuration that the annotations belong to.
  DeviceConfiguration configuration;
  /// Entries for metadata_props of the model, in place of entries with the same
  /// key.
  std::map<std::string, std::string> metadata;
  /// Annotations of nodes, by the position of the node in the main graph
  /// (Node::index). Each must refer to `configuration`.
  std::map<uint32_t, NodeDeviceConfiguration> nodes;
  /// Key for the entries that `inputs`, `outputs` and `initializers` add to the
  /// metadata_props of values, such as "pcc.sharding".
  std::string valueKey;
  /// Texts to store under `valueKey`, by the name of the input, output or
  /// initializer.
  std::map<std::string, std::string, std::less<>> inputs, outputs, initializers;
  /// Prefix for the locations of external data of initializers, such as
  /// "weights/" if the copy lies one directory above the original. Empty for
  /// none.
  std::string locationPrefix;
};

/// Writes a copy of the file of `model` with `annotation` to `out`. The copy is
/// made of the file, so changes to `model` after reading have no effect. All
/// bytes are copied unchanged, except for:
///  - the IR version, which becomes at least 11
///  - annotations of nodes for a configuration of the same name, and that
///    configuration itself, which are replaced
///  - metadata entries with keys of `annotation`, which are replaced
///  - value infos of annotated initializers, which are added if missing
///  - locations of external data, if there is a prefix
/// The caller checks the stream for errors.
void writeAnnotated(const Model &model, const Annotation &annotation,
                    std::ostream &out);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
