//===- CheckSchema.cpp - checks a node against the definition of its op ---===//

#include "passes/1-import/onnx/schema/CheckSchema.h"

#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/schema/OpSchema.h"

#include <map>

namespace pcc::onnx {

/// Returns whether `entry` equals one of the entries of `list`. The entries of
/// `list` are separated by the character `separator`. Example: if `list` is
/// "axis keepdims" and `separator` is ' ', the result is true for the entry
/// "axis" and false for the entry "dims".
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

/// Returns the entries of `list` with a comma and a space between them. The
/// entries of `list` are separated by the character `separator`. Example: the
/// result for the list "int32,int64" and the separator ',' is "int32, int64".
static std::string enumerate(std::string_view list, char separator) {
  std::string text;
  while (!list.empty())
    text +=
        (text.empty() ? "" : ", ") + std::string(nextEntry(list, separator));
  return text;
}

/// Returns whether pcc's table of op definitions may be too old for `node`.
/// Each row of the table has an opset version. The result is true if the node
/// has a higher opset version than all rows with the node's domain. The
/// function reads all rows, which takes time. The callers therefore call this
/// function only after they have found an error in a node.
static bool isNewerThanTable(const Node &node) {
  return node.opset > newestOpset(node.domain);
}

/// Returns an error about `node`. `claim` is the text that follows the node's
/// name in the error message, such as "has 3 operands, which is more than 2".
/// The exit code of the error is 4 if the opset version of the node is newer
/// than all versions in pcc's table of op definitions. The table may then lack
/// the newest definition of the op. Otherwise the exit code is 3.
static Status refuse(const Node &node, const std::string &claim) {
  return Status::error(isNewerThanTable(node) ? Unsupported : CannotRead,
                       "node " + node.label() + ": " + claim);
}

/// Checks that `node` has at most as many operands or results as ONNX's
/// definition of the op. `count` is the number in `node`, and `list` has the
/// types in the definition. A type with the sign "*" or "~" stands for any
/// number of operands or results. `word` is "operands" or "results".
static Status checkCount(const Node &node, size_t count, const char *word,
                         std::string_view list) {
  size_t most = 0;
  for (std::string_view entry; !list.empty(); ++most)
    if (entry = nextEntry(list, ' ');
        entry.ends_with('*') || entry.ends_with('~'))
      return Status::success();
  if (count <= most)
    return Status::success();
  return refuse(node, "has " + std::to_string(count) + " " + word +
                          ", which is more than " + std::to_string(most));
}

Status checkForm(const Node &node) {
  const OpSchema *schema = findSchema(node);
  if (!schema)
    return Status::success();
  for (const Attribute &attribute : node.attributes)
    if (!contains(schema->attributes, ' ', attribute.name))
      return refuse(node,
                    nameOf(*schema) + " has no attribute " +
                        quoted(attribute.name) +
                        (schema->attributes.empty()
                             ? std::string()
                             : ", only " + enumerate(schema->attributes, ' ')));
  PCC_RETURN_IF_ERROR(
      checkCount(node, node.inputs.size(), "operands", schema->operands));
  return checkCount(node, node.outputs.size(), "results", schema->results);
}

/// Returns whether an operand may have the element type `name`. `allowed` is
/// the list of types in ONNX's definition of the op, separated by commas. If
/// the list contains float16, float or double, the types bfloat16, float16,
/// float and double are all accepted, because pcc computes float ops in all
/// four types. For example, ONNX's definition of Einsum lacks bfloat16, but pcc
/// accepts an Einsum with bfloat16 operands.
static bool takes(std::string_view allowed, const std::string &name) {
  const bool isFloat = name == "bfloat16" || name == "float16" ||
                       name == "float" || name == "double";
  return contains(allowed, ',', name) ||
         (isFloat && (contains(allowed, ',', "float16") ||
                      contains(allowed, ',', "float") ||
                      contains(allowed, ',', "double")));
}

namespace {
/// Checks the element types of the operands of one node against ONNX's
/// definition of the op. The caller calls the method `check` for one operand
/// after the other, and begins with operand 0. The object remembers the types
/// of the checked operands, because some operands of an op must have equal
/// types. Example: the two operands of Add must have the same element type.
class OperandTypes {
public:
  explicit OperandTypes(const OpSchema &schema) : schema(schema) {}

  /// Checks the element type of the operand with the index `operand`. `kind` is
  /// the operand's type in the op's definition, which may end with the sign
  /// "?", "*" or "~", such as "T?". Operands with the same type variable, such
  /// as T, must have the same element type. An operand whose `kind` ends with
  /// "~" is exempt from this rule. Returns "", or the end of an error message.
  std::string check(std::string_view kind, DataType type, size_t operand) {
    const bool isFree = kind.ends_with('~');
    if (isFree || kind.ends_with('?') || kind.ends_with('*'))
      kind.remove_suffix(1);
    const std::string name = typeName(type);
    const std::string_view allowed = allowedTypes(kind);
    if (!allowed.empty() && !takes(allowed, name))
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
  /// Returns the element types that an operand may have, separated by commas.
  /// `kind` is the operand's type in the op's definition: an element type such
  /// as "int64", a type variable such as "T", or "-" for any type. Returns ""
  /// if the types are not restricted.
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
  /// Element types of the operands that have been checked so far. The key is
  /// the type of an operand in the definition of the op, such as the type
  /// variable "T" (a name for one of several element types). The content is the
  /// element type of the first operand with this key, and the index of that
  /// operand. Example: both operands of Add have the type variable "T". If
  /// operand 0 has the element type float, then `known["T"]` is {Float, 0}.
  std::map<std::string_view, std::pair<DataType, size_t>> known;
};
} // namespace

Status checkOperandTypes(const Node &node, const ElementTypeOf &typeOf) {
  const OpSchema *schema = findSchema(node);
  if (!schema)
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
      return isNewerThanTable(node)
                 ? Status::success()
                 : refuse(node, "operand " + std::to_string(i) + " " + claim);
  }
  return Status::success();
}

} // namespace pcc::onnx
