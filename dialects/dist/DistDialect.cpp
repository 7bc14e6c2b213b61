//===- DistDialect.cpp - dist dialect: attributes and verifiers -----------===//

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "sharding/ShardingText.h"
#include "status/Counted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc::dist;

namespace pcc::dist {

/// Parses the keyword for the kind of a collective, such as `all_gather`.
static ParseResult parseCollectiveKind(OpAsmParser &parser,
                                       CollectiveKindAttr &kind) {
  StringRef name;
  llvm::SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  auto parsed = parseCollectiveKind(std::string_view(name));
  if (!parsed || *parsed == CollectiveKind::Broadcast)
    return parser.emitError(where)
           << "expected the kind of a collective, got '" << name << "'";
  kind = CollectiveKindAttr::get(parser.getContext(), *parsed);
  return success();
}

static void printCollectiveKind(OpAsmPrinter &printer, Operation *,
                                CollectiveKindAttr kind) {
  printer << toString(kind.getValue());
}

} // namespace pcc::dist

#include "dialects/dist/DistDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/dist/DistOps.cpp.inc"

/// Appends the names of `axes` to `words`.
static void addAxes(SmallVectorImpl<std::string> &words, const SubAxes &axes) {
  for (const SubAxis &axis : axes)
    words.push_back(axis.axis);
}

/// Returns a name for the alias of `sharding` in a dump. Example: `whole_3_tp`
/// for [-, 3|tp], and `mb_whole_sum_tp` for [mb, -] partial sum(tp).
static std::string speakingName(const Sharding &sharding) {
  SmallVector<std::string> words;
  for (const DimSharding &dim : sharding.dims) {
    for (const Factor &factor : dim.factors) {
      if (factor.axes.empty())
        words.push_back(std::to_string(factor.size));
      addAxes(words, factor.axes);
    }
    if (dim.factors.empty())
      words.push_back("whole");
    if (dim.view)
      words.push_back("view");
  }
  if (words.empty())
    words = {"scalar"};
  else if (llvm::all_of(words, [](StringRef word) { return word == "whole"; }))
    words = {"whole", std::to_string(sharding.rank()) + "d"};
  for (const Partial &partial : sharding.partials) {
    words.push_back(toString(partial.kind));
    addAxes(words, {partial.axis});
  }
  return llvm::join(words, "_");
}

namespace {
/// Names the aliases under which MLIR prints meshes and shardings: #mesh, and
/// in dumps the axes of the sharding. Elsewhere #partial (ranks hold partial
/// results), #whole (each rank holds the whole tensor), and #split (any other
/// sharding).
struct DistAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (isa<MeshAttr>(attribute)) {
      os << "mesh";
      return AliasResult::FinalAlias;
    }
    auto sharding = dyn_cast<ShardingAttr>(attribute);
    if (!sharding)
      return AliasResult::NoAlias;
    if (sharding.getMesh())
      os << speakingName(sharding.getSharding());
    else
      os << (isPartial(sharding.getSharding())      ? "partial"
             : isReplicated(sharding.getSharding()) ? "whole"
                                                    : "split");
    return AliasResult::FinalAlias;
  }
};
} // namespace

void DistDialect::initialize() {
  declareAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/dist/DistOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dist/DistAttributes.cpp.inc"
      >();
  addInterfaces<DistAliases>();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool CollectiveKindAttr::classof(Attribute attribute) {
  auto value = dyn_cast<IntegerAttr>(attribute);
  return value && value.getType().isSignlessInteger(32) &&
         value.getValue().ule(unsigned(CollectiveKind::Mask)) &&
         value.getValue() != unsigned(CollectiveKind::Broadcast);
}

CollectiveKindAttr CollectiveKindAttr::get(MLIRContext *context,
                                           CollectiveKind kind) {
  return cast<CollectiveKindAttr>(
      IntegerAttr::get(IntegerType::get(context, 32), int64_t(kind)));
}

CollectiveKind CollectiveKindAttr::getValue() const {
  return static_cast<CollectiveKind>(IntegerAttr::getValue().getZExtValue());
}

llvm::hash_code pcc::dist::hash_value(const Mesh &mesh) {
  llvm::hash_code hash = llvm::hash_value(mesh.axes.size());
  for (const Axis &axis : mesh.axes)
    hash = llvm::hash_combine(hash, axis.name, axis.size);
  return hash;
}

llvm::hash_code pcc::dist::hash_value(const Sharding &sharding) {
  return hashValue(sharding);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getMesh().axes, printer, [&](const Axis &axis) {
    printer.printKeywordOrString(axis.name);
    printer << " = " << axis.size;
  });
  printer << '>';
}

