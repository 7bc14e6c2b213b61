//===- BindInputs.cpp - sizes for the dynamic dims of the inputs ----------===//

#include "passes/1-import/build/BindInputs.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "runtime/base/QuantityText.h"
#include "status/ShellWord.h"
#include "status/Suggestions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <bit>
#include <set>

namespace pcc::onnx_import {

using llvm::StringRef;
using llvm::Twine;

/// Returns the end of an error message for the unknown name `word`: the three
/// most similar of the known `names`, and the number of `names` if there are
/// more than three. Example: "; nearest of 5: 'x', 'y', 'z'".
static std::string nearest(const std::string &word,
                           const std::set<std::string> &names) {
  return nearestOf(word, {names.begin(), names.end()});
}

namespace {
/// Implements bindInputs(), which determines the size of each dim of each model
/// input. The option --dim batch=8 gives the size 8 to all dims with the name
/// `batch`. The option --shape x=8x4 gives the shape [8, 4] to the input x. All
/// --shape options must be processed before the other inputs, because a --shape
/// also gives sizes to named dims. If the model has x[batch, 4] and
/// y[batch, 2], then --shape x=8x4 gives the shape [8, 2] to y.
class InputBinder {
public:
  InputBinder(const onnx::Graph &graph, const ImportOptions &options)
      : options(options) {
    std::set<std::string_view> weights;
    for (const onnx::Tensor &tensor : graph.initializers)
      weights.insert(tensor.name);
    for (const onnx::ValueInfo &info : graph.inputs)
      if (!weights.count(info.name))
        binding.inputs.push_back({&info, {}, {}});
    findLongest(graph);
  }

  StatusOr<InputBinding> run() {
    PCC_RETURN_IF_ERROR(checkTypes());
    PCC_RETURN_IF_ERROR(checkNames());
    PCC_RETURN_IF_ERROR(bindShapes());
    PCC_RETURN_IF_ERROR(bindDims());
    return std::move(binding);
  }

private:
  static Status fail(ExitCode code, const Twine &message) {
    return Status::error(code, message.str());
  }

  static std::string nameOf(const BoundInput &input) {
    return std::string(input.info->name);
  }

  /// Checks that each model input is a tensor, and that the number of dims of
  /// the tensor is known. The number is known in each of these cases:
  ///
  ///  - The model declares a shape for the input. The shape may have dims
  ///    without a size, such as `batch` in x[batch, 4].
  ///  - The user gives a shape by an option, such as --shape x=8x4.
  Status checkTypes() {
    for (const BoundInput &input : binding.inputs) {
      const onnx::Type &type = input.info->type;
      if (type.kind != onnx::TypeKind::Tensor)
        return fail(Unsupported, "input " + onnx::quoted(input.info->name) +
                                     " is not a tensor");
      if (!type.shape && !options.shapes.count(nameOf(input)))
        return fail(UnboundDim, "input " + onnx::quoted(input.info->name) +
                                    " has no shape; give it one with --shape " +
                                    nameOf(input) + "=8x32");
    }
    return Status::success();
  }

  /// Checks that each --dim NAME=SIZE names a dynamic dim and has a positive
  /// size. Checks that each --shape NAME=SIZES names an input.
  Status checkNames() {
    std::set<std::string> inputs, params;
    for (const BoundInput &input : binding.inputs) {
      inputs.insert(nameOf(input));
      for (const onnx::Dim &dim : dimsOf(input))
        if (!dim.value && !dim.param.empty())
          params.insert(std::string(dim.param));
    }
    for (auto &[name, size] : options.dims) {
      if (!params.count(name))
        return fail(WrongUsage, "--dim " + name + "=" + Twine(size) +
                                    " names no dynamic dim of the model" +
                                    nearest(name, params));
      if (size < 1)
        return fail(WrongUsage, "--dim " + name + "=" + Twine(size) +
                                    " is not a positive size");
    }
    for (auto &[name, shape] : options.shapes)
      if (!inputs.count(name))
        return fail(WrongUsage, "--shape " + name +
                                    " names no input of the model" +
                                    nearest(name, inputs));
    return Status::success();
  }

  /// Returns the declared dims of `input`; empty if the model declares no
  /// shape.
  static llvm::ArrayRef<onnx::Dim> dimsOf(const BoundInput &input) {
    const auto &shape = input.info->type.shape;
    return shape ? llvm::ArrayRef(*shape) : llvm::ArrayRef<onnx::Dim>();
  }

  /// Stores the sizes from --dim and --shape. A --shape also gives sizes to
  /// named dims: for the declared input x[batch, 4], --shape x=8x4 sets `batch`
  /// to 8. Returns an error if a --shape contradicts the model or another
  /// option.
  Status bindShapes() {
    binding.dims.insert(options.dims.begin(), options.dims.end());
    for (BoundInput &input : binding.inputs) {
      auto given = options.shapes.find(nameOf(input));
      if (given == options.shapes.end())
        continue;
      input.shape = given->second;
      if (!input.info->type.shape) {
        input.names.resize(input.shape.size());
        continue;
      }
      PCC_RETURN_IF_ERROR(bindShape(input));
    }
    return Status::success();
  }

