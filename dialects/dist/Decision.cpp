//===- Decision.cpp - attribute form of sharding decisions ----------------===//
//
// Decisions are stored as dictionaries and arrays of builtin attributes in the
// metadata of a fused location. A step is one string: kind, axes, ranks, stride
// and received bytes.
//
//   {dist.decisions = [{op = "matmul", axis = "tp",
//                       chosen = {what = "split …", memory = 512,
//                                 steps = ["all_reduce tp 4 1 98304"]},
//                       others = […]}]}
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/Decision.h"
#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc::dist;

int64_t Choice::receivedBytes() const {
  int64_t bytes = 0;
  for (const PricedStep &step : steps)
    bytes += step.isShared ? 0 : step.receivedBytes;
  return bytes;
}

int64_t Choice::calls() const {
  return llvm::count_if(steps,
                        [](const PricedStep &step) { return !step.isShared; });
}

namespace {
/// Converts the structs of Decision.h to MLIR attributes. Leaves out empty
/// strings and lists.
class Writer {
public:
  explicit Writer(MLIRContext *context) : builder(context) {}

  Attribute write(const PricedStep &step) {
    return text((step.kind + " " + llvm::join(step.axes, "+") + " " +
                 Twine(step.ranks) + " " + Twine(step.stride) + " " +
                 Twine(step.receivedBytes) + (step.isShared ? " shared" : ""))
                    .str());
  }

  Attribute write(const Choice &choice) {
    SmallVector<NamedAttribute> fields;
    add(fields, "what", choice.what);
    add(fields, "steps", choice.steps);
    fields.push_back(builder.getNamedAttr(
        "memory", builder.getI64IntegerAttr(choice.memoryBytes)));
    if (choice.picoseconds)
      fields.push_back(builder.getNamedAttr(
          "picoseconds", builder.getI64IntegerAttr(choice.picoseconds)));
    add(fields, "refused", choice.refused);
    return builder.getDictionaryAttr(fields);
  }

  Attribute write(const Decision &decision) {
    SmallVector<NamedAttribute> fields{
        builder.getNamedAttr("chosen", write(decision.chosen))};
    add(fields, "op", decision.op);
    add(fields, "axis", decision.axis);
    add(fields, "others", decision.others);
    return builder.getDictionaryAttr(fields);
  }

  Attribute write(const Endpoint &place) {
    SmallVector<NamedAttribute> fields;
    add(fields, "op", place.op);
    add(fields, "node", place.node);
    add(fields, "source", place.source);
    add(fields, "pin", place.pin);
    add(fields, "decisions", place.decisions);
    return builder.getDictionaryAttr(fields);
  }

  Attribute write(const Cause &cause) {
    SmallVector<NamedAttribute> fields{
        builder.getNamedAttr("by", write(cause.by))};
    add(fields, "uses", cause.uses);
    return builder.getDictionaryAttr(fields);
  }

  template <typename Item> Attribute write(const std::vector<Item> &items) {
    return builder.getArrayAttr(llvm::map_to_vector(
        items, [&](const Item &item) { return write(item); }));
  }

  /// Returns a fused location of `inner` with the metadata dictionary
  /// {`key` = `value`}.
  Location wrap(Location inner, StringRef key, Attribute value) {
    return FusedLoc::get(
        builder.getContext(), {inner},
        builder.getDictionaryAttr(builder.getNamedAttr(key, value)));
  }

private:
  Attribute text(const std::string &text) {
    return builder.getStringAttr(text);
  }

  void add(SmallVectorImpl<NamedAttribute> &fields, StringRef name,
           const std::string &value) {
    if (!value.empty())
      fields.push_back(builder.getNamedAttr(name, text(value)));
  }
  template <typename Item>
  void add(SmallVectorImpl<NamedAttribute> &fields, StringRef name,
           const std::vector<Item> &items) {
    if (!items.empty())
      fields.push_back(builder.getNamedAttr(name, write(items)));
  }

