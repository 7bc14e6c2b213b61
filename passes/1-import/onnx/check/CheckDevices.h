//===- CheckDevices.h - whether annotations speak of what is there -*- C++ -*-//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx {

/// Checks the multi-device annotations of all nodes, also those in subgraphs
/// and functions, as far as that needs no shapes. What passes:
///  - configurations have different names and 1 to 65,536 devices, each with a
///    name or none;
///  - a node speaks at most once of a configuration, which exists, and in it at
///    most once of a tensor, which is one of its inputs or outputs;
///  - each entry of a device list is a device or the key of a group of devices;
///    groups have equal sizes, and no device occurs twice;
///  - dims are cut in at least one shard each, and there is an entry of the
///    device list per shard, or no list. A tensor of one shard may list any
///    number of devices, which then all hold it.
/// Errors have exit code 6 and name the node.
MaybeError checkDevices(const Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
