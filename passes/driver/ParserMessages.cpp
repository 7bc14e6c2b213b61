//===- ParserMessages.cpp - errors of MLIR's parser in our words ----------===//

#include "passes/driver/ParserMessages.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "status/Suggestions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace pcc;

//===----------------------------------------------------------------------===//
// The text of the file
//===----------------------------------------------------------------------===//

/// Returns whether `c` may be in a name, such as `%arg0`, `#mb_tp` or
/// `graph.add`.
static bool isNameCharacter(char c) {
  return llvm::isAlnum(c) || StringRef("_$.-").contains(c);
}

/// Returns the name, number, string or sign with which `text` begins, such as
/// `%arg0`. Returns an empty text at the end of the file.
static StringRef firstToken(StringRef text) {
  if (text.empty())
    return "";
  if (text[0] == '"')
    return text.take_front(std::min(text.find('"', 1), text.size() - 1) + 1);
  const bool hasSign = StringRef("%#@!").contains(text[0]);
  const size_t length =
      hasSign + text.drop_front(hasSign).take_while(isNameCharacter).size();
  return text.take_front(std::max<size_t>(length, 1));
}

/// Returns the text of `source` from `location` on, without leading white
/// space: MLIR places some errors at the end of the token before. Returns an
/// empty text if the place is unknown.
static StringRef textAt(Location location, StringRef source) {
  auto place = dyn_cast<FileLineColLoc>(location);
  if (!place || place.getLine() == 0 || place.getColumn() == 0)
    return "";
  for (unsigned line = 1; line < place.getLine(); ++line)
    source = source.split('\n').second;
  return source
      .drop_front(std::min<size_t>(source.size(), place.getColumn() - 1))
      .ltrim();
}

/// Returns the keys without a dialect in the first braces of `text`, such as
/// `transpose_rhs` for `%0, %1 {transpose_rhs, graph.name = "x"}`.
static std::vector<StringRef> keysIn(StringRef text) {
  std::vector<StringRef> keys;
  int depth = 0;
  text = text.drop_until([](char c) { return c == '{'; });
  do {
    const StringRef token = firstToken(text);
    text = text.drop_front(token.size()).ltrim();
    if (token == "-") // the arrow of an affine map
      text.consume_front(">");
    depth += StringRef("{[(<").contains(token);
    depth -= StringRef("}])>").contains(token);
    const StringRef key = firstToken(text);
    if (depth == 1 && (token == "{" || token == ",") && !key.contains('.') &&
        !key.empty() && llvm::isAlpha(key.front()))
      keys.push_back(key);
  } while (depth > 0 && !text.empty());
  return keys;
}

/// Returns all names in `source` that begin with `sign`, such as all values for
/// `%`.
static std::vector<std::string> namesWith(char sign, StringRef source) {
  std::set<std::string> names;
  for (StringRef part : llvm::drop_begin(llvm::split(source, sign)))
    names.insert(sign + part.take_while(isNameCharacter).str());
  names.erase(std::string(1, sign));
  return {names.begin(), names.end()};
}

/// Returns "; did you mean …?" with the names in `source`, apart from `name`
/// itself, that resemble `name`.
static std::string similarTo(StringRef name, StringRef source) {
  std::vector<std::string> names = namesWith(name.front(), source);
  std::erase(names, name.str());
  return didYouMean(name, names);
}

//===----------------------------------------------------------------------===//
// Messages about names
//===----------------------------------------------------------------------===//

/// Returns the message for the name `name` of an op that no dialect has.
static std::string unknownOp(StringRef name, MLIRContext &context) {
  std::vector<std::string> names;
  for (RegisteredOperationName known : context.getRegisteredOperations())
    names.push_back(known.getStringRef().str());
  return "there is no op '" + name.str() + "'" + didYouMean(name, names);
}

/// Returns the name of the op in `text`, if `text` is the message of MLIR for
/// an op that no dialect has. An op may be written in its own form or in MLIR's
/// generic form, which have different messages. Returns an empty text for any
/// other message.
static StringRef nameOfUnknownOp(StringRef text) {
  constexpr std::pair<StringLiteral, StringLiteral> messages[] = {
      {"custom op '", "' is unknown"},
      {"unregistered operation '", "' found in dialect"}};
  for (const auto &[before, after] : messages)
    if (StringRef name = text;
        name.consume_front(before) && name.contains(after))
      return name.split(after).first;
  return "";
}

std::string pcc::unknownAttribute(OperationName op, StringRef key) {
  std::vector<std::string> known;
  for (StringAttr name : op.getAttributeNames())
    known.push_back(name.str());
  return "attribute '" + key.str() + "' is unknown" + didYouMean(key, known);
}

/// Returns the first key in the first braces of `text` that `op` does not have
/// as an attribute, as a fault of `text`; nullopt if there is none.
static std::optional<TextFault> findUnknownKey(RegisteredOperationName op,
                                               StringRef text) {
  for (StringRef key : keysIn(text))
    if (!llvm::is_contained(op.getAttributeNames(), key))
      return TextFault{size_t(key.data() - text.data()),
                       "'" + op.getStringRef().str() + "' op " +
                           unknownAttribute(op, key)};
  return std::nullopt;
}

/// Returns the message for an attribute that the op at the start of `text` does
/// not have, or an empty text if there is none. Without an attribute that is
/// misspelt, the op may seem to have operands of wrong shapes.
static std::string unknownAttributeIn(StringRef text, MLIRContext *context) {
  auto op = RegisteredOperationName::lookup(firstToken(text), context);
  // The braces of a function may be its body.
  if (!op || op->hasInterface<FunctionOpInterface>())
    return "";
  const auto fault = findUnknownKey(*op, text.split('\n').first);
  return fault ? fault->claim : "";
}