  Builder builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading. Dumps can be edited, so any entry may be missing or malformed.
//===----------------------------------------------------------------------===//

/// Returns the string with the key `name` in `fields`. Returns an empty string
/// if there is none.
static std::string textOf(DictionaryAttr fields, StringRef name) {
  auto text = fields.getAs<StringAttr>(name);
  return text ? text.str() : "";
}

/// Parses one communication, such as "all_reduce dp+tp 8 1 98304": kind, mesh
/// axes, ranks per group, stride between ranks of a group, and bytes that one
/// rank receives. A sixth word sets `step.isShared`. With fewer than five
/// words, `step` stays unchanged.
static void read(Attribute attribute, PricedStep &step) {
  auto text = dyn_cast<StringAttr>(attribute);
  SmallVector<StringRef> words;
  if (text)
    text.getValue().split(words, ' ');
  if (words.size() < 5)
    return;
  step.kind = words[0].str();
  SmallVector<StringRef> axes;
  words[1].split(axes, '+');
  for (StringRef axis : axes)
    step.axes.push_back(axis.str());
  words[2].getAsInteger(10, step.ranks);
  words[3].getAsInteger(10, step.stride);
  words[4].getAsInteger(10, step.receivedBytes);
  step.isShared = words.size() > 5;
}

static void read(Attribute attribute, Choice &choice);
static void read(Attribute attribute, Decision &decision);
static void read(Attribute attribute, Endpoint &place);

/// Reads a list of structs of type Item, such as PricedStep, from the
/// dictionary `fields`, and appends the structs to `items`. The list is the
/// array attribute with the key `name`. Each element of the array stores one
/// struct. If `fields` has no array with this key, appends nothing.
template <typename Item>
static void readList(DictionaryAttr fields, StringRef name,
                     std::vector<Item> &items) {
  if (auto list = fields.getAs<ArrayAttr>(name))
    for (Attribute entry : list)
      read(entry, items.emplace_back());
}

static void read(Attribute attribute, Choice &choice) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!fields)
    return;
  choice.what = textOf(fields, "what");
  readList(fields, "steps", choice.steps);
  if (auto memory = fields.getAs<IntegerAttr>("memory"))
    choice.memoryBytes = memory.getInt();
  if (auto time = fields.getAs<IntegerAttr>("picoseconds"))
    choice.picoseconds = time.getInt();
  choice.refused = textOf(fields, "refused");
}

static void read(Attribute attribute, Decision &decision) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!fields)
    return;
  decision.op = textOf(fields, "op");
  decision.axis = textOf(fields, "axis");
  read(fields.get("chosen"), decision.chosen);
  readList(fields, "others", decision.others);
}

static void read(Attribute attribute, Endpoint &place) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!fields)
    return;
  place.op = textOf(fields, "op");
  place.node = textOf(fields, "node");
  place.source = textOf(fields, "source");
  place.pin = textOf(fields, "pin");
  readList(fields, "decisions", place.decisions);
}

/// Returns the value with the key `key` in the metadata of `location`. Returns
/// null if `location` is not a fused location, or if its metadata has no such
/// key.
static Attribute metadataOf(Location location, StringRef key) {
  auto fused = dyn_cast<FusedLoc>(location);
  auto fields = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                      : DictionaryAttr();
  return fields ? fields.get(key) : Attribute();
}

/// Returns `location` without the outer fused locations that withDecisions()
/// and withCause() added.
static Location bare(Location location) {
  while (metadataOf(location, decisionsName) || metadataOf(location, causeName))
    location = cast<FusedLoc>(location).getLocations().front();
  return location;
}

Location pcc::dist::withDecisions(Location location,
                                  const std::vector<Decision> &decisions) {
  Writer writer(location.getContext());
  return decisions.empty() ? bare(location)
                           : writer.wrap(bare(location), decisionsName,
                                         writer.write(decisions));
}

std::vector<Decision> pcc::dist::decisionsOf(Location location) {
  std::vector<Decision> decisions;
  if (auto list =
          dyn_cast_or_null<ArrayAttr>(metadataOf(location, decisionsName)))
    for (Attribute entry : list)
      read(entry, decisions.emplace_back());
  return decisions;
}

Location pcc::dist::withCause(Location location, const Cause &cause) {
  Writer writer(location.getContext());
  return writer.wrap(bare(location), causeName, writer.write(cause));
}

std::optional<Cause> pcc::dist::causeOf(Location location) {
  auto fields =
      dyn_cast_or_null<DictionaryAttr>(metadataOf(location, causeName));
  if (!fields)
    return std::nullopt;
  Cause cause;
  read(fields.get("by"), cause.by);
  readList(fields, "uses", cause.uses);
  return cause;
}
