//===- Import.cpp - import of an ONNX file as a module of graph ops -------===//

#include "passes/1-import/Import.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Fold.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/1-import/build/BindInputs.h"
#include "passes/1-import/build/Locations.h"
#include "passes/1-import/build/OpTable.h"
#include "passes/1-import/build/TrainingInfoImport.h"
#include "passes/1-import/build/UnsupportedOps.h"
#include "passes/1-import/devices/AnnotationImport.h"
#include "passes/1-import/devices/ShardingAnnotations.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/model/MessageText.h"
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
/// Imports one model into an empty module, in these steps:
///
///   1. bind the dynamic dims of the inputs
///   2. read the multi-device annotations
///   3. create @main with its arguments
///   4. import the nodes in topological order, or report the unsupported ones
///   5. create the return, erase unused ops and weights, set module attributes
class ModelImport {
public:
  ModelImport(const onnx::Model &model, const ImportOptions &options,
              ModuleOp module, ImportError &error)
      : model(model), options(options), module(module), error(error),
        weights(model, options, module), values(weights),
        builder(module.getContext()), annotations(model, binding.dims),
        annotated(annotations, values, builder, error) {}

  /// Performs all steps of the import. Returns false, with `error` filled, if
  /// the model cannot be imported; the module is then incomplete.
  bool run() {
    if (trains())
      trainingInfo().markWrittenWeights(weights);
    auto bound = bindInputs(model.graph, options, error);
    if (!bound)
      return false;
    binding = std::move(*bound);
    if (!annotations.read(options, error) || !makeFunction() ||
        !makeGraph(model.graph) || unsupported.report(error))
      return false;
    if (!makeReturn())
      return false;
    eraseUnused();
    describeModule();
    return annotated.markWeights(module);
  }

private:
  /// Fills `error` with the exit code and message of `mistake`. The text
  /// `where`, such as "node 'a': ", is prepended to the message. Always returns
  /// false.
  bool fail(const EmitError &mistake, const Twine &where) {
    error.exitCode = mistake.exitCode;
    error.message = (where + mistake.message).str();
    return false;
  }

  /// Returns pcc's exit code for an error about shapes that contradict each
  /// other: 5 if the user gave --dim or --shape, which may be the cause, else 3
  /// (the model is invalid).
  int mismatchExitCode() const {
    return options.dims.empty() && options.shapes.empty() ? 3 : 5;
  }

