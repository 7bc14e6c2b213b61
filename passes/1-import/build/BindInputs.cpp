//===- BindInputs.cpp - sizes for the dynamic dims of the inputs ----------===//

#include "passes/1-import/build/BindInputs.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <set>

namespace pcc::onnx_import {

using llvm::StringRef;
using llvm::Twine;

/// Formats the three `names` that are most similar to `word`, as a hint for a
/// misspelled option. Returns "none" if `names` is empty.
static std::string nearest(StringRef word, const std::set<std::string> &names) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  for (const std::string &name : names)
    ranked.emplace_back(word.edit_distance(name), name);
  llvm::sort(ranked);
  std::string text;
  for (auto &[distance, name] : llvm::ArrayRef(ranked).take_front(3))
    text += (text.empty() ? "" : ", ") + onnx::quoted(name);
  return text.empty() ? "none" : text;
}

namespace {
/// Implements bindInputs in two steps. First bindShapes sets the shapes that
/// --shape gives. Then bindDims sets the shapes of all other inputs.
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

  /// Checks that each model input is a tensor and has a shape, either from the
  /// model or from --shape.
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
        return fail(WrongUsage,
                    "--dim " + name + "=" + Twine(size) +
                        " names no dynamic dim of the model; nearest: " +
                        nearest(name, params));
      if (size < 1)
        return fail(WrongUsage, "--dim " + name + "=" + Twine(size) +
                                    " is not a positive size");
    }
    for (auto &[name, shape] : options.shapes)
      if (!inputs.count(name))
        return fail(WrongUsage, "--shape " + name +
                                    " names no input of the model; nearest: " +
                                    nearest(name, inputs));
    return Status::success();
  }

  /// Returns the declared dims of `input`; empty if the model declares no
  /// shape.
  static llvm::ArrayRef<onnx::Dim> dimsOf(const BoundInput &input) {
    const auto &shape = input.info->type.shape;
    return shape ? llvm::ArrayRef(*shape) : llvm::ArrayRef<onnx::Dim>();
  }

  /// Stores the sizes from --dim, and the shapes from --shape. A --shape also
  /// sets the sizes of named dims: `--shape x=8x4` for x[batch, 4] sets `batch`
  /// to 8.
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

  /// Checks that the --shape of `input` agrees with the dims that the model
  /// declares. Stores the sizes that this --shape gives to named dims.
  Status bindShape(const BoundInput &input) {
    llvm::ArrayRef<onnx::Dim> dims = dimsOf(input);
    if (dims.size() != input.shape.size())
      return fail(UnboundDim, "--shape " + nameOf(input) + " has " +
                                  Twine(input.shape.size()) +
                                  " dims, the input has " + Twine(dims.size()));
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

  /// Sets the dim names of all inputs, and the shapes of inputs for which the
  /// user gives no --shape. Returns one error that lists all dims without a
  /// size.
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

  /// Returns an example size for the dim `name`, such as 8 for "batch", for
  /// error messages.
  static int64_t exampleSize(StringRef name) {
    std::string lower = name.lower();
    if (StringRef(lower).contains("seq") || StringRef(lower).contains("len"))
      return 128;
    return StringRef(lower).contains("batch") ? 8 : 1;
  }

  /// Returns whether `text` needs quotes in a shell command.
  static bool needsQuotes(StringRef text) {
    return !llvm::all_of(text, [](char c) {
      return llvm::isAlnum(c) || StringRef("_-./=").contains(c);
    });
  }

  /// Formats ` --flag value` for a shell command, with quotes if necessary.
  static std::string option(StringRef flag, const std::string &value) {
    std::string shown = needsQuotes(value) ? "'" + value + "'" : value;
    return (" --" + flag + " " + shown).str();
  }

  /// Returns one error for all dims without a size: the named dims
  /// `unboundDims`, and unnamed dims of the inputs `unboundInputs`. The note of
  /// the error repeats the user's command with example options added:
  ///
  ///   --dim batch=8     for a named dim
  ///   --shape x=8x128   for an input with unnamed dims
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

  /// Formats an example shape for the --shape option of `input`, such as 8x128.
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
};
} // namespace

StatusOr<InputBinding> bindInputs(const onnx::Graph &graph,
                                  const ImportOptions &options) {
  return InputBinder(graph, options).run();
}

} // namespace pcc::onnx_import