std::optional<TextFault> pcc::findUnknownProperty(StringRef text,
                                                  MLIRContext *context) {
  for (size_t at = text.find("<{"); at != StringRef::npos;
       at = text.find("<{", at + 1)) {
    const StringRef before = text.take_front(at).rtrim(' ');
    if (!before.ends_with(")") && !before.ends_with("]"))
      continue;
    const StringRef line = before.substr(before.rfind('\n') + 1);
    const StringRef name = line.rsplit("\"(").first.rsplit('"').second;
    const auto op = RegisteredOperationName::lookup(name, context);
    if (!op)
      continue;
    if (auto fault = findUnknownKey(*op, text.drop_front(at)))
      return TextFault{at + fault->at, fault->claim};
  }
  return std::nullopt;
}

/// Returns the message for an alias of an attribute or type that `source` does
/// not define. `id` is its name without the sign.
static std::string unknownAlias(StringRef id, StringRef source) {
  const std::string attribute = "#" + id.str();
  const std::string name =
      source.contains(attribute) ? attribute : "!" + id.str();
  return "there is no alias '" + name + "'" + similarTo(name, source);
}

/// Returns the message for `token` where a type should be.
static std::string unknownType(StringRef token) {
  if (!llvm::isAlpha(token.front()))
    return "expected a type, got '" + token.str() + "'";
  return "there is no type '" + token.str() + "'" +
         didYouMean(token, {"tensor", "f64", "f32", "f16", "bf16", "i64", "i32",
                            "i16", "i8", "i1", "ui64", "ui32", "ui16", "ui8"});
}

/// Returns the message for a name, value or type that does not exist or exists
/// twice. Returns an empty text for any other message. `token` is what stands
/// at the place of the error.
static std::string aboutName(StringRef message, StringRef token,
                             StringRef source) {
  if (message == "use of undeclared SSA value name" && !token.empty())
    return "there is no value '" + token.str() + "'" + similarTo(token, source);
  if (message.consume_front("undefined symbol alias id '"))
    return unknownAlias(message.drop_back(), source);
  if (message == "expected non-function type" && !token.empty())
    return unknownType(token);
  if (message.consume_front("redefinition of SSA value "))
    return "value " + message.str() + " is defined twice";
  if (message.consume_front("redefinition of symbol named "))
    return "symbol " + message.str() + " is defined twice";
  if (message.consume_front("redefinition of attribute alias id "))
    return "alias " + message.str() + " is defined twice";
  return "";
}

//===----------------------------------------------------------------------===//
// Messages about forms
//===----------------------------------------------------------------------===//

/// Returns `text` without the word "custom", with which MLIR's parser begins
/// errors in the own form of an op, as in "custom op 'graph.gather' expected
/// 'along'". If the text then names the op twice, also removes the first name.
static StringRef withoutCustom(StringRef text) {
  if (!text.consume_front("custom "))
    return text;
  auto [name, message] = text.drop_front(StringRef("op ").size()).split(' ');
  return message.starts_with((name + " op ").str()) ? message : text;
}

/// Returns `text`, in which the words of MLIR's developers are replaced by
/// those of its users.
static std::string inPlainWords(std::string text) {
  constexpr std::pair<StringLiteral, StringLiteral> words[] = {
      {"expected SSA operand", "expected a value such as %0"},
      {"does not dominate this use", "is computed behind this op"},
      {"definition of SSA value ", "value "},
      {"#0' has type", "' has type"},
      {"invalid kind of type specified: expected builtin.tensor, but found",
       "expected a tensor type, got"},
      {"expected attribute value", "expected the value of an attribute"},
      {"invalid kind of attribute specified",
       "expected another kind of attribute"},
      {"invalid SSA value result number", "there is no result of this number"},
      {"in pretty dialect name", "in the text of an attribute or type"},
      {"expected operation name in quotes", "expected the name of an op"},
      {"expected location instance", "expected a location"}};
  for (const auto &[theirs, ours] : words)
    if (size_t at = text.find(theirs); at != std::string::npos)
      text.replace(at, theirs.size(), ours);
  return text;
}

/// Returns ", got 'TOKEN'" for an error of the parser that says only what it
/// expected.
static std::string gotToken(StringRef text, StringRef token) {
  const bool isTold = text.contains(", got") || text.contains("but found");
  if (isTold || !text.contains("expected ") || token.empty())
    return "";
  const bool isString = token.starts_with("\"");
  return ", got " + (isString ? token.str() : "'" + token.str() + "'");
}

std::string pcc::inOurWords(StringRef message, Location location,
                            StringRef source) {
  if (message.contains("allow-unregistered-dialect"))
    return "an op, attribute or type here is of a dialect that pcc does not "
           "have";
  if (message.starts_with("Dialect `"))
    return "pcc has no dialect '" +
           message.split('`').second.split('\'').first.str() + "'";
  if (StringRef name = nameOfUnknownOp(message); !name.empty())
    return unknownOp(name, *location->getContext());
  const StringRef text = textAt(location, source);
  if (std::string claim = unknownAttributeIn(text, location->getContext());
      !claim.empty())
    return claim;
  const StringRef token = firstToken(text);
  if (std::string claim = aboutName(message, token, source); !claim.empty())
    return claim;
  const std::string claim = inPlainWords(withoutCustom(message).str());
  return claim + gotToken(claim, token);
}
