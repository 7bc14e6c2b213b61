//===- Import.cpp - import of an ONNX file as a module of graph ops -------===//

#include "passes/1-import/Import.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Fold.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/1-import/build/BindInputs.h"
#include "passes/1-import/build/DeclaredTypes.h"
#include "passes/1-import/build/Locations.h"
#include "passes/1-import/build/OpTable.h"
#include "passes/1-import/build/TrainingInfoImport.h"
#include "passes/1-import/build/UnsupportedOps.h"
#include "passes/1-import/devices/AnnotationImport.h"
#include "passes/1-import/devices/ShardingAnnotations.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/schema/CheckSchema.h"
#include "status/PrintableText.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/Path.h"

#define DEBUG_TYPE "import"

using namespace mlir;

namespace pcc {
using namespace onnx_import;

static StringRef asRef(std::string_view text) {
  return ValueTable::asRef(text);
}

namespace {
/// Imports one ONNX model into an empty MLIR module. The model may have
/// multi-device annotations. A multi-device annotation belongs to an ONNX node.
/// The annotation states how the tensors of the node are split over devices,
/// and which pipeline stage runs the node. The import has these steps:
///
///   1. determine the size of each dynamic dim of the inputs
///   2. read the multi-device annotations
///   3. create the function @main with one argument per input
///   4. create the ops of all nodes; if pcc does not support some nodes, stop
///      with an error that lists these nodes
///   5. check that the values have the types that the model declares
///   6. create the return of @main
///   7. erase unused ops and unused weights
///   8. set the attributes of the module and of the weights
class ModelImport {
public:
  ModelImport(const onnx::Model &model, const ImportOptions &options,
              ModuleOp module)
      : model(model), options(options), module(module),
        weights(model, options, module), values(weights),
        builder(module.getContext()), annotations(model, binding.dims),
        annotated(annotations, values, builder) {}

  /// Performs all steps of the import. After an error the module is incomplete.
  Status run() {
    if (trains())
      trainingInfo().markWrittenWeights(weights);
    PCC_ASSIGN_OR_RETURN(binding, bindInputs(model.graph, options));
    PCC_RETURN_IF_ERROR(annotations.read(options));
    PCC_RETURN_IF_ERROR(makeFunction());
    PCC_RETURN_IF_ERROR(makeGraph(model.graph));
    PCC_RETURN_IF_ERROR(reportUnsupported());
    PCC_RETURN_IF_ERROR(checkDeclaredTypes(model.graph, values));
    PCC_RETURN_IF_ERROR(makeReturn());
    eraseUnused();
    describeModule();
    return annotated.markWeights(module);
  }

  /// Ops that the import does not support. Filled only if `run` fails because
  /// of these ops.
  std::vector<UnsupportedOp> unsupportedOps;

private:
  /// Reports the ONNX nodes that pcc cannot import. The import has collected
  /// these nodes in the member `unsupported`. If `unsupported` has no node, the
  /// function returns success. Otherwise the function returns one error that
  /// lists the nodes, and stores a list of their op types in `unsupportedOps`.
  /// An entry of this list is an op type with the names of the nodes, such as
  /// the op type Einsum with the nodes "a" and "b".
  Status reportUnsupported() {
    unsupportedOps = unsupported.list();
    return unsupported.status();
  }

  /// Returns the exit code of pcc for an error about shapes, such as an
  /// addition of the shapes [8, 4] and [8, 3]. The exit code depends on the
  /// command line:
  ///
  ///   UnboundDim   The user gives --dim or --shape. The user may have given a
  ///                wrong size.
  ///   CannotRead   The user gives neither --dim nor --shape. The model itself
  ///                must be invalid.
  ExitCode mismatchExitCode() const {
    return options.dims.empty() && options.shapes.empty() ? CannotRead
                                                          : UnboundDim;
  }

