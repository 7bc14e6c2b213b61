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
  /// Device configuration to add to the model file. A device configuration is a
  /// set of devices with a name. All device annotations in `nodes` refer to
  /// this device configuration by its name.
  DeviceConfiguration configuration;
  /// Pairs of key and value to add to metadata_props of the model. A pair in
  /// the file with the same key is replaced.
  std::map<std::string, std::string> metadata;
  /// Device annotations to add to nodes of the main graph. A device annotation
  /// has the pipeline stage of a node, and the shardings of the tensors that
  /// the node uses. The key of the map is the index of the node in the main
  /// graph (Node::index), which counts from 0. The member `configurationId` of
  /// each device annotation must equal `configuration.name`.
  std::map<uint32_t, NodeDeviceConfiguration> nodes;
  /// Key of the pairs that writeAnnotated adds to metadata, such as
  /// "pcc.sharding". Each input, output and initializer of the model has
  /// metadata, which is a list of pairs of a key and a text. The maps `inputs`,
  /// `outputs` and `initializers` contain a text for some of these values.
  /// writeAnnotated adds one pair to the metadata of each value that has a
  /// text. The key of the pair is `valueKey`.
  std::string valueKey;
  /// Texts that writeAnnotated adds to the metadata of the model's inputs,
  /// outputs and initializers. Each map has the name of a value as the key and
  /// the text for this value as the content. Example: if the map `initializers`
  /// has the text "[tp,-]" under the key "W", writeAnnotated adds this text to
  /// the metadata of the initializer W, with the metadata key `valueKey`.
  std::map<std::string, std::string, std::less<>> inputs, outputs, initializers;
  /// Text that writeAnnotated puts in front of the path of each external data
  /// file. These paths are relative to the model's directory, so they change if
  /// the copy lies in another directory. For the original out/original/m.onnx
  /// and the copy out/m.onnx, the prefix is "original/".
  std::string locationPrefix;
};

/// Writes to `out` a copy of the file from which `model` was read, with
/// `annotation` added. Leaves out the parts of the file that `annotation`
/// replaces: the device configuration with the name
/// `annotation.configuration.name`, the nodes' annotations for this
/// configuration, and metadata with a key that `annotation` sets. The caller
/// must check `out` for errors.
void writeAnnotated(const Model &model, const Annotation &annotation,
                    std::ostream &out);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_WRITEANNOTATED_H
