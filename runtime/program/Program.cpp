//===- Program.cpp - opening, verifying and writing programs --------------===//

#include "runtime/program/Program.h"
#include "runtime/program/VerifyProgram.h"
#include "status/Counted.h"

#define XXH_INLINE_ALL
#include <cassert>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

namespace {
/// First 64 bytes of a sealed program. A sealed program is a compiled program
/// as a string of bytes. After the header, the string contains `tableBytes`
/// bytes with the FlatBuffers encoding of the program, and `constantBytes`
/// bytes with the constant tensors of the program.
struct Header {
  char magic[8];
  uint64_t hash; ///< 64-bit xxh3 of all bytes behind this field
  uint64_t tableBytes;
  uint64_t constantBytes;
  uint64_t padding[4];
};
} // namespace

static_assert(sizeof(Header) == kAlignment);
static constexpr char kMagic[8] = {'P', 'C', 'C', 'P', 'R', 'O', 'G', 1};
static constexpr size_t kHashedFrom =
    offsetof(Header, hash) + sizeof(Header::hash);

/// Rounds a size up to a multiple of kAlignment.
static size_t padded(size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<std::byte> sealTables(std::span<const std::byte> tables,
                                  std::span<const std::byte> constants) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.tableBytes = tables.size();
  header.constantBytes = constants.size();
  const size_t constantsAt = sizeof(Header) + padded(tables.size());
  std::vector<std::byte> bytes(constantsAt + constants.size());
  std::copy(tables.begin(), tables.end(), bytes.begin() + sizeof(Header));
  std::copy(constants.begin(), constants.end(),
            bytes.begin() + int64_t(constantsAt));
  std::memcpy(bytes.data(), &header, sizeof header);
  header.hash =
      XXH3_64bits(bytes.data() + kHashedFrom, bytes.size() - kHashedFrom);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::vector<std::byte> sealProgram(const program::ProgramT &program,
                                   std::span<const std::byte> constants) {
  flatbuffers::FlatBufferBuilder builder;
  program::FinishProgramBuffer(builder,
                               program::CreateProgram(builder, &program));
  const auto *tables =
      reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return sealTables({tables, builder.GetSize()}, constants);
}

/// Returns the error of a damaged program (exit code 11). `what` describes the
/// damage.
static Status damaged(const std::string &what) {
  return Status::error(DamagedBundle, "the program is damaged: " + what);
}

/// Returns whether `tables` is a valid FlatBuffers encoding of a program. The
/// bytes may come from a malicious file. A FlatBuffers table is a record that
/// can refer to other tables. Several references may lead to the same table.
/// The verifier counts a table once for each reference.
///
/// The function allows at most 32 levels of nested tables. It allows at most
/// one table per 4 bytes, because each table needs at least 4 bytes. The second
/// limit protects openProgram(), which makes one copy of a table for each
/// reference. Without the limit, a small file with many references could fill
/// the memory with copies.
static bool verifyTables(std::span<const std::byte> tables) {
  flatbuffers::Verifier verifier(
      reinterpret_cast<const uint8_t *>(tables.data()), tables.size(),
      /*max_depth=*/32,
      /*max_tables=*/static_cast<flatbuffers::uoffset_t>(tables.size() / 4));
  return program::VerifyProgramBuffer(verifier);
}

Status openProgram(std::span<const std::byte> bytes, OpenedProgram &opened) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0)
    return damaged("its bytes are not aligned");
  if (bytes.size() < sizeof(Header))
    return damaged("it has " + counted(bytes.size(), "byte"));
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return damaged("it does not begin like a program");
  const size_t rest = bytes.size() - sizeof(Header);
  if (header.tableBytes > rest ||
      std::min(padded(header.tableBytes), rest) + header.constantBytes != rest)
    return damaged("its parts do not fill its " +
                   counted(bytes.size(), "byte"));
  if (XXH3_64bits(bytes.data() + kHashedFrom, bytes.size() - kHashedFrom) !=
      header.hash)
    return damaged("its checksum differs");
  const auto tables = bytes.subspan(sizeof(Header), header.tableBytes);
  if (!verifyTables(tables))
    return damaged("its tables are malformed");
  opened.constants = bytes.last(header.constantBytes);
  opened.tables.reset(program::GetProgram(tables.data())->UnPack());
  return verifyProgram(*opened.tables, int64_t(header.constantBytes));
}

