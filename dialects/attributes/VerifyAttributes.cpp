//===- VerifyAttributes.cpp - verification of declared attributes ---------===//

#include "dialects/attributes/VerifyAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "status/Counted.h"
#include "status/Suggestions.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace pcc;

RankedTensorType AttributeSite::tensorType() const {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return {};
  ArrayRef<Type> types =
      place == AttributePlace::Argument ? function.getArgumentTypes()
      : place == AttributePlace::Result ? function.getResultTypes()
                                        : ArrayRef<Type>();
  return index < types.size() ? dyn_cast<RankedTensorType>(types[index])
                              : RankedTensorType();
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

bool pcc::isNumber(Attribute attribute, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= least;
}

std::optional<std::string> pcc::countError(int64_t wanted, StringRef perWhat,
                                           int64_t actual) {
  if (wanted == actual)
    return std::nullopt;
  return ("needs " + counted(wanted, "entry") + ", one per " + perWhat +
          ", got " + Twine(actual))
      .str();
}

template <int64_t Least> static bool isAtLeast(Attribute attribute) {
  return isNumber(attribute, Least);
}

/// Returns whether `attribute` is an array of entries of type Entry.
template <typename Entry> static bool isArrayOf(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, llvm::IsaPred<Entry>);
}

/// Returns whether `attribute` is a dictionary whose values all satisfy `Fits`.
template <bool (*Fits)(Attribute)>
static bool isDictionaryOf(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  return dictionary && llvm::all_of(dictionary, [](NamedAttribute entry) {
           return Fits(entry.getValue());
         });
}

template <typename Kind> static bool isOf(Attribute attribute) {
  return isa<Kind>(attribute);
}

/// Returns whether `attribute` is an i64 from 1 to INT32_MAX.
static bool isPositive(Attribute attribute) {
  return isNumber(attribute, 1) &&
         cast<IntegerAttr>(attribute).getInt() <= INT32_MAX;
}

static bool areCounts(Attribute attribute) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute);
  return numbers && llvm::all_of(numbers.asArrayRef(),
                                 [](int64_t number) { return number >= 0; });
}

static bool isAny(Attribute) { return true; }

static std::optional<std::string> checkDim(const AttributeSite &site,
                                           Attribute attribute) {
  RankedTensorType type = site.tensorType();
  const int64_t dim = cast<IntegerAttr>(attribute).getInt();
  if (!type)
    return std::string("must be on a tensor, because it names a dim");
  if (dim >= type.getRank())
    return "needs the index of a dim of a tensor with " +
           counted(type.getRank(), "dim") + ", got " + std::to_string(dim);
  return std::nullopt;
}

static std::optional<std::string> checkDimNames(const AttributeSite &site,
                                                Attribute attribute) {
  RankedTensorType type = site.tensorType();
  if (!type)
    return std::string("must be on a tensor, because it names its dims");
  return countError(type.getRank(), "dim",
                    static_cast<int64_t>(cast<ArrayAttr>(attribute).size()));
}

const AttributeKind pcc::unitKind{"no value", isOf<UnitAttr>};
const AttributeKind pcc::stringKind{"a string", isOf<StringAttr>};
const AttributeKind pcc::stringsKind{"an array of strings",
                                     isArrayOf<StringAttr>};
const AttributeKind pcc::symbolKind{"a symbol", isOf<FlatSymbolRefAttr>};
const AttributeKind pcc::typeKind{"a type", isOf<TypeAttr>};
const AttributeKind pcc::dictionaryKind{"a dictionary", isOf<DictionaryAttr>};
const AttributeKind pcc::dictionariesKind{"an array of dictionaries",
                                          isArrayOf<DictionaryAttr>};
const AttributeKind pcc::numberKind{"an i64", isAtLeast<INT64_MIN>};
const AttributeKind pcc::countKind{"an i64 of at least 0", isAtLeast<0>};
const AttributeKind pcc::positiveKind{"an i64 from 1 to 2147483647",
                                      isPositive};
const AttributeKind pcc::countsKind{"an array<i64> of numbers of at least 0",
                                    areCounts};
const AttributeKind pcc::numbersByNameKind{
    "a dictionary of i64", isDictionaryOf<isAtLeast<INT64_MIN>>};