  Status checkNodes(const onnx::Graph &graph);
  Status checkNode(const onnx::Node &node);
  Status makeFunction();
  Status makeGraph(const onnx::Graph &graph);
  Status makeNode(const onnx::Node &node);
  Status makeBranch(const onnx::Node &node, Emitter &emitter);
  void normalize(const onnx::Node &node, NodeImport &import);
  Status makeReturn();
  Status makeTrainingReturn(Emitter &emitter);
  /// Returns whether to import the training step that the ONNX model defines. A
  /// training step is defined by the field training_info of an ONNX model. The
  /// function returns true if the model has this field and
  /// `options.trainingInfo` is true.
  bool trains() const {
    return options.trainingInfo && !model.training.empty();
  }
  TrainingInfoImport trainingInfo() { return {model, values, module}; }
  void eraseUnused();
  void describeModule();
  void describePlacement();

  const onnx::Model &model;
  const ImportOptions &options;
  ModuleOp module;
  UnsupportedOps unsupported;
  Weights weights;
  ValueTable values;
  OpBuilder builder;
  InputBinding binding;
  ShardingAnnotations annotations;
  AnnotationImport annotated;
  func::FuncOp function;
};
} // namespace

//===----------------------------------------------------------------------===//
// Before anything is made
//===----------------------------------------------------------------------===//

/// Returns whether `node` is an ONNX If. The import replaces an If by the
/// branch that its constant condition selects.
static bool isConditional(const onnx::Node &node) {
  return node.opType == "If" && node.domain.empty();
}

/// Checks the ONNX nodes and initializers of `graph`. The import has not yet
/// created MLIR ops for the nodes. The function makes the following checks in
/// this order, and returns an error for the first check that fails:
///
///   1. No initializer is sparse.
///   2. pcc supports the op types of all nodes. The error lists all nodes with
///      an unsupported op type.
///   3. The op type of each node exists in the model's opset version, and each
///      node has a valid number of inputs.
///   4. Each node has no more outputs than its op type allows, and no attribute
///      that its op type does not have. This check needs the definition of the
///      op type in the ONNX standard. Nodes with an op type outside the
///      standard, such as com.microsoft.Gelu, are not checked.
///
/// Check 3 and check 4 are made together, first for node 0, then for node 1,
/// and so on. Both checks skip the nodes of the op type If.
Status ModelImport::checkNodes(const onnx::Graph &graph) {
  for (const onnx::SparseTensor &tensor : graph.sparseInitializers)
    return Status::error(Unsupported, "initializer " +
                                          onnx::quoted(tensor.values.name) +
                                          " is sparse, which is not supported");
  for (const onnx::Node &node : graph.nodes)
    if (!OpTable::get().knows(node) && !isConditional(node))
      unsupported.add(node);
  PCC_RETURN_IF_ERROR(reportUnsupported());
  for (const onnx::Node &node : graph.nodes)
    if (!isConditional(node))
      PCC_RETURN_IF_ERROR(checkNode(node));
  return Status::success();
}

/// Checks that the op of `node` exists in the model's opset version. Also
/// checks the number of operands and results, and the names of attributes.
Status ModelImport::checkNode(const onnx::Node &node) {
  const OpForm *form = OpTable::get().find(node);
  std::string where = "node " + node.label() + ": ";
  if (!form)
    return Status::error(
        CannotRead,
        where + "the model imports version " + std::to_string(node.opset) +
            " of its ops, but this op exists since version " +
            std::to_string(OpTable::get().firstVersion(node)),
        {"the exporter mixed versions; export again with a newer opset"});
  size_t given = node.inputs.size();
  for (size_t i = 0; i < form->minOperands; ++i)
    if (i >= given || node.inputs[i].empty())
      return Status::error(CannotRead,
                           where + "lacks operand " + std::to_string(i));
  if (given > form->maxOperands)
    return Status::error(CannotRead, where + "has " + std::to_string(given) +
                                         " operands, which is more than " +
                                         std::to_string(form->maxOperands));
  return onnx::checkForm(node);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Creates the function @main with one argument per model input. At first,
/// @main has no results; makeReturn() adds the results later. Each argument has
/// a static shape and these attributes:
///
///   graph.name     the name of the input
///   graph.dims     the names of its dims: ["batch", ""] for x[batch, 4]
///   dist.sharding  the sharding that the ONNX model requests for the input
///
/// The attribute `dist.sharding` is absent if the model requests no sharding
/// for the input. A model can request a sharding for an input in two ways:
///
///  - The input has the metadata entry `pcc.sharding`. This entry states the
///    sharding.
///  - The nodes that read the input have multi-device annotations. The
///    annotation of a node may state the shardings of the operands of the node.
///    If the nodes state different shardings for the input, `dist.sharding` is
///    absent.
///
/// If an input has both the metadata entry and annotations, the metadata entry
/// decides.
Status ModelImport::makeFunction() {
  SmallVector<Type> types;
  for (const BoundInput &input : binding.inputs) {
    onnx::DataType dataType = input.info->type.elementType;
    Type element = builtinType(dataType, module.getContext());
    const std::string who = "input " + onnx::quoted(input.info->name);
    if (!element)
      return Status::error(Unsupported, who + " has elements of type " +
                                            onnx::typeName(dataType));
    if (std::string mistake = describeShapeError(input.shape); !mistake.empty())
      return Status::error(mismatchExitCode(), who + " has " + mistake);
    types.push_back(RankedTensorType::get(input.shape, element));
  }
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, module.getLoc(), "main",
                                  builder.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  graph::SignatureAttrs attributes(function);
  for (auto [i, input] : llvm::enumerate(binding.inputs)) {
    SmallVector<StringRef> names(input.names.begin(), input.names.end());
    attributes.setArg(i, graph::nameName,
                      builder.getStringAttr(asRef(input.info->name)));
    attributes.setArg(i, graph::dimsName, builder.getStrArrayAttr(names));
    body->getArgument(i).setLoc(
        NameLoc::get(builder.getStringAttr(asRef(input.info->name))));
    values.define(asRef(input.info->name), body->getArgument(i));
    PCC_RETURN_IF_ERROR(
        annotated.markInput(function, i, input.info->name, attributes));
  }
  attributes.write();
  builder.setInsertionPointToEnd(body);
  return Status::success();
}

/// Imports the nodes of `graph`, the main graph or a branch of an If. A node
/// that pcc cannot import is added to `unsupported`. A node that reads a result
/// of an unsupported node is skipped. Any other error is returned at once.
Status ModelImport::makeGraph(const onnx::Graph &graph) {
  PCC_RETURN_IF_ERROR(checkNodes(graph));
  for (const onnx::Tensor &tensor : graph.initializers)
    values.defineWeight(tensor);
  for (const onnx::Node &node : graph.nodes) {
    bool reachable = llvm::all_of(node.inputs, [&](std::string_view name) {
      return name.empty() || values.has(asRef(name));
    });
    if (reachable)
      PCC_RETURN_IF_ERROR(makeNode(node));
  }
  return Status::success();
}

/// Returns one branch of the ONNX If `node`. `name` is "then_branch" or
/// "else_branch", the name of the attribute that holds the branch. Returns null
/// in each of these cases:
///
///  - `node` has no attribute with this name.
///  - The attribute does not hold exactly one graph.
///  - The branch has another number of outputs than `node`.
static const onnx::Graph *branchOf(const onnx::Node &node, const char *name) {
  const onnx::Attribute *branch = node.attribute(name);
  const bool fits = branch && branch->graphs.size() == 1 &&
                    branch->graphs[0].outputs.size() == node.outputs.size();
  return fits ? &branch->graphs[0] : nullptr;
}

/// Compares the types `a` and `b` that an ONNX model declares for two values.
/// Returns false in each of these cases:
///
///  - The kinds differ, such as a tensor and a sequence.
///  - The element types differ, such as float and int64.
///
/// Returns true in all other cases. The shapes are not compared. A model may
/// leave out a type or an element type. The function returns true if the model
/// leaves out `a` or `b`. A missing element type does not differ from any
/// other.
static bool mayAgree(const onnx::Type &a, const onnx::Type &b) {
  if (a.kind == onnx::TypeKind::None || b.kind == onnx::TypeKind::None)
    return true;
  return a.kind == b.kind && (a.elementType == b.elementType ||
                              a.elementType == onnx::DataType::Undefined ||
                              b.elementType == onnx::DataType::Undefined);
}

/// Compares the types that an ONNX model declares for the outputs of the two
/// branches of an If. The branches are `one` and `other`. Both branches must
/// have the same number of outputs. The function compares output 0 of `one`
/// with output 0 of `other`, then output 1 of `one` with output 1 of `other`,
/// up to the last output. Returns false in each of these cases:
///
///  - Two compared outputs have types of different kinds. For example, one
///    output is a tensor, and the other output is a sequence.
///  - Two compared outputs have different element types. For example, one
///    output has float elements, and the other output has int64 elements.
///
/// Returns true in all other cases. The function does not compare shapes. A
/// branch may declare no type for an output. The function then skips this
/// output. A branch may also declare only that an output is a tensor, without
/// an element type. The function then compares only the kinds for this output.
static bool mayAgree(const onnx::Graph &one, const onnx::Graph &other) {
  return llvm::all_of(
      llvm::zip_equal(one.outputs, other.outputs), [](auto pair) {
        return mayAgree(std::get<0>(pair).type, std::get<1>(pair).type);
      });
}

/// Returns the branch of the ONNX If `node` that the condition selects. The
/// condition is input 0 of `node`. The function looks up the elements of the
/// condition in `values`, the table of all imported ONNX values. If the
/// condition is true, the function returns the branch in the attribute
/// "then_branch". Otherwise the function returns the branch in the attribute
/// "else_branch".
///
/// Records an error in `emitter` and returns null in each of these cases:
///
///  - The elements of the condition are not known at compile time. For example,
///    the condition depends on an input of the model.
///  - The condition does not have exactly one element.
///  - `node` lacks one of the two branches.
///  - A branch has another number of outputs than `node`.
///  - The two branches declare different types for an output of `node`. For
///    example, the output is a float tensor in "then_branch" and an int64
///    tensor in "else_branch". The shapes are not compared.
static const onnx::Graph *takenBranch(const onnx::Node &node,
                                      ValueTable &values, Emitter &emitter) {
  DenseElementsAttr condition =
      node.inputs.empty() ? DenseElementsAttr()
                          : values.elements(asRef(node.inputs[0]), emitter);
  if (!condition || condition.getNumElements() != 1) {
    emitter.unsupported("its condition depends on inputs");
    return nullptr;
  }
  const onnx::Graph *onTrue = branchOf(node, "then_branch"),
                    *onFalse = branchOf(node, "else_branch");
  if (!onTrue || !onFalse) {
    emitter.invalid("lacks a branch with its outputs");
    return nullptr;
  }
  if (!mayAgree(*onTrue, *onFalse)) {
    emitter.invalid("has branches with outputs of different types");
    return nullptr;
  }
  return toIntegers(condition)[0] != 0 ? onTrue : onFalse;
}

/// Imports the ONNX If `node`. The condition of the If must be a constant. The
/// condition selects a branch, and the nodes of this branch are imported in
/// place of the If. There are two kinds of errors:
///
///  - The condition is not constant, or the selected branch is missing. The
///    error is recorded in `emitter`. The function still returns success, and
///    the caller must check `emitter`.
///  - The import of the selected branch fails. The function returns the error.
Status ModelImport::makeBranch(const onnx::Node &node, Emitter &emitter) {
  const onnx::Graph *graph = takenBranch(node, values, emitter);
  if (!graph)
    return Status::success();
  PCC_RETURN_IF_ERROR(makeGraph(*graph));
  PCC_RETURN_IF_ERROR(checkDeclaredTypes(*graph, values));
  for (auto [outer, inner] : llvm::zip(node.outputs, graph->outputs))
    if (values.has(asRef(inner.name)) && !outer.empty())
      values.define(asRef(outer), values.get(asRef(inner.name), emitter));
  return Status::success();
}

/// Creates the ops that compute the outputs of the ONNX node `node`. The ONNX
/// model may request shardings for the operands and the outputs of `node`. A
/// `dist.pin` is an op that returns its operand unchanged, and fixes the
/// sharding of its result. The function creates these `dist.pin` ops:
///
///  - If the model requests a sharding for an operand of `node`, and the
///    operand does not have this sharding, the function creates a `dist.pin` of
///    the operand. Only `node` reads the result of this `dist.pin`.
///  - If the model requests a sharding for an output of `node`, the function
///    creates a `dist.pin` of the output. All later nodes that read the output
///    read the result of this `dist.pin`. An output that is a constant needs no
///    `dist.pin` if the requested sharding is to replicate the constant.
///
/// There are two kinds of errors:
///
///  - pcc does not support `node`. The function adds `node` to the list
///    `unsupported` and returns success.
///  - Another error occurs, such as an error in the selected branch of an If.
///    The function returns this error.
Status ModelImport::makeNode(const onnx::Node &node) {
  NodeImport import(node, options, values, builder,
                    locationOf(node, module.getContext()), mismatchExitCode());
  PCC_RETURN_IF_ERROR(onnx::checkOperandTypes(node, [&](std::string_view name) {
    return elementTypeOf(asRef(name), values);
  }));
  PCC_RETURN_IF_ERROR(annotated.pinOperands(node, import));
  if (isConditional(node)) {
    PCC_RETURN_IF_ERROR(makeBranch(node, import));
  } else {
    normalize(node, import);
  }
  PCC_RETURN_IF_ERROR(annotated.pinResults(node));
  if (!import.failed())
    return Status::success();
  const Status &mistake = import.status();
  if (mistake.code() == Unsupported) {
    unsupported.add(node, mistake.message());
    return Status::success();
  }
  Status error = mistake.prefixed("node " + node.label() + ": ");
  if (auto line = pythonLine(node))
    error.addNote("the node was exported from " + line->file + ":" +
                  std::to_string(line->line));
  return error;
}

/// Creates the MLIR ops that compute the outputs of the ONNX node `node`.
/// `import` creates the ops and records errors. The table `values` maps ONNX
/// names to MLIR values. The class OpTable has one C++ function for each ONNX
/// op that pcc supports. normalize() performs these steps:
///
///   1. Call the C++ function for the op of `node`. The C++ function creates
///      the MLIR ops and returns the MLIR value of output 0. The C++ function
///      itself adds the MLIR values of output 1 and of all later outputs to
///      `values`.
///   2. Add the MLIR value of output 0 to `values`. If the C++ function returns
///      null, skip this step. Some C++ functions return null because they add
///      the MLIR value of output 0 themselves.
///   3. Check that `values` has an MLIR value for each output of `node`. The
///      C++ function adds no value for an output that pcc does not support. If
///      the value of an output is missing, record an error in `import`.
///
/// If the C++ function records an error in `import`, step 2 and step 3 do
/// nothing.
void ModelImport::normalize(const onnx::Node &node, NodeImport &import) {
  Value first = OpTable::get().find(node)->normalize(import);
  if (first)
    import.set(0, first);
  for (std::string_view output : node.outputs)
    if (!import.failed() && !output.empty() && !values.has(asRef(output)))
      import.unsupported("output " + onnx::quoted(output) +
                         " is not supported");
  LDBG() << node.label() << (import.failed() ? " failed" : " imported");
}

/// Creates the return op of @main, and adds the results to the type of @main.
/// There are two cases:
///
///  - The ONNX model defines a training step, and the import includes the
///    training step. A training step computes a loss and updates the weights.
///    makeReturn() only calls makeTrainingReturn(), which creates the return
///    op. The only result of @main is the loss.
///  - In all other cases, @main gets one result for each output of the ONNX
///    model. The result has the attribute `graph.name`, the name of the output.
///    If the ONNX model requests a sharding for the output, the result also has
///    the attribute `dist.sharding`, which holds the requested sharding.
///
/// An ONNX model can request a sharding by an annotation of a node or by a
/// metadata entry with the key `pcc.sharding`. makeReturn() tries the following
/// rules for each output. The first rule that finds a request decides:
///
///   1. The graph output has the metadata entry `pcc.sharding`. This entry
///      states the sharding.
///   2. The node that computes the output has an annotation for the output, or
///      a value_info, an input or an initializer with the name of the output
///      has the metadata entry `pcc.sharding`. If the annotation and the
///      metadata entry both exist and state different shardings, the function
///      returns an error.
///   3. Some nodes read the output and have annotations for the output. If the
///      annotations state different shardings, the result gets no attribute
///      `dist.sharding`.
Status ModelImport::makeReturn() {
  SmallVector<Value> results;
  SmallVector<Attribute> names;
  Emitter emitter(builder, module.getLoc());
  if (trains())
    return makeTrainingReturn(emitter);
  for (const onnx::ValueInfo &output : model.graph.outputs) {
    results.push_back(values.get(asRef(output.name), emitter));
    names.push_back(builder.getStringAttr(asRef(output.name)));
  }
  if (emitter.failed())
    return emitter.status().prefixed("the graph's outputs: ");
  func::ReturnOp::create(builder, module.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(results).getTypes()));
  graph::SignatureAttrs attributes(function);
  for (auto [i, name] : llvm::enumerate(names)) {
    attributes.setResult(i, graph::nameName, name);
    PCC_RETURN_IF_ERROR(annotated.markOutput(
        function, i, model.graph.outputs[i].name, attributes));
  }
  attributes.write();
  return Status::success();
}

/// Creates the last ops of @main for a model whose ONNX TrainingInfo defines a
/// training step. `emitter` creates the ops and records errors. A weight is
/// declared by the op `graph.parameter`. makeTrainingReturn() performs these
/// steps:
///
///   1. For each entry of the field initialization_binding of the TrainingInfo,
///      store the initial value of a weight in the `graph.parameter` of the
///      weight.
///   2. For each entry of the field update_binding of the TrainingInfo, create
///      a `graph.set_parameter`. A `graph.set_parameter` is an op that writes a
///      new value to a weight.
///   3. Create the return op of @main. The only result of @main is the loss,
///      the value that the ONNX Gradient nodes differentiate.
///
/// Returns an error if step 1 or step 2 fails, or if the model does not have
/// exactly one loss.
Status ModelImport::makeTrainingReturn(Emitter &emitter) {
  StringRef loss = trainingInfo().findLoss(emitter);
  if (!emitter.failed())
    trainingInfo().makeWrites(emitter);
  if (emitter.failed())
    return emitter.status().prefixed("the model's TrainingInfo ");
  Value value = values.get(loss, emitter);
  func::ReturnOp::create(builder, module.getLoc(), value);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), value.getType()));
  function.setResultAttr(0, graph::nameName, builder.getStringAttr(loss));
  return Status::success();
}

