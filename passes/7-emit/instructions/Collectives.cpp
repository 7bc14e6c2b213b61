//===- Collectives.cpp - lowering of collectives to instructions ----------===//

#include "dialects/dist/DistDialect.h"
#include "passes/7-emit/program/InstructionTable.h"
#include "passes/plan/reshard/ReshardMove.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the kind of reduction of a partial tensor: a sum, a maximum, a
/// minimum or a product. `sharding` is the sharding of the tensor. A tensor is
/// partial if each rank holds one term of each element. A reduction over the
/// ranks combines the terms. Example: an element is the sum 7 of the term 3 on
/// rank 0 and the term 4 on rank 1. The function then returns Sum. The function
/// also returns Sum if the tensor is not partial.
static program::Reduction reductionOf(const dist::Sharding &sharding) {
  return sharding.partials.empty()
             ? program::Reduction::Sum
             : runtime::toProgram(dist::arithmetic(sharding.partials[0].kind));
}

/// Returns the neutral element of `reduction`: 0 for a sum, 1 for a product,
/// -infinity for a maximum of floats. The bytes are in little-endian order.
static std::vector<uint8_t> neutralElement(RankedTensorType type,
                                           program::Reduction reduction) {
  const runtime::ElementType element = elementTypeOf(type);
  std::vector<uint8_t> bytes(runtime::sizeOf(element), 0);
  const auto width = static_cast<unsigned>(bytes.size() * 8);
  const bool isLeast = reduction == program::Reduction::Max;
  APInt bits(width, 0);
  if (reduction == program::Reduction::Sum)
    return bytes;
  if (auto floats = dyn_cast<FloatType>(type.getElementType())) {
    const llvm::fltSemantics &semantics = floats.getFloatSemantics();
    bits = (reduction == program::Reduction::Prod
                ? APFloat::getOne(semantics)
                : APFloat::getInf(semantics, /*Negative=*/isLeast))
               .bitcastToAPInt();
  } else if (reduction == program::Reduction::Prod) {
    bits = APInt(width, 1);
  } else if (element == runtime::ElementType::Bool) {
    bits = APInt(width, isLeast ? 0 : 1);
  } else if (type.getElementType().isUnsignedInteger()) {
    bits = isLeast ? bits : APInt::getMaxValue(width);
  } else {
    bits = isLeast ? APInt::getSignedMinValue(width)
                   : APInt::getSignedMaxValue(width);
  }
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(
        bits.extractBitsAsZExtValue(8, static_cast<unsigned>(8 * i)));
  return bytes;
}

/// Returns a formula that each rank evaluates with its own mesh coordinates.
/// The value is 0 on a rank whose coordinates along all `axes` are 0, else
/// `unit`.
static std::unique_ptr<program::ScalarT>
zeroOnFirst(const dist::SubAxes &axes, int64_t unit, const RankMesh &mesh) {
  auto scalar = std::make_unique<program::ScalarT>();
  scalar->low = 0;
  scalar->high = unit;
  for (const dist::SubAxis &axis : axes) {
    auto &term = scalar->terms.emplace_back(std::make_unique<program::TermT>());
    term->coefficient = unit;
    term->part =
        std::make_unique<program::Part>(runtime::toProgram(axis, mesh.ranks()));
  }
  return scalar;
}

/// Appends the instructions of a mask, which makes a replicated value partial
/// over mesh axes. The rank with coordinate 0 along these axes keeps the value.
/// All other ranks get the neutral element of the reduction. Returns false if
/// the new partial axes cannot be computed.
static bool buildMask(dist::CollectiveOp op, InstructionWriter &writer) {
  RankedTensorType type = graph::tensorType(op.getResult());
  const auto &before = op.getFrom().getSharding();
  const auto &after = op.getTo().getSharding();
  // Find the sub-axes over which the result is partial and the operand is not.
  // A list of sub-axes stores adjacent sub-axes as one, such as x for the
  // halves x:(1)2 and x:(2)2. A set difference would therefore not remove one
  // half from x, but plan::subtract() does.
  const auto added =
      plan::subtract(dist::partialAxes(after), dist::partialAxes(before));
  if (!added)
    return false;
  program::FillT fill;
  fill.buffer = writer.bufferOf(op.getResult());
  fill.element = neutralElement(type, reductionOf(after));
  // The buffer has space for two tensors, and the first one is the result. The
  // rank with coordinate 0 along the sub-axes `added` copies the value to the
  // first tensor. All other ranks copy the value to the second tensor, which is
  // not used. The first tensor then keeps the neutral element.
  program::CopyT copy;
  copy.source = writer.bufferOf(op.getInput());
  copy.target = writer.buffers.widenedBuffer(op.getResult(), 2);
  copy.source_offset = std::make_unique<program::ScalarT>();
  copy.target_offset =
      zeroOnFirst(*added, type.getNumElements(), writer.facts.mesh);
  copy.loops.emplace_back(type.getNumElements(), 1, 1);
  writer.emit(op, std::move(fill));
  writer.emit(op, std::move(copy));
  return true;
}

