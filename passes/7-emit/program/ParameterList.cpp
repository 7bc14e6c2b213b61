//===- ParameterList.cpp - parameters of a pipeline rank's program --------===//

#include "passes/7-emit/program/ParameterList.h"
#include "dialects/dist/ParameterPlacement.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

ParameterList::ParameterList(const ModelFacts &facts,
                             program::ProgramT &program)
    : facts(facts), program(program) {
  for (auto parameter : ModuleOp(facts.module).getOps<graph::ParameterOp>())
    declarations[parameter.getSymName()] = parameter;
}

int32_t ParameterList::fileIndex(StringRef file) {
  auto [entry, isNew] =
      files.insert({file, static_cast<int32_t>(program.files.size())});
  if (isNew) {
    program.files.push_back(std::make_unique<program::WeightFileT>());
    program.files.back()->path = file.str();
  }
  return entry->second;
}

static std::vector<int64_t> toVector(ArrayRef<int64_t> list) {
  return {list.begin(), list.end()};
}

/// Converts the MLIR attribute `transform` to a struct of the FlatBuffers
/// schema runtime/program/Program.fbs. `transform` is a transpose, a slice, a
/// reshape or a cast. At startup, the runtime reads a weight from its file, and
/// then applies one or more of these transforms to the tensor. This function
/// does not apply the transform itself.
static std::unique_ptr<program::TransformStepT> makeStep(Attribute transform) {
  auto step = std::make_unique<program::TransformStepT>();
  TypeSwitch<Attribute>(transform)
      .Case([&](graph::PermuteAttr permute) {
        program::TransposeT made;
        for (int64_t dim : permute.getPerm())
          made.permutation.push_back(static_cast<int32_t>(dim));
        step->step.Set(std::move(made));
      })
      .Case([&](graph::WeightSliceAttr slice) {
        program::SliceT made;
        made.dim = static_cast<int32_t>(slice.getDim());
        made.start = slice.getStart();
        made.size = slice.getSize();
        made.step = slice.getStep();
        step->step.Set(made);
      })
      .Case([&](graph::ReinterpretAttr reshape) {
        program::ReshapeT made;
        made.shape = toVector(reshape.getShape());
        step->step.Set(std::move(made));
      })
      .Case([&](graph::ConvertAttr convert) {
        program::CastT made;
        made.type = runtime::toProgram(elementTypeOf(convert.getElementType())
                                           .value_or(runtime::ElementType::U8));
        step->step.Set(made);
      });
  return step;
}

int32_t ParameterList::add(graph::GetParameterOp get) {
  return add(get.getParameter(), dist::shardingOf(get.getResult()));
}

/// Returns whether any op of the module reads the weight named `parameter`.
static bool isRead(ModuleOp module, StringRef parameter) {
  return module
      .walk([&](graph::GetParameterOp get) {
        return get.getParameter() == parameter ? WalkResult::interrupt()
                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

int32_t ParameterList::add(graph::SetParameterOp set) {
  const StringRef name = set.getParameter();
  auto written = set->getAttrOfType<dist::ShardingAttr>(dist::placementName);
  auto global = graph::tensorType(set.getValue());
  auto entry =
      known.find({name.str(), dist::placementKey(written, global.getRank())});
  if (entry != known.end())
    return entry->second;
  return isRead(facts.module, name) ? -1 : add(name, written);
}

/// Returns the index in `program.parameters` of the weight `name` with the
/// sharding `placement`. If the list does not contain this weight in this
/// sharding, appends it. The new element tells each rank how to load or
/// generate its shard.
int32_t ParameterList::add(StringRef name, dist::ShardingAttr placement) {
  graph::ParameterOp declaration = declarations.lookup(name);
  auto global = cast<RankedTensorType>(declaration.getType());
  const dist::Sharding sharding = placement
                                      ? dist::placement(placement.getSharding())
                                      : dist::Sharding::whole(global.getRank());
  auto [entry, isNew] = known.insert(
      {{name.str(), dist::placementKey(placement, global.getRank())},
       static_cast<int32_t>(program.parameters.size())});
  if (!isNew)
    return entry->second;

  auto parameter = std::make_unique<program::ParameterT>();
  parameter->name = name.str();
  parameter->trainable = declaration.getTrained() || declaration.getFill();
  if (auto fill = declaration.getFill()) {
    parameter->filled = true;
    parameter->fill = fill->convertToDouble();
  }
  if (auto weight = declaration.getStateOf())
    parameter->state_of = weight->str();
  parameter->type = runtime::toProgram(elementTypeOf(global));
  parameter->shape = toVector(global.getShape());
  RankedTensorType stored = global;
  graph::WeightAttr weight = declaration.getWeightAttr();
  if (weight && !weight.isAbsent()) {
    parameter->file = fileIndex(weight.getFile().getValue());
    parameter->offset = weight.getOffset();
    parameter->length = weight.getLength();
  } else {
    parameter->seed = facts.randomSeed;
  }
  if (weight) {
    stored = weight.getStored();
    for (Attribute transform : weight.getTransforms())
      parameter->transforms.push_back(makeStep(transform));
  }
  parameter->stored_type = runtime::toProgram(elementTypeOf(stored));
  parameter->stored_shape = toVector(stored.getShape());
  const runtime::Layout layout = layoutOf(sharding, global.getShape());
  parameter->layout = std::make_unique<program::LayoutT>(
      runtime::toProgram(layout, facts.mesh.ranks()));
  parameter->local_bytes =
      runtime::numElements(runtime::localShape(layout)) *
      static_cast<int64_t>(runtime::sizeOf(elementTypeOf(global)));
  program.parameters.push_back(std::move(parameter));
  return entry->second;
}