//===----------------------------------------------------------------------===//
// Conversion between tables and plain structs
//===----------------------------------------------------------------------===//

/// Returns whether two enumerators have equal integer values. `stored` belongs
/// to an enumeration of Program.fbs. `kind` belongs to the matching enumeration
/// of the namespace `dist`. The values must be equal, because kindOf() and
/// toProgram() convert an enumerator of one enumeration to the other by a cast.
template <typename Stored, typename Kind>
static constexpr bool agree(Stored stored, Kind kind) {
  return static_cast<int>(stored) == static_cast<int>(kind);
}
#define PCC_AGREE(STORED, KIND, NAME)                                          \
  static_assert(agree(program::STORED::NAME, dist::KIND::NAME))
PCC_AGREE(CollectiveKind, CollectiveKind, AllReduce);
PCC_AGREE(CollectiveKind, CollectiveKind, AllGather);
PCC_AGREE(CollectiveKind, CollectiveKind, ReduceScatter);
PCC_AGREE(CollectiveKind, CollectiveKind, AllToAll);
PCC_AGREE(CollectiveKind, CollectiveKind, Permute);
PCC_AGREE(CollectiveKind, CollectiveKind, Exchange);
PCC_AGREE(CollectiveKind, CollectiveKind, Broadcast);
PCC_AGREE(CollectiveKind, CollectiveKind, Slice);
static_assert(program::CollectiveKind::MAX == program::CollectiveKind::Slice);
PCC_AGREE(Reduction, ReductionKind, Sum);
PCC_AGREE(Reduction, ReductionKind, Max);
PCC_AGREE(Reduction, ReductionKind, Min);
PCC_AGREE(Reduction, ReductionKind, Prod);
static_assert(program::Reduction::MAX == program::Reduction::Prod);
#undef PCC_AGREE

Mesh meshOf(const program::ProgramT &program) {
  Mesh mesh;
  for (const auto &axis : program.axes)
    mesh.axes.push_back({axis->name, axis->size});
  mesh.axes.push_back({std::string(dist::timeAxis), program.microbatches});
  return mesh;
}

SubAxis axisOf(const program::Part &part, const Mesh &mesh) {
  const bool isKnown =
      part.axis() >= 0 && part.axis() < int64_t(mesh.axes.size());
  return {isKnown ? mesh.axes[part.axis()].name : "", part.pre(), part.size()};
}

Layout layoutOf(const program::LayoutT &stored, const Mesh &mesh) {
  Layout layout;
  for (const auto &storedDim : stored.dims) {
    DimSharding &dim = layout.dims.emplace_back();
    for (const auto &storedFactor : storedDim->factors) {
      Factor &factor = dim.factors.emplace_back();
      factor.size = storedFactor->size;
      for (const program::Part &part : storedFactor->parts)
        factor.axes.push_back(axisOf(part, mesh));
    }
  }
  return layout;
}

SubAxes groupOf(const program::GroupT &stored, const Mesh &mesh) {
  SubAxes group;
  for (const program::Part &part : stored.parts)
    group.push_back(axisOf(part, mesh));
  return group;
}

std::optional<View> viewOf(const program::ViewT &stored) {
  if (stored.blocks == 0)
    return std::nullopt;
  View view{stored.blocks, stored.length, stored.pitch, stored.limit, {}};
  for (const program::ViewPiece &piece : stored.pieces)
    view.pieces.push_back(
        {piece.lo(), piece.hi(), piece.source(), piece.step()});
  return view;
}

