//===- AnnotatedModel.h - ONNX model with decided shardings ---------------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"

namespace pcc {

/// Name of the ONNX device configuration that pcc adds to the model.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes a copy of an ONNX model to the file `path`, and adds shardings and
/// pipeline stages to the copy. `module` is the MLIR module that was imported
/// from the ONNX model. The compiler must have chosen the shardings in `module`
/// (phase 4-shard), and must not have run a later phase. The copy gets these
/// additions:
///  - The copy gets a device configuration with the name "pcc". It states the
///    number of devices. (Device configurations are part of the ONNX format for
///    several devices.)
///  - Each node gets the shardings of its inputs and outputs. If there are
///    several pipeline stages, each node also gets the number of its stage. The
///    shardings and the stage refer to the device configuration.
///  - The metadata of the model gets the mesh, such as "dp=2,tp=4", and the
///    name of the device configuration.
///  - The metadata of each model input, model output and weight gets the
///    sharding as a text, such as "[tp,-]". (In this example, the mesh axis tp
///    splits dim 0, and no axis splits dim 1.)
///
/// Some values get no sharding in the copy:
///  - A partial sum that an op reads before the terms are added. (In a partial
///    sum, each rank holds one term. The terms must still be added over ranks.)
///  - A weight that two pipeline stages store in different shardings.
///
/// `listener` receives a note with the number of these values. Errors:
///  - exit code 3: the .onnx file of the ONNX model cannot be read;
///  - exit code 6: `module` was not imported from an .onnx file;
///  - exit code 6: the ONNX model has a weight in a separate file, and the
///    model does not lie in the folder of `path` or in a subfolder (ONNX
///    forbids ".." in the path of a separate file);
///  - exit code 6: a node of the ONNX model has a constant tensor in a separate
///    file, and the model does not lie in the folder of `path`;
///  - exit code 7: the file `path` cannot be written. In this case, no
///    incomplete file remains.
Status writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                           const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