const AttributeKind pcc::stringsByNameKind{"a dictionary of strings",
                                           isDictionaryOf<isOf<StringAttr>>};
const AttributeKind pcc::dimKind{"an i64 of at least 0", isAtLeast<0>,
                                 checkDim};
const AttributeKind pcc::dimNamesKind{"an array of strings",
                                      isArrayOf<StringAttr>, checkDimNames};
const AttributeKind pcc::metadataKind{"anything", isAny};

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

void AttributeTable::declare(MLIRContext *context,
                             ArrayRef<DeclaredAttribute> declared) {
  for (const DeclaredAttribute &row : declared)
    rows[StringAttr::get(context, row.name)] = &row;
}

/// Returns the noun phrase for `place` in error messages, such as "a function".
/// `place` must be one place, not a set.
static StringRef textOf(AttributePlace place) {
  switch (place) {
  case AttributePlace::Module:
    return "a module";
  case AttributePlace::Function:
    return "a function";
  case AttributePlace::Op:
    return "an op";
  case AttributePlace::Argument:
    return "an argument";
  case AttributePlace::Result:
    return "a result";
  case AttributePlace::Location:
  case AttributePlace::None:
    break;
  }
  return "nothing";
}

/// Returns a text with the places where an attribute may be, such as "on an
/// argument, a result or graph.parameter". `row` is the declaration of this
/// attribute.
static std::string placesOf(const DeclaredAttribute &row) {
  if (row.places == AttributePlace::Location)
    return "in the metadata of a location";
  SmallVector<StringRef> places;
  for (auto place :
       {AttributePlace::Module, AttributePlace::Function, AttributePlace::Op,
        AttributePlace::Argument, AttributePlace::Result})
    if ((row.places & place) != AttributePlace::None)
      places.push_back(textOf(place));
  row.ops.split(places, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string text = "on ";
  for (auto [i, place] : llvm::enumerate(places)) {
    if (i > 0)
      text += i + 1 == places.size() ? " or " : ", ";
    text += place;
  }
  return text;
}

/// Emits the beginning of the error about attribute `name` at `site`, such as
/// "attribute 'graph.name' of argument 2". The caller appends the rest.
static InFlightDiagnostic beginError(const AttributeSite &site,
                                     StringRef name) {
  InFlightDiagnostic error = site.op->emitOpError("attribute '") << name << "'";
  if (site.place == AttributePlace::Argument)
    error << " of argument " << site.index;
  if (site.place == AttributePlace::Result)
    error << " of result " << site.index;
  return error;
}

LogicalResult AttributeTable::reportUnknown(const AttributeSite &site,
                                            StringRef name) const {
  std::set<std::string> names;
  for (auto [known, row] : rows)
    names.insert(row->name.str());
  return beginError(site, name)
         << " is unknown" << didYouMean(name, {names.begin(), names.end()});
}

LogicalResult AttributeTable::verify(const AttributeSite &site,
                                     NamedAttribute attribute) const {
  const DeclaredAttribute *row = rows.lookup(attribute.getName());
  if (!row)
    return reportUnknown(site, attribute.getName());
  const bool isPlace = (row->places & site.place) != AttributePlace::None;
  if (!isPlace && (site.place != AttributePlace::Op ||
                   !llvm::is_contained(llvm::split(row->ops, ' '),
                                       site.op->getName().getStringRef())))
    return beginError(site, row->name)
           << " belongs " << placesOf(*row) << ", not on "
           << (site.place == AttributePlace::Op
                   ? site.op->getName().getStringRef()
                   : textOf(site.place));
  const AttributeKind &kind = row->kind;
  if (!kind.fits(attribute.getValue()))
    return beginError(site, row->name)
           << " needs " << kind.needs << ", got " << attribute.getValue();
  if (kind.check)
    if (auto fault = kind.check(site, attribute.getValue()))
      return beginError(site, row->name) << " " << *fault;
  return success();
}

LogicalResult AttributeTable::verify(Operation *op,
                                     NamedAttribute attribute) const {
  const AttributePlace place = isa<ModuleOp>(op) ? AttributePlace::Module
                               : isa<FunctionOpInterface>(op)
                                   ? AttributePlace::Function
                                   : AttributePlace::Op;
  return verify({op, place}, attribute);
}
