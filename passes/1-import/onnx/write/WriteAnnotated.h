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
  /// Device annotations to add to nodes of the main graph. A key is the
  /// position of a node in the main graph (Node::index). Each annotation refers
  /// to a device configuration by its name. This name must be that of the
  /// member `configuration`.
  std::map<uint32_t, NodeDeviceConfiguration> nodes;
  /// Key of the metadata entries that writeAnnotated adds to values, such as
  /// "pcc.sharding". `inputs`, `outputs` and `initializers` hold the entries'
  /// texts.
  std::string valueKey;
  /// Texts to add to the metadata of model inputs, outputs and initializers, by
  /// the name of the value. `valueKey` is the metadata key.
  std::map<std::string, std::string, std::less<>> inputs, outputs, initializers;
  /// Path from the directory of the annotated copy to that of the original
  /// model, such as "../model/"; may be empty. writeAnnotated prepends it to
  /// the location of each file with external data.
  std::string locationPrefix;
};

/// Writes a copy of the model file with `annotation` to `out`. The bytes come
/// from the mapped file. All are copied unchanged, except for:
///
///  - the IR version, which becomes at least 11
///  - device configurations with the name of `annotation.configuration`, which
///    the new configuration replaces
///  - nodes' annotations for this configuration, which new ones replace
///  - metadata entries, which new entries with the same key replace
///  - value infos of annotated initializers, which are added if missing
///  - locations of external data, which get the prefix
///    `annotation.locationPrefix`
///
/// The caller must check the stream for errors.
void writeAnnotated(const Model &model, const Annotation &annotation,
                    std::ostream &out);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
