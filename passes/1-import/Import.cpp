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
#include "passes/1-import/build/SizeLimit.h"
#include "passes/1-import/build/TrainingInfoImport.h"
#include "passes/1-import/build/UnsupportedOps.h"
#include "passes/1-import/devices/AnnotationImport.h"
#include "passes/1-import/devices/ShardingAnnotations.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/schema/CheckSchema.h"
#include "runtime/base/QuantityText.h"
#include "status/Counted.h"
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
/// multi-device annotations, which state how the tensors of a node are split
/// over devices, and which pipeline stage runs the node. The import must
/// determine the sizes of dynamic dims before it reads the annotations, because
/// the annotations use the sizes. If pcc does not support some nodes, one error
/// lists them.
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
  /// Reports the ONNX nodes that pcc cannot import, which the import has
  /// collected in the member `unsupported`. Returns success if there are none.
  /// Otherwise returns one error that lists the nodes, and stores in
  /// `unsupportedOps` each op type with the names of its nodes, such as Einsum
  /// with the nodes "a" and "b".
  Status reportUnsupported() {
    unsupportedOps = unsupported.list();
    return unsupported.status();
  }

  /// Returns the exit code for an error about incompatible shapes. If the user
  /// has given --dim or --shape, these options may have caused the error, and
  /// the exit code is 5 (UnboundDim). Otherwise, it is 3 (CannotRead).
  ExitCode mismatchExitCode() const {
    return options.dims.empty() && options.shapes.empty() ? CannotRead
                                                          : UnboundDim;
  }

  /// Returns a note about the sizes of --dim, which may have caused an error
  /// about incompatible shapes: a model may have a table of positions, for
  /// example, that is too small for them.
  std::string noteOfSizes() const {
    std::string bound;
    for (const auto &[name, size] : options.dims)
      bound += " --dim " + name + "=" + std::to_string(size);
    return "sizes are bound by" + bound +
           "; the model may have been exported for other sizes";
  }

  Status checkNodes(const onnx::Graph &graph);
  Status checkNode(const onnx::Node &node);
  Status makeFunction();
  Status makeGraph(const onnx::Graph &graph);
  Status makeNode(const onnx::Node &node);
  Status errorAt(const onnx::Node &node, const Status &mistake);
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

/// Checks the nodes of `graph` before any op is created for them. Reports a
/// sparse initializer, or all op types that pcc does not support, or the first
/// error of checkNode(). Does not check an ONNX If, because makeBranch()
/// replaces each If by the nodes of one branch, which are checked then.
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
    return Status::error(CannotRead, where + "has " +
                                         counted(given, "operand") +
                                         ", which is more than " +
                                         std::to_string(form->maxOperands));
  return onnx::checkForm(node);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Creates the function @main with one argument per model input, but without
/// results. Each argument gets the attributes `graph.name` and `graph.dims`
/// (names of its dims), and `dist.sharding` if the model annotates the input
/// with a sharding.
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

/// Returns the graph in the attribute `name` of the ONNX If `node`. Records an
/// error in `emitter` and returns null if the graph is missing or has another
/// number of outputs than `node`.
static const onnx::Graph *branchOf(const onnx::Node &node, const char *name,
                                   Emitter &emitter) {
  const onnx::Attribute *branch = node.attribute(name);
  if (!branch || branch->graphs.size() != 1) {
    emitter.invalid(Twine("lacks the attribute '") + name + "'");
    return nullptr;
  }
  const onnx::Graph &graph = branch->graphs[0];
  if (graph.outputs.size() == node.outputs.size())
    return &graph;
  emitter.invalid(
      "has " + runtime::countText(int64_t(node.outputs.size()), "output") +
      ", but its '" + name + "' has " + Twine(graph.outputs.size()));
  return nullptr;
}

/// Returns whether two declared types agree, apart from their shapes. A missing
/// type or element type agrees with any other.
static bool mayAgree(const onnx::Type &a, const onnx::Type &b) {
  if (a.kind == onnx::TypeKind::None || b.kind == onnx::TypeKind::None)
    return true;
  return a.kind == b.kind && (a.elementType == b.elementType ||
                              a.elementType == onnx::DataType::Undefined ||
                              b.elementType == onnx::DataType::Undefined);
}