/// Erases dead ops, such as shape computations whose results were folded to
/// constants. Then erases the parameters (weights) that no remaining op reads
/// or writes.
void ModelImport::eraseUnused() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::StringSet<> read;
  function.walk(
      [&](graph::GetParameterOp op) { read.insert(op.getParameter()); });
  function.walk(
      [&](graph::SetParameterOp op) { read.insert(op.getParameter()); });
  for (auto parameter : llvm::make_early_inc_range(
           module.getBody()->getOps<graph::ParameterOp>()))
    if (!read.contains(parameter.getSymName()))
      parameter.erase();
}

/// Sets the module attributes for the model's file name, the directory of the
/// weights, the sizes of dynamic dims, the mesh and the pipeline stages.
void ModelImport::describeModule() {
  StringRef file = llvm::sys::path::filename(model.path);
  module->setAttr(graph::modelName, builder.getStringAttr(file));
  module->setAttr(graph::rootName, builder.getStringAttr(weights.root()));
  SmallVector<NamedAttribute> dims;
  for (auto &[name, size] : binding.dims)
    dims.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(size)));
  module->setAttr(graph::boundDimsName, builder.getDictionaryAttr(dims));
  describePlacement();
}

/// Sets module attributes for the distribution of the model over ranks:
///
///   dist.mesh            the mesh of one pipeline stage
///   pipe.stage_of_nodes  a dictionary from node names to pipeline stages
///   pipe.stages          the number of pipeline stages
///
/// The mesh comes from the user's options or else from the ONNX model. The
/// attribute `dist.mesh` is absent if neither gives a mesh. The two pipe
/// attributes are absent if the ONNX model assigns no node to a stage. A model
/// assigns a node to a stage by an annotation of the node. The annotation
/// states the number of the stage, or it lists the devices of the stage.
void ModelImport::describePlacement() {
  const DevicePlan &plan = annotations.devicePlan();
  if (!plan.mesh().axes.empty())
    module->setAttr(dist::meshName,
                    dist::MeshAttr::get(module.getContext(), plan.mesh()));
  if (plan.stageOfNodes().empty())
    return;
  SmallVector<NamedAttribute> stages;
  for (const auto &[node, stage] : plan.stageOfNodes())
    stages.push_back(
        builder.getNamedAttr(node, builder.getI64IntegerAttr(stage)));
  module->setAttr(pipe::stageOfNodesName, builder.getDictionaryAttr(stages));
  module->setAttr(pipe::stagesName,
                  builder.getI64IntegerAttr(plan.numStages()));
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

/// Returns `status` with control characters, such as line breaks, escaped.
/// Names from an untrusted model then cannot add lines to a message.
static Status printable(const Status &status) {
  std::vector<std::string> notes;
  for (const std::string &note : status.notes())
    notes.push_back(pcc::printable(note));
  return Status::error(status.code(), pcc::printable(status.message()), notes);
}

StatusOr<OwningOpRef<ModuleOp>>
importOnnx(StringRef path, const ImportOptions &options, MLIRContext *context,
           std::vector<UnsupportedOp> *unsupported) {
  PCC_ASSIGN_OR_RETURN(onnx::Model model,
                       onnx::readModel(path.str(), {}, options.trainingInfo));
  // Register constant folding for the graph dialect. The import creates ops of
  // this dialect. If all operands of such an op are constants, MLIR's method
  // Operation::fold() can now compute the result of the op. For example, an
  // ONNX model may compute the shape for a Reshape by an addition of two
  // constants. The import replaces this addition by a constant.
  DialectRegistry registry;
  graph::registerConstantFolding(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<graph::GraphDialect, func::FuncDialect,
                       dist::DistDialect>();
  auto name = StringAttr::get(context, llvm::sys::path::filename(path));
  OwningOpRef<ModuleOp> module = ModuleOp::create(NameLoc::get(name));
  ModelImport import(model, options, *module);
  Status status = import.run();
  if (unsupported)
    *unsupported = std::move(import.unsupportedOps);
  if (status.ok())
    status = model.storage->checkUnchanged();
  if (status.failed())
    return printable(status);
  return module;
}

} // namespace pcc