CollectiveSpec collectiveOf(const program::ProgramT &program,
                            const program::CollectiveT &collective) {
  const Mesh mesh = meshOf(program);
  CollectiveSpec spec;
  spec.kind = kindOf(collective.kind);
  if (collective.group >= 0)
    spec.group = groupOf(*program.groups[collective.group], mesh);
  if (collective.from)
    spec.from = layoutOf(*collective.from, mesh);
  if (collective.to)
    spec.to = layoutOf(*collective.to, mesh);
  // A view is a windowed read of one dim, such as a halo. `collective.views` is
  // empty, or contains one view for each dim of the collective's result.
  // `spec.to` is the layout of the result.
  //
  // verifyProgram() does not check the views of an all-reduce or a broadcast,
  // because these collectives do not use them. A program from an untrusted file
  // may therefore contain more views than `spec.to` has dims. Ignore the
  // additional views.
  const size_t numDims = std::min(collective.views.size(), spec.to.dims.size());
  for (size_t dim = 0; dim < numDims; ++dim)
    spec.to.dims[dim].view = viewOf(*collective.views[dim]);
  return spec;
}

program::Part toProgram(const SubAxis &axis, const Mesh &mesh) {
  assert(mesh.indexOf(axis.axis) >= 0 && "the mesh lacks the axis");
  return program::Part(mesh.indexOf(axis.axis), int32_t(axis.pre),
                       int32_t(axis.size));
}

program::LayoutT toProgram(const Layout &layout, const Mesh &mesh) {
  program::LayoutT stored;
  for (const DimSharding &dim : layout.dims) {
    auto &storedDim =
        stored.dims.emplace_back(std::make_unique<program::DimLayoutT>());
    for (const Factor &factor : dim.factors) {
      auto &storedFactor =
          storedDim->factors.emplace_back(std::make_unique<program::FactorT>());
      storedFactor->size = factor.size;
      for (const SubAxis &axis : factor.axes)
        storedFactor->parts.push_back(toProgram(axis, mesh));
    }
  }
  return stored;
}

program::ViewT toProgram(const std::optional<View> &view) {
  program::ViewT stored;
  if (!view)
    return stored;
  stored.blocks = view->blocks;
  stored.length = view->length;
  stored.pitch = view->pitch;
  stored.limit = view->limit;
  for (const ViewPiece &piece : view->pieces)
    stored.pieces.emplace_back(piece.lo, piece.hi, piece.source, piece.step);
  return stored;
}

program::GroupT toProgram(const SubAxes &group, const Mesh &mesh) {
  program::GroupT stored;
  for (const SubAxis &axis : group)
    stored.parts.push_back(toProgram(axis, mesh));
  return stored;
}

/// Computes the integer that the formula `scalar` gives on the rank with the
/// coordinates `at`. The coefficients may come from an untrusted file and make
/// the sum overflow. The sum is therefore unsigned: unsigned overflow wraps
/// around, and signed overflow is undefined behavior.
int64_t evaluate(const program::ScalarT &scalar, const Mesh &mesh,
                 const Coordinates &at) {
  uint64_t value = uint64_t(scalar.base);
  for (const auto &term : scalar.terms)
    value += uint64_t(term->coefficient) *
             uint64_t(coordinateOf(axisOf(*term->part, mesh), mesh, at));
  return std::min(std::max(int64_t(value), scalar.low), scalar.high);
}

std::string nameOf(const program::ActionT &action) {
  static constexpr char letters[] = {'F', 'B', 'I', 'W', 'U', 'P', 'X'};
  if (action.kind == program::ActionKind::Unshard)
    return std::to_string(action.stage) + "UNSHARD";
  return std::to_string(action.stage) + letters[size_t(action.kind)] +
         std::to_string(action.microbatch);
}

} // namespace pcc::runtime