/// Returns whether two branches of an If declare the same kind (such as tensor
/// or sequence) and the same element type for each output. The function does
/// not compare shapes. An output without a declared type matches any type. A
/// tensor without a declared element type matches any tensor. Both branches
/// must have the same number of outputs.
static bool mayAgree(const onnx::Graph &one, const onnx::Graph &other) {
  return llvm::all_of(
      llvm::zip_equal(one.outputs, other.outputs), [](auto pair) {
        return mayAgree(std::get<0>(pair).type, std::get<1>(pair).type);
      });
}

/// Returns the branch of the ONNX If `node` that its condition selects. Records
/// an error in `emitter` and returns null if the condition is not a constant
/// with one element, or if the branches do not declare the same output types.
static const onnx::Graph *takenBranch(const onnx::Node &node,
                                      ValueTable &values, Emitter &emitter) {
  const onnx::Graph *onTrue = branchOf(node, "then_branch", emitter);
  const onnx::Graph *onFalse =
      onTrue ? branchOf(node, "else_branch", emitter) : nullptr;
  if (!onFalse)
    return nullptr;
  DenseElementsAttr condition =
      node.inputs.empty() ? DenseElementsAttr()
                          : values.elements(asRef(node.inputs[0]), emitter);
  if (!condition || condition.getNumElements() != 1) {
    emitter.unsupported("its condition depends on inputs");
    return nullptr;
  }
  if (!mayAgree(*onTrue, *onFalse)) {
    emitter.invalid("has branches with outputs of different types");
    return nullptr;
  }
  return toIntegers(condition)[0] != 0 ? onTrue : onFalse;
}

/// Imports the branch that the constant condition of the ONNX If `node`
/// selects. Returns the error if the import of the branch fails. If the If
/// itself has an error, such as a condition that is not constant, only records
/// this error in `emitter` and returns success.
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

/// Creates the ops for the ONNX node `node`, and `dist.pin` ops (sharding
/// constraints) for shardings that annotations give to its operands and
/// results. If pcc does not support `node`, adds it to `unsupported` and
/// returns success.
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
  return errorAt(node, mistake);
}

/// Returns the error for the whole import that follows from `mistake`, an error
/// of the import of `node`. It names the node, and the size that the user has
/// bound where this size may be the cause.
Status ModelImport::errorAt(const onnx::Node &node, const Status &mistake) {
  SmallVector<Value> operands;
  for (std::string_view name : node.inputs)
    if (Value operand = values.lookup(asRef(name)))
      operands.push_back(operand);
  const bool isOfSizes = mistake.code() == UnboundDim;
  const std::string message =
      mistake.message() +
      (isOfSizes && StringRef(mistake.message()).contains("do not broadcast")
           ? describeSmallWeight(operands, options)
           : "");
  Status error = Status::error(
      mistake.code(), "node " + node.label() + ": " + message, mistake.notes());
  if (auto line = pythonLine(node))
    error.addNote("the node was exported from " + line->file + ":" +
                  std::to_string(line->line));
  if (isOfSizes && !options.dims.empty() &&
      !StringRef(message).contains("--dim"))
    error.addNote(noteOfSizes());
  return error;
}

/// Creates the MLIR ops that compute the outputs of the ONNX node `node`. A C++
/// function in OpTable creates the ops for each kind of node. It returns the
/// value of output 0, or null if it has added this value to `values` itself. It
/// always adds all later outputs to `values`. If an output is then missing in
/// `values`, pcc does not support this output, and normalize() records an error
/// in `import`.
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

/// Creates the return op of @main and sets the result types. The results are
/// the outputs of the model, with the shardings from the model's annotations.
/// If the import includes a training step, the only result is the loss.
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

/// Imports the weight updates of the model's ONNX TrainingInfo, and makes the
/// loss the only result of @main. Returns an error if an update is invalid, or
/// if the model does not have exactly one loss.
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

/// Sets the module attributes `dist.mesh` (the mesh of one pipeline stage),
/// `pipe.stage_of_nodes` and `pipe.stages`. Omits `dist.mesh` if there is no
/// mesh. Omits the pipe attributes if the model assigns no node to a stage.
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
  // The location of the module is line 0 of the model file. Line 0 stands for
  // the whole file, so that error messages name neither a line of source code
  // nor an ONNX node.
  auto name = StringAttr::get(context, llvm::sys::path::filename(path));
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(FileLineColLoc::get(name, 0, 0));
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