/// Parses the names and sizes of the axes of a mesh, such as
/// `<dp = 2, tp = 4>`. Each size must be at least 1.
Attribute MeshAttr::parse(AsmParser &parser, Type) {
  Mesh mesh;
  auto parseAxis = [&]() -> ParseResult {
    Axis axis;
    if (parser.parseKeywordOrString(&axis.name) || parser.parseEqual() ||
        parser.parseInteger(axis.size))
      return failure();
    if (axis.size < 1)
      return parser.emitError(parser.getCurrentLocation(), "axis '")
             << axis.name << "' has size " << axis.size;
    if (mesh.indexOf(axis.name) >= 0)
      return parser.emitError(parser.getCurrentLocation(),
                              "the mesh has two axes '")
             << axis.name << "'";
    mesh.axes.push_back(std::move(axis));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis))
    return {};
  return MeshAttr::get(parser.getContext(), mesh);
}

/// Returns the size of `dim` if the spelling of --shard leaves it out: the last
/// factor is split. Returns kDynamic otherwise.
static int64_t omittedSize(const DimSharding &dim) {
  if (dim.factors.empty() || dim.factors.back().axes.empty())
    return ShapedType::kDynamic;
  int64_t size = 1;
  for (const Factor &factor : dim.factors)
    size *= factor.size;
  return size;
}

/// Prints a size, or `?` if it is unknown.
static void printSize(AsmPrinter &printer, int64_t size) {
  if (ShapedType::isDynamic(size))
    printer << '?';
  else
    printer << size;
}

void ShardingAttr::print(AsmPrinter &printer) const {
  auto mesh = dyn_cast_or_null<MeshAttr>(getMesh());
  if (!mesh) {
    printer << "<\"" << toString(getSharding()) << "\">";
    return;
  }
  const Mesh axes = mesh.getMesh();
  printer << "<\"" << toBriefString(getSharding(), axes) << "\"";
  Shape sizes;
  for (const DimSharding &dim : getSharding().dims)
    sizes.push_back(omittedSize(dim));
  if (llvm::any_of(sizes, [](int64_t size) { return size >= 0; })) {
    printer << " of ";
    llvm::interleave(
        sizes, [&](int64_t size) { printSize(printer, size); },
        [&] { printer << 'x'; });
  }
  printer << " on " << mesh << '>';
}

/// Parses a sharding such as `<"[8@tp:2, -]">`: mesh axis tp of size 2 splits
/// dim 0 of size 8, and each rank holds the whole of dim 1. The text contains
/// the sizes, or they follow: `<"[tp, -]" of 8x? on #dist.mesh<tp = 2>>`.
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&text))
    return {};
  SmallVector<int64_t> sizes;
  MeshAttr mesh;
  const bool hasSizes = succeeded(parser.parseOptionalKeyword("of"));
  if (hasSizes && parser.parseDimensionList(sizes, /*allowDynamic=*/true,
                                            /*withTrailingX=*/false))
    return {};
  if (succeeded(parser.parseOptionalKeyword("on")) &&
      parser.parseAttribute(mesh))
    return {};
  if (parser.parseGreater())
    return {};
  const Mesh axes = mesh ? mesh.getMesh() : Mesh();
  const Shape shape = shapeOf(sizes);
  auto sharding =
      parseSharding(text, mesh ? &axes : nullptr, hasSizes ? &shape : nullptr);
  if (sharding && hasSizes && sharding->rank() != shape.size())
    sharding = Status::error(
        CannotMeet, "sharding " + text + " has " +
                        pcc::counted(sharding->rank(), "dim") +
                        ", but sizes of " + std::to_string(shape.size()));
  if (!sharding) {
    parser.emitError(location, sharding.status().message());
    return {};
  }
  return ShardingAttr::get(parser.getContext(), *sharding);
}

ShardingAttr pcc::dist::spelledOn(ShardingAttr sharding, MeshAttr mesh) {
  return ShardingAttr::get(sharding.getContext(), sharding.getSharding(), mesh);
}

StringRef pcc::dist::clusterOf(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(clusterName);
  return text ? text.getValue() : StringRef();
}

StringRef pcc::dist::targetOf(ModuleOp module) {
  auto target = module->getAttrOfType<StringAttr>(targetName);
  return target ? target.getValue() : "cpu";
}

Mesh pcc::dist::meshOf(ModuleOp module) {
  auto mesh = module->getAttrOfType<MeshAttr>(meshName);
  return mesh ? mesh.getMesh().ofStage() : Mesh();
}

ShardingAttr pcc::dist::shardingOf(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    auto shardings = result.getOwner()->getAttrOfType<ArrayAttr>(shardingsName);
    return shardings ? cast<ShardingAttr>(shardings[result.getResultNumber()])
                     : ShardingAttr();
  }
  auto argument = cast<BlockArgument>(value);
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function ? function.getArgAttrOfType<ShardingAttr>(
                        argument.getArgNumber(), shardingName)
                  : ShardingAttr();
}