/// Returns the instruction that executes `collective`. `group` is an index in
/// the list ModelFacts::groups. The entry at this index is the set of mesh axes
/// along which the ranks of `collective` communicate. `group` is -1 if the
/// ranks exchange no data. Example: a collective over one rank exchanges no
/// data.
static program::CollectiveT makeCollective(dist::CollectiveOp collective,
                                           int group,
                                           InstructionWriter &writer) {
  const dist::Mesh &mesh = writer.facts.mesh.ranks();
  ArrayRef<int64_t> shape = collective.getShape();
  runtime::CollectiveSpec spec;
  spec.kind = collective.getKind();
  if (group >= 0)
    spec.group = writer.facts.groups[group];
  spec.from = layoutOf(collective.getFrom().getSharding(), shape);
  spec.to = layoutOf(collective.getTo().getSharding(), shape);

  program::CollectiveT made;
  made.kind = runtime::toProgram(collective.getKind());
  made.group = group;
  made.in = writer.bufferOf(collective.getInput());
  made.out = writer.bufferOf(collective.getResult());
  made.reduction = reductionOf(collective.getFrom().getSharding());
  made.value = collective.getValue().str();
  if (made.kind != program::CollectiveKind::AllReduce) {
    made.shape.assign(shape.begin(), shape.end());
    made.from =
        std::make_unique<program::LayoutT>(runtime::toProgram(spec.from, mesh));
    made.to =
        std::make_unique<program::LayoutT>(runtime::toProgram(spec.to, mesh));
    if (dist::hasView(spec.to))
      for (const dist::DimSharding &dim : spec.to.dims)
        made.views.push_back(
            std::make_unique<program::ViewT>(runtime::toProgram(dim.view)));
    if (!collective.getRows().empty()) {
      made.row_dims = static_cast<int32_t>(
          graph::tensorType(collective.getRows()[1]).getRank());
      made.divided_rows = writer.bufferOf(collective.getRows()[0]);
      made.whole_rows = writer.bufferOf(collective.getRows()[1]);
    }
    const int64_t scratch =
        made.row_dims > 0
            ? runtime::rowScratchElements(spec, made.row_dims, mesh)
            : writer.scratchElements(keyOf(collective), spec);
    made.scratch = writer.buffers.scratch(
        scratch * static_cast<int64_t>(runtime::sizeOf(elementTypeOf(
                      graph::tensorType(collective.getResult())))));
  }
  return made;
}

/// Returns whether CPUs can execute `collective`, but GPUs cannot. There are
/// two such collectives: one that transfers only the rows that masks select at
/// run time, and a reduction of 16-bit integers, which NCCL lacks.
static bool isOnlyForHosts(dist::CollectiveOp collective) {
  return !collective.getRows().empty() ||
         (dist::reduces(collective.getKind()) &&
          graph::tensorType(collective.getResult())
              .getElementType()
              .isInteger(16));
}

/// Appends the instructions of a collective. Returns false if the target cannot
/// execute it. Appends nothing for a gradient reduction that overlaps the
/// backward pass. ProgramWriter appends the two instructions of this reduction.
static bool buildCollective(Operation *op, InstructionWriter &writer) {
  auto collective = cast<dist::CollectiveOp>(op);
  if (dist::targetOf(writer.facts.module) == "cuda" &&
      isOnlyForHosts(collective))
    return false;
  if (collective.getKind() == dist::CollectiveKind::Mask)
    return buildMask(collective, writer);
  if (!writer.facts.findEarly(collective))
    writer.emit(op, makeCollective(collective, writer.facts.groupOf(collective),
                                   writer));
  return true;
}

/// Appends the instruction that starts `early`, an asynchronous reduction of a
/// gradient. Returns the instruction that waits for its end. The caller must
/// append this instruction later.
program::CollectiveT emit::startReduction(const EarlyReduction &early,
                                          InstructionWriter &writer) {
  program::CollectiveT made =
      makeCollective(early.collective, early.group, writer);
  if (made.kind == program::CollectiveKind::AllReduce) {
    // On CPUs, each rank receives one share of the gradient from every rank of
    // the group into the scratch memory.
    RankedTensorType type = graph::tensorType(early.collective.getResult());
    const int64_t members = dist::numParts(writer.facts.groups[early.group]);
    made.scratch = writer.buffers.scratch(
        static_cast<int64_t>(runtime::sizeOf(elementTypeOf(type))) *
        runtime::splitAllReduceScratchElements(type.getNumElements(), members));
  }
  made.only = early.microbatch;
  made.part = program::CollectivePart::Start;
  writer.emit(early.collective, made);
  made.part = program::CollectivePart::Finish;
  return made;
}

program::CollectiveT emit::startGather(const Prefetch &prefetch,
                                       InstructionWriter &writer) {
  program::CollectiveT made =
      makeCollective(prefetch.collective, prefetch.group, writer);
  made.part = program::CollectivePart::Start;
  writer.emit(prefetch.collective, made);
  made.part = program::CollectivePart::Finish;
  return made;
}

void emit::addCollectiveInstructions(InstructionTable &table) {
  table.add<dist::CollectiveOp>(buildCollective);
}
