//===- CheckSchema.cpp - checks a node against the definition of its op ---===//

#include "passes/1-import/onnx/schema/CheckSchema.h"

#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/schema/OpSchema.h"

#include <map>

namespace pcc::onnx {

/// Returns whether `entry` is in `list`.
static bool contains(std::string_view list, char separator,
                     std::string_view entry) {
  while (!list.empty())
    if (nextEntry(list, separator) == entry)
      return true;
  return false;
}

/// Returns "Gather-13" for the definition of Gather since opset 13.
static std::string nameOf(const OpSchema &schema) {
  return std::string(schema.op) + "-" + std::to_string(schema.since);
}

/// Returns `list` with a comma and a space between its entries.
static std::string enumerate(std::string_view list, char separator) {
  std::string text;
  while (!list.empty())
    text +=
        (text.empty() ? "" : ", ") + std::string(nextEntry(list, separator));
  return text;
}

/// Checks that a node has at most as many operands or results as `list` has
/// entries. Any number is right if the last entry stands for any number. `word`
/// is "operands" or "results", and `where` is the beginning of the message.
static Status checkCount(const std::string &where, size_t count,
                         const char *word, std::string_view list,
                         ExitCode code) {
  size_t most = 0;
  for (std::string_view entry; !list.empty(); ++most)
    if (entry = nextEntry(list, ' ');
        entry.ends_with('*') || entry.ends_with('~'))
      return Status::success();
  if (count <= most)
    return Status::success();
  return Status::error(code, where + "has " + std::to_string(count) + " " +
                                 word + ", which is more than " +
                                 std::to_string(most));
}

Status checkForm(const Node &node) {
  const OpSchema *schema = findSchema(node);
  if (!schema)
    return Status::success();
  const ExitCode code =
      node.opset > newestOpset(node.domain) ? Unsupported : CannotRead;
  const std::string where = "node " + node.label() + ": ";
  for (const Attribute &attribute : node.attributes)
    if (!contains(schema->attributes, ' ', attribute.name))
      return Status::error(
          code, where + nameOf(*schema) + " has no attribute " +
                    quoted(attribute.name) +
                    (schema->attributes.empty()
                         ? std::string()
                         : ", only " + enumerate(schema->attributes, ' ')));
  PCC_RETURN_IF_ERROR(checkCount(where, node.inputs.size(), "operands",
                                 schema->operands, code));
  return checkCount(where, node.outputs.size(), "results", schema->results,
                    code);
}

namespace {
/// Compares the operands of one node with its op's definition, in order.
class OperandTypes {
public:
  explicit OperandTypes(const OpSchema &schema) : schema(schema) {}

  /// Checks an operand of the element type `type`. `kind` is the operand's
  /// entry in OpSchema::operands. Returns a claim about the operand, such as
  /// "has elements of type bool, …"; "" if the type is right.
  std::string check(std::string_view kind, DataType type, size_t operand) {
    const bool isFree = kind.ends_with('~');
    if (isFree || kind.ends_with('?') || kind.ends_with('*'))
      kind.remove_suffix(1);
    const std::string name = typeName(type);
    const std::string_view allowed = allowedTypes(kind);
    if (!allowed.empty() && !contains(allowed, ',', name))
      return "has elements of type " + name + ", but " + nameOf(schema) +
             " takes " + enumerate(allowed, ',');
    const auto [first, isNew] = known.try_emplace(kind, type, operand);
    if (isNew || isFree || first->second.first == type)
      return "";
    return "has elements of type " + name + ", but operand " +
           std::to_string(first->second.second) + " has " +
           typeName(first->second.first) + ", and both must be equal";
  }

private:
  /// Returns the element types that an operand of the type or type variable
  /// `kind` may have, separated by commas; "" if they are not known.
  std::string_view allowedTypes(std::string_view kind) const {
    for (std::string_view list = schema.constraints; !list.empty();) {
      std::string_view types = nextEntry(list, ' ');
      if (nextEntry(types, '=') == kind)
        return types;
    }
    const bool isElementType = kind != "-" && kind[0] >= 'a' && kind[0] <= 'z';
    return isElementType ? kind : std::string_view();
  }

  const OpSchema &schema;
  /// Type of each type variable, and the first operand that has it.
  std::map<std::string_view, std::pair<DataType, size_t>> known;
};
} // namespace

Status checkOperandTypes(const Node &node, const ElementTypeOf &typeOf) {
  const OpSchema *schema = findSchema(node);
  if (!schema || node.opset > newestOpset(node.domain))
    return Status::success();
  OperandTypes types(*schema);
  std::string_view kinds = schema->operands, kind;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!kinds.empty())
      kind = nextEntry(kinds, ' ');
    if (node.inputs[i].empty() || kind.empty())
      continue;
    const DataType type = typeOf(node.inputs[i]);
    if (type == DataType::Undefined)
      continue;
    if (std::string claim = types.check(kind, type, i); !claim.empty())
      return Status::error(CannotRead, "node " + node.label() + ": operand " +
                                           std::to_string(i) + " " + claim);
  }
  return Status::success();
}

} // namespace pcc::onnx