  /// Compares the shape that the option --shape gives for `input` with the
  /// declared shape, such as --shape x=8x4 with x[batch, 4]. Returns an error
  /// if the numbers of dims differ, if a size is negative, if a declared size
  /// differs, or if a name such as `batch` already has another size. Stores the
  /// sizes of named dims in `binding.dims`, such as 8 for `batch`.
  Status bindShape(const BoundInput &input) {
    llvm::ArrayRef<onnx::Dim> dims = dimsOf(input);
    if (dims.size() != input.shape.size())
      return fail(UnboundDim,
                  "--shape " + nameOf(input) + " has " +
                      runtime::countText(input.shape.size(), "dim") +
                      ", the input has " + Twine(dims.size()));
    for (auto [i, dim] : llvm::enumerate(dims)) {
      int64_t size = input.shape[i];
      if (size < 0)
        return fail(WrongUsage,
                    "--shape " + nameOf(input) + " has a negative dim");
      int64_t other = size;
      if (dim.value)
        other = *dim.value;
      else if (!dim.param.empty())
        other = binding.dims.try_emplace(std::string(dim.param), size)
                    .first->second;
      if (other != size)
        return fail(UnboundDim,
                    "--shape " + nameOf(input) + " gives dim " + Twine(i) +
                        (dim.param.empty()
                             ? std::string()
                             : " (" + std::string(dim.param) + ")") +
                        " size " + Twine(size) + ", but it is " + Twine(other));
    }
    return Status::success();
  }

  /// Sets the names of the dims of each input. If the user gives no --shape for
  /// the input, also sets the sizes. For x[batch, 4] and --dim batch=8, the
  /// names are ["batch", ""] and the sizes are [8, 4]. The size of a named dim
  /// comes from `binding.dims`, so bindShapes() must run before. Returns one
  /// error that lists all dims without a size.
  Status bindDims() {
    std::set<std::string> unboundDims, unboundInputs;
    for (BoundInput &input : binding.inputs) {
      bool whole = options.shapes.count(nameOf(input));
      for (const onnx::Dim &dim : dimsOf(input)) {
        std::string param(dim.value ? "" : dim.param);
        input.names.push_back(param);
        if (whole)
          continue;
        auto bound = binding.dims.find(param);
        if (dim.value)
          input.shape.push_back(*dim.value);
        else if (bound != binding.dims.end())
          input.shape.push_back(bound->second);
        else if (param.empty())
          unboundInputs.insert(nameOf(input));
        else
          unboundDims.insert(param);
      }
    }
    if (unboundDims.empty() && unboundInputs.empty())
      return Status::success();
    return failUnbound(unboundDims, unboundInputs);
  }

  /// Sets `longest` to at most the number of rows of each table that a Gather
  /// reads: one of them may have a row per position of a sequence. Tables with
  /// few rows have other uses, such as one row per type of a token.
  void findLongest(const onnx::Graph &graph) {
    constexpr int64_t fewRows = 16;
    std::set<std::string_view> read;
    for (const onnx::Node &node : graph.nodes)
      if (node.opType == "Gather" && !node.inputs.empty())
        read.insert(node.inputs[0]);
    for (const onnx::Tensor &tensor : graph.initializers)
      if (tensor.dims.size() == 2 && tensor.dims[0] >= fewRows &&
          read.count(tensor.name))
        longest = std::min(longest, tensor.dims[0]);
  }

  /// Returns a plausible size for the dim `name`, for the example command in an
  /// error message.
  int64_t exampleSize(StringRef name) const {
    std::string lower = name.lower();
    if (StringRef(lower).contains("seq") || StringRef(lower).contains("len"))
      return int64_t(std::bit_floor(uint64_t(longest)));
    return StringRef(lower).contains("batch") ? 8 : 1;
  }

  /// Formats one option of a shell command, such as " --dim 'batch size=8'".
  static std::string option(const char *flag, const std::string &value) {
    return std::string(" --") + flag + " " + shellWord(value);
  }

  /// Returns one error about all dims without a size, with a note that shows an
  /// example command. `unboundDims` holds names of dims. `unboundInputs` holds
  /// names of inputs that have a dim with neither a size nor a name.
  Status failUnbound(const std::set<std::string> &unboundDims,
                     const std::set<std::string> &unboundInputs) {
    std::string names,
        command = options.command.empty() ? "pcc MODEL" : options.command;
    for (auto &[name, size] : options.dims)
      command += option("dim", name + "=" + std::to_string(size));
    for (const std::string &name : unboundDims) {
      names += (names.empty() ? "" : ", ") + onnx::quoted(name);
      command += option("dim", name + "=" + std::to_string(exampleSize(name)));
    }
    for (const BoundInput &input : binding.inputs) {
      if (!unboundInputs.count(nameOf(input)))
        continue;
      names += (names.empty() ? "" : ", ") +
               ("one of input " + onnx::quoted(input.info->name));
      command += option("shape", nameOf(input) + "=" + exampleShape(input));
    }
    return fail(UnboundDim, "dynamic dims have no size: " + names +
                                "; bind them with --dim or --shape")
        .addNote("for example: " + command);
  }

  /// Returns an example of a shape for `input`, such as "8x128", for an error
  /// message. The example has the sizes that the model declares.
  std::string exampleShape(const BoundInput &input) {
    std::string text;
    for (const onnx::Dim &dim : dimsOf(input))
      text += (text.empty() ? "" : "x") +
              std::to_string(dim.value.value_or(
                  exampleSize(StringRef(dim.param.data(), dim.param.size()))));
    return text;
  }

  const ImportOptions &options;
  InputBinding binding;
  /// Example of the length of a sequence, for error messages.
  int64_t longest = 128;
};
} // namespace

StatusOr<InputBinding> bindInputs(const onnx::Graph &graph,
                                  const ImportOptions &options) {
  return InputBinder(graph, options).run();
}

} // namespace pcc::onnx_import