  bool checkNodes(const onnx::Graph &graph);
  bool checkNode(const onnx::Node &node);
  bool makeFunction();
  bool checkOutputs(ValueRange results);
  bool makeGraph(const onnx::Graph &graph);
  bool makeNode(const onnx::Node &node);
  bool makeBranch(const onnx::Node &node, Emitter &emitter);
  void normalize(const onnx::Node &node, NodeImport &import);
  bool makeReturn();
  bool makeTrainingReturn(Emitter &emitter);
  /// Returns whether the import creates a training step: the user asked for it
  /// (`options.trainingInfo`) and the ONNX model has a TrainingInfo.
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
  ImportError &error;
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

/// Returns whether `node` is an ONNX If. The op table has no entry for If,
/// because the import replaces the node by the branch that its constant
/// condition selects.
static bool isConditional(const onnx::Node &node) {
  return node.opType == "If" && node.domain.empty();
}

/// Checks the nodes and initializers of `graph` before any op is created.
/// First, one error reports all nodes with unknown ops together. If all ops are
/// known, checkNode checks each node, up to the first error. Returns false
/// after an error.
bool ModelImport::checkNodes(const onnx::Graph &graph) {
  for (const onnx::SparseTensor &tensor : graph.sparseInitializers)
    return fail({4, "is sparse, which is not supported"},
                "initializer " + onnx::quoted(tensor.values.name) + " ");
  for (const onnx::Node &node : graph.nodes)
    if (!OpTable::get().knows(node) && !isConditional(node))
      unsupported.add(node);
  if (unsupported.report(error))
    return false;
  return llvm::all_of(graph.nodes, [&](const onnx::Node &node) {
    return isConditional(node) || checkNode(node);
  });
}

/// Checks `node` against the op table, which lists the forms of each ONNX op by
/// opset version. The op must have a form in the opset version that the model
/// declares, and the number of operands must lie within that form's limits.
/// Returns false after an error.
bool ModelImport::checkNode(const onnx::Node &node) {
  const OpForm *form = OpTable::get().find(node);
  std::string where = "node " + node.label() + ": ";
  if (!form) {
    error.notes.push_back(
        "the exporter mixed versions; export again with a newer opset");
    return fail({3, "the model imports version " + std::to_string(node.opset) +
                        " of its ops, but this op exists since version " +
                        std::to_string(OpTable::get().firstVersion(node))},
                where);
  }
  size_t given = node.inputs.size();
  for (size_t i = 0; i < form->minOperands; ++i)
    if (i >= given || node.inputs[i].empty())
      return fail({3, "lacks operand " + std::to_string(i)}, where);
  if (given > form->maxOperands)
    return fail({3, "has " + std::to_string(given) +
                        " operands, which is more than " +
                        std::to_string(form->maxOperands)},
                where);
  return true;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Creates the function @main with one argument per model input, whose dims all
/// have sizes, and without results, which makeReturn adds later. Each argument
/// carries `graph.name`, `graph.dims` and, if the model annotates the input,
/// `dist.sharding`. Returns false after an error.
bool ModelImport::makeFunction() {
  SmallVector<Type> types;
  for (const BoundInput &input : binding.inputs) {
    onnx::DataType dataType = input.info->type.elementType;
    Type element = builtinType(dataType, module.getContext());
    if (!element)
      return fail({4, "has elements of type " + onnx::typeName(dataType)},
                  "input " + onnx::quoted(input.info->name) + " ");
    if (std::string mistake = describeShapeError(input.shape); !mistake.empty())
      return fail({mismatchExitCode(), "has " + mistake},
                  "input " + onnx::quoted(input.info->name) + " ");
    types.push_back(RankedTensorType::get(input.shape, element));
  }
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, module.getLoc(), "main",
                                  builder.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  for (auto [i, input] : llvm::enumerate(binding.inputs)) {
    SmallVector<StringRef> names(input.names.begin(), input.names.end());
    function.setArgAttr(i, graph::nameName,
                        builder.getStringAttr(asRef(input.info->name)));
    function.setArgAttr(i, graph::dimsName, builder.getStrArrayAttr(names));
    body->getArgument(i).setLoc(
        NameLoc::get(builder.getStringAttr(asRef(input.info->name))));
    values.define(asRef(input.info->name), body->getArgument(i));
    if (!annotated.markInput(function, i, input.info->name))
      return false;
  }
  builder.setInsertionPointToEnd(body);
  return true;
}

/// Imports the nodes of `graph`, which is the model's main graph or a branch of
/// an If. A node that pcc does not support is added to `unsupported`, and nodes
/// that read its outputs are skipped; `run` then reports all unsupported nodes
/// in one error. Returns false after any other error.
bool ModelImport::makeGraph(const onnx::Graph &graph) {
  if (!checkNodes(graph))
    return false;
  for (const onnx::Tensor &tensor : graph.initializers)
    values.defineWeight(tensor);
  for (const onnx::Node &node : graph.nodes) {
    bool reachable = llvm::all_of(node.inputs, [&](std::string_view name) {
      return name.empty() || values.has(asRef(name));
    });
    if (reachable && !makeNode(node))
      return false;
  }
  return true;
}

/// Returns the branch (then_branch or else_branch) that the condition of the If
/// `node` selects. Returns null, with an error in `emitter`, if the condition
/// depends on inputs or the node lacks that branch.
static const onnx::Graph *takenBranch(const onnx::Node &node,
                                      ValueTable &values, Emitter &emitter) {
  DenseElementsAttr condition =
      node.inputs.empty() ? DenseElementsAttr()
                          : values.elements(asRef(node.inputs[0]), emitter);
  if (!condition || condition.getNumElements() != 1) {
    emitter.unsupported("its condition depends on inputs");
    return nullptr;
  }
  bool taken = toIntegers(condition)[0] != 0;
  const onnx::Attribute *branch =
      node.attribute(taken ? "then_branch" : "else_branch");
  if (branch && branch->graphs.size() == 1 &&
      branch->graphs[0].outputs.size() >= node.outputs.size())
    return &branch->graphs[0];
  emitter.invalid("lacks a branch with its outputs");
  return nullptr;
}

/// Imports the selected branch in place of the If `node`: each output of the
/// node becomes an alias of the branch's output. Names of the branch need no
/// renaming, because a branch cannot redefine a name of an enclosing graph. An
/// error about the If itself is only recorded in `emitter`, and the function
/// then returns true. Returns false if the import of the branch's nodes failed.
bool ModelImport::makeBranch(const onnx::Node &node, Emitter &emitter) {
  const onnx::Graph *graph = takenBranch(node, values, emitter);
  if (!graph)
    return true;
  if (!makeGraph(*graph))
    return false;
  for (auto [outer, inner] : llvm::zip(node.outputs, graph->outputs))
    if (values.has(asRef(inner.name)) && !outer.empty())
      values.define(asRef(outer), values.get(asRef(inner.name), emitter));
  return true;
}

/// Imports one node. If annotations shard its operands or results, the imported
/// op lies between the `dist.pin` ops that fix those shardings. A node that pcc
/// does not support (exit code 4) is added to `unsupported`, and the function
/// returns true. Any other error returns false and ends the import.
bool ModelImport::makeNode(const onnx::Node &node) {
  NodeImport import(node, options, values, builder,
                    locationOf(node, module.getContext()), mismatchExitCode());
  if (!annotated.pinOperands(node, import))
    return false;
  if (isConditional(node)) {
    if (!makeBranch(node, import))
      return false;
  } else {
    normalize(node, import);
  }
  if (!annotated.pinResults(node))
    return false;
  if (!import.failed())
    return true;
  const EmitError &mistake = import.getError();
  if (mistake.exitCode == 4) {
    unsupported.add(node, mistake.message);
    return true;
  }
  if (auto line = pythonLine(node))
    error.notes.push_back("the node was exported from " + line->file + ":" +
                          std::to_string(line->line));
  return fail(mistake, "node " + node.label() + ": ");
}

/// Calls the normalizer of `node`, the function of the op table that creates
/// its graph ops, and defines the node's outputs. An output that the normalizer
/// left undefined is recorded in `import` as unsupported.
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

/// Returns whether a tensor of shape `shape` violates the declared type
/// `declared`: the ranks differ, or a dim with a declared size has another size
/// in `shape`. A type without a declared shape is never violated.
static bool contradicts(const onnx::Type &declared, ArrayRef<int64_t> shape) {
  if (!declared.shape)
    return false;
  if (declared.shape->size() != shape.size())
    return true;
  return llvm::any_of(llvm::zip_equal(*declared.shape, shape), [](auto pair) {
    auto &[dim, size] = pair;
    return dim.value && *dim.value != size;
  });
}

/// Formats a shape for messages, such as "2x10".
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}

/// Checks that the model's outputs have the shapes that the model declares. If
/// the user gave sizes for dims, the check is skipped and the result is true:
/// the declared shapes may then be those of other sizes.
bool ModelImport::checkOutputs(ValueRange results) {
  if (!binding.dims.empty())
    return true;
  for (auto [output, value] : llvm::zip_equal(model.graph.outputs, results)) {
    auto type = graph::tensorType(value);
    if (!contradicts(output.type, type.getShape()))
      continue;
    std::string node = graph::nodeName(value.getLoc()).str();
    return fail({5, "output " + onnx::quoted(output.name) + " of node " +
                        onnx::quoted(node) + " has the shape " +
                        shapeText(type.getShape()) +
                        ", but the model declares another"},
                "");
  }
  return true;
}

/// Creates the return of @main and adds the results to the function's type.
/// Each result carries `graph.name` and, if annotated, `dist.sharding`. Returns
/// false after an error.
bool ModelImport::makeReturn() {
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
    return fail(emitter.getError(), "the graph's outputs: ");
  if (!checkOutputs(results))
    return false;
  func::ReturnOp::create(builder, module.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [i, name] : llvm::enumerate(names)) {
    function.setResultAttr(i, graph::nameName, name);
    if (!annotated.markOutput(function, i, model.graph.outputs[i].name))
      return false;
  }
  return true;
}

/// Creates the weight updates that the model's TrainingInfo describes, and a
/// return of @main whose only operand is the loss. Returns false after an
/// error.
bool ModelImport::makeTrainingReturn(Emitter &emitter) {
  StringRef loss = trainingInfo().findLoss(emitter);
  if (!emitter.failed())
    trainingInfo().makeWrites(emitter);
  if (emitter.failed())
    return fail(emitter.getError(), "the model's TrainingInfo ");
  Value value = values.get(loss, emitter);
  func::ReturnOp::create(builder, module.getLoc(), value);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), value.getType()));
  function.setResultAttr(0, graph::nameName, builder.getStringAttr(loss));
  return true;
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

/// Sets the module attributes for the mesh and for the pipeline stage of each
/// node, if the options or the model's annotations give them.
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

FailureOr<OwningOpRef<ModuleOp>> importOnnx(StringRef path,
                                            const ImportOptions &options,
                                            MLIRContext *context,
                                            ImportError &error) {
  auto model = onnx::readModel(path.str(), {}, options.trainingInfo);
  if (!model) {
    error.exitCode = model.status().code();
    error.message = model.status().message();
    error.notes = model.status().notes();
    return failure();
  }
  // Register the reference evaluator of the graph ops. It folds values that
  // depend only on shapes.
  DialectRegistry registry;
  graph::registerConstantFolding(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<graph::GraphDialect, func::FuncDialect,
                       dist::DistDialect>();
  auto name = StringAttr::get(context, llvm::sys::path::filename(path));
  OwningOpRef<ModuleOp> module = ModuleOp::create(NameLoc::get(name));
  if (ModelImport(*model, options, *module, error).run())
    return module;
  // The error message must be one line, but names and strings of the model may
  // contain line breaks: escape them.
  error.message = onnx::escaped(error.message);
  for (std::string &note : error.notes)
    note = onnx::escaped(note);
  return failure();
}

} // namespace pcc