void pcc::dist::setSharding(Value value, const Sharding &sharding) {
  MLIRContext *context = value.getContext();
  auto attribute = ShardingAttr::get(context, sharding);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
        .setArgAttr(argument.getArgNumber(), shardingName, attribute);
    return;
  }
  Operation *op = value.getDefiningOp();
  SmallVector<Attribute> all(op->getNumResults());
  if (auto before = op->getAttrOfType<ArrayAttr>(shardingsName))
    all.assign(before.begin(), before.end());
  else
    for (auto [slot, result] : llvm::zip_equal(all, op->getResults()))
      slot = ShardingAttr::get(
          context,
          Sharding::whole(cast<RankedTensorType>(result.getType()).getRank()));
  all[cast<OpResult>(value).getResultNumber()] = attribute;
  op->setAttr(shardingsName, ArrayAttr::get(context, all));
}

RankedTensorType pcc::dist::localType(RankedTensorType type,
                                      const Sharding &sharding) {
  return type.clone(localShape(sharding, shapeOf(type.getShape())));
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Fails unless `actual` has the local shape of a tensor of `shape` under
/// `sharding`. For 8x4 with dim 0 split over 2 ranks, the local shape is 4x4.
/// `what` names the tensor in the error, such as "operand".
static LogicalResult checkLocal(Operation *op, StringRef what, Type actual,
                                ArrayRef<int64_t> shape,
                                ShardingAttr sharding) {
  if (sharding.getSharding().rank() != shape.size())
    return op->emitOpError()
           << what << " has a sharding of "
           << pcc::counted(sharding.getSharding().rank(), "dim")
           << " for a shape of " << shape.size();
  Shape local = localShape(sharding.getSharding(), shapeOf(shape));
  if (cast<RankedTensorType>(actual).getShape() != ArrayRef<int64_t>(local))
    return op->emitOpError() << what << " is " << actual
                             << ", but its sharding gives a local shape of ["
                             << ArrayRef<int64_t>(local) << "]";
  return success();
}

LogicalResult ReshardOp::verify() {
  if (auto shape = getShape()) {
    if (failed(checkLocal(*this, "operand", getInput().getType(), *shape,
                          getFrom())))
      return failure();
    return checkLocal(*this, "result", getResult().getType(), *shape, getTo());
  }
  if (getInput().getType() != getType())
    return emitOpError("makes ") << getType() << " of " << getInput().getType();
  return success();
}

/// Verifies an all_gather (or a reduce_scatter) of only those rows of a tensor
/// that two boolean masks select. For 8 rows and 4 ranks, the masks have these
/// shapes:
///
///   first   [2, 4]  [i, r]: rank r receives (sends) row i of this rank's shard
///   second  [8]     [i]: this rank receives (sends) row i of the tensor
static LogicalResult verifyRows(CollectiveOp op) {
  const bool gathers = op.getKind() == CollectiveKind::AllGather;
  if (!gathers && op.getKind() != CollectiveKind::ReduceScatter)
    return op.emitOpError("moves no rows");
  for (const Partial &partial : op.getFrom().getSharding().partials)
    if (partial.kind != ReductionKind::Sum)
      return op.emitOpError("moves rows of a ")
             << toString(partial.kind) << ", not of a sum";
  if (op.getRows().size() != 2)
    return op.emitOpError("needs two masks of rows, not ")
           << op.getRows().size();
  auto typeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType());
  };
  const RankedTensorType divided = typeOf(op.getRows()[0]),
                         whole = typeOf(op.getRows()[1]),
                         in = typeOf(op.getInput()),
                         out = typeOf(op.getResult());
  const auto numDims = static_cast<size_t>(whole.getRank());
  auto counts = [&](RankedTensorType mask, RankedTensorType tensor) {
    return mask.getElementType().isInteger(1) &&
           numDims <= static_cast<size_t>(tensor.getRank()) &&
           mask.getShape().take_front(numDims) ==
               tensor.getShape().take_front(numDims);
  };
  if (numDims == 0 || !counts(whole, gathers ? out : in))
    return op.emitOpError("has ") << whole << " for the rows of its whole side";
  if (divided.getRank() != whole.getRank() + 1 ||
      !counts(divided, gathers ? in : out))
    return op.emitOpError("has ")
           << divided << " for the rows of its divided side";
  const auto &from = op.getFrom().getSharding().dims,
             &to = op.getTo().getSharding().dims;
  for (size_t dim = numDims; dim < from.size(); ++dim)
    if (!(canonical(from[dim]) == canonical(to[dim])))
      return op.emitOpError("changes dim ") << dim << " of its rows";
  return success();
}

LogicalResult CollectiveOp::verify() {
  if (failed(checkLocal(*this, "operand", getInput().getType(), getShape(),
                        getFrom())))
    return failure();
  if (failed(checkLocal(*this, "result", getResult().getType(), getShape(),
                        getTo())))
    return failure();
  bool reduces = dist::reduces(getKind());
  if (reduces && !isPartial(getFrom().getSharding()))
    return emitOpError("reduces a value that is not partial");
  return getRows().empty() ? success() : verifyRows(*this);
}

LogicalResult GlobalIndexOp::verify() {
  if (!cast<RankedTensorType>(getType()).getElementType().isInteger(64))
    return emitOpError("gives ") << getType() << ", not a list of i64";
  return checkLocal(*this, "result", getType(),
                    {static_cast<int64_t>(getSize())}, getSharding());
}
