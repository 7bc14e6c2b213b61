//===- ManifestJson.cpp - JSON form of checkpoint manifests ---------------===//

#include "runtime/base/MappedFile.h"
#include "runtime/checkpoint/Manifest.h"
#include "status/PrintableText.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace pcc::runtime {

using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Returns a 64-bit number as 16 hexadecimal digits. A JSON number is often
/// read as a double, which has too few bits for a hash.
static std::string toHex(uint64_t value) {
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(value));
  return text.data();
}

/// Returns a path as a JSON value. The value is a string if the path is valid
/// UTF-8. Otherwise the value is an array of the path's bytes, because a JSON
/// string cannot hold other bytes than UTF-8.
static ordered_json pathToJson(const std::string &path) {
  uint32_t code = 0;
  for (std::string_view rest = path; !rest.empty();) {
    const size_t size = readUtf8(rest, code);
    if (size == 0)
      return std::vector<unsigned char>(path.begin(), path.end());
    rest.remove_prefix(size);
  }
  return path;
}

/// Returns the index ranges of a sub-tensor as nested JSON arrays. The outer
/// array has one array per dim. The array of a dim has one array [begin, end]
/// per range. For example, a sub-tensor has the rows [0, 2), and the columns
/// [4, 6) and [8, 9). The result is [[[0, 2]], [[4, 6], [8, 9]]].
static ordered_json toJson(const std::vector<Runs> &runs) {
  ordered_json dims = ordered_json::array();
  for (const Runs &dim : runs) {
    ordered_json list = ordered_json::array();
    for (const Run &run : dim)
      list.push_back({run.lo, run.hi});
    dims.push_back(std::move(list));
  }
  return dims;
}

/// Returns `step` as a JSON object. `step` is one transform of a weight: a
/// transpose, a slice, a reshape or a cast. The name of the only member of the
/// object is the kind of the transform. The value of the member has the
/// arguments of the transform. For example, a reshape to the shape 4x8 becomes
/// {"reshape": [4, 8]}.
static ordered_json toJson(const WeightStep &step) {
  if (const auto *transpose = std::get_if<program::TransposeT>(&step))
    return {{"transpose", transpose->permutation}};
  if (const auto *slice = std::get_if<program::SliceT>(&step))
    return {{"slice", {slice->dim, slice->start, slice->size, slice->step}}};
  if (const auto *reshape = std::get_if<program::ReshapeT>(&step))
    return {{"reshape", reshape->shape}};
  return {{"cast", nameOf(typeOf(std::get<program::CastT>(step).type))}};
}

static ordered_json toJson(const WeightOrigin &origin) {
  ordered_json steps = ordered_json::array();
  for (const WeightStep &step : origin.steps)
    steps.push_back(toJson(step));
  return {{"initializer", origin.initializer},
          {"dtype", nameOf(origin.type)},
          {"shape", origin.shape},
          {"steps", steps}};
}

static ordered_json toJson(const SavedPiece &piece) {
  return {{"file", piece.file},
          {"offset", piece.offset},
          {"bytes", piece.bytes},
          {"xxh3", toHex(piece.checksum)},
          {"runs", toJson(piece.runs)}};
}

static ordered_json toJson(const SavedTensor &tensor) {
  ordered_json json = {{"name", tensor.name},
                       {"dtype", nameOf(tensor.type)},
                       {"shape", tensor.shape},
                       {"kind", tensor.isState ? "state" : "parameter"},
                       {"trained", tensor.trained}};
  if (!tensor.stateOf.empty())
    json["state_of"] = tensor.stateOf;
  if (!tensor.origin.initializer.empty())
    json["origin"] = toJson(tensor.origin);
  json["pieces"] = ordered_json::array();
  for (const SavedPiece &piece : tensor.pieces)
    json["pieces"].push_back(toJson(piece));
  return json;
}

/// Returns a JSON document as indented text. The checksum of a manifest is
/// computed from this text.
static std::string textOf(const ordered_json &json) {
  return json.dump(1, ' ', /*ensure_ascii=*/false,
                   ordered_json::error_handler_t::replace);
}

/// Returns the checksum of a manifest. `content` is the JSON document without
/// its checksum.
static std::string checksumOf(const ordered_json &content) {
  const std::string text = textOf(content);
  return toHex(XXH3_64bits(text.data(), text.size()));
}

std::string toJson(const Manifest &manifest) {
  ordered_json json = {{"format", kCheckpointFormat},
                       {"step", manifest.position.step},
                       {"samples", manifest.position.samples},
                       {"random_counter", manifest.position.randomCounter},
                       {"world", manifest.world},
                       {"model", pathToJson(manifest.model)},
                       {"weights_root", pathToJson(manifest.weightsRoot)},
                       {"plan_hash", toHex(manifest.planHash)},
                       {"files", ordered_json::array()},
                       {"tensors", ordered_json::array()}};
  for (const SavedFile &file : manifest.files)
    json["files"].push_back({{"name", file.name},
                             {"size", file.size},
                             {"xxh3", toHex(file.checksum)}});
  for (const SavedTensor &tensor : manifest.tensors)
    json["tensors"].push_back(toJson(tensor));
  json["xxh3"] = checksumOf(json);
  return textOf(json) + "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Exception for wrong content of a manifest; caught in readManifest().
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
} // namespace

static uint64_t fromHex(const std::string &text) {
  uint64_t value = 0;
  const char *end = text.data() + text.size();
  if (text.size() != 16 ||
      std::from_chars(text.data(), end, value, 16).ptr != end)
    throw Malformed("'" + text + "' is not a checksum");
  return value;
}

static uint64_t sizeFrom(const ordered_json &json) {
  if (!json.is_number_unsigned())
    throw Malformed("'" + json.dump() + "' is not a size");
  return json.get<uint64_t>();
}

static int64_t integerFrom(const ordered_json &json) {
  const bool fits = json.is_number_unsigned()
                        ? json.get<uint64_t>() <= uint64_t(INT64_MAX)
                        : json.is_number_integer();
  if (!fits)
    throw Malformed("'" + json.dump() + "' is not an integer");
  return json.get<int64_t>();
}

static std::vector<int64_t> integersFrom(const ordered_json &json) {
  std::vector<int64_t> values;
  for (const ordered_json &value : json)
    values.push_back(integerFrom(value));
  return values;
}

static ElementType typeFrom(const ordered_json &json) {
  const auto type = parseElementType(json.get<std::string>());
  if (!type)
    throw Malformed("there is no type '" + json.get<std::string>() + "'");
  return *type;
}

static std::vector<Runs> runsFrom(const ordered_json &json) {
  std::vector<Runs> dims;
  for (const ordered_json &dim : json) {
    dims.emplace_back();
    for (const ordered_json &run : dim)
      dims.back().push_back({integerFrom(run.at(0)), integerFrom(run.at(1))});
  }
  return dims;
}

static WeightStep stepFrom(const ordered_json &json) {
  if (json.contains("transpose")) {
    program::TransposeT step;
    for (int64_t dim : integersFrom(json["transpose"]))
      step.permutation.push_back(int32_t(dim));
    return step;
  }
  if (json.contains("slice")) {
    program::SliceT step;
    const std::vector<int64_t> values = integersFrom(json["slice"]);
    if (values.size() != 4)
      throw Malformed("a slice has 4 numbers");
    step.dim = int32_t(values[0]);
    step.start = values[1];
    step.size = values[2];
    step.step = values[3];
    return step;
  }
  if (json.contains("reshape")) {
    program::ReshapeT step;
    step.shape = integersFrom(json["reshape"]);
    return step;
  }
  program::CastT step;
  step.type = toProgram(typeFrom(json.at("cast")));
  return step;
}

static WeightOrigin originFrom(const ordered_json &json) {
  WeightOrigin origin;
  origin.initializer = json.at("initializer").get<std::string>();
  origin.type = typeFrom(json.at("dtype"));
  origin.shape = integersFrom(json.at("shape"));
  for (const ordered_json &step : json.at("steps"))
    origin.steps.push_back(stepFrom(step));
  return origin;
}

static SavedPiece pieceFrom(const ordered_json &json) {
  return {json.at("file").get<std::string>(), sizeFrom(json.at("offset")),
          sizeFrom(json.at("bytes")),
          fromHex(json.at("xxh3").get<std::string>()),
          runsFrom(json.at("runs"))};
}

static SavedTensor tensorFrom(const ordered_json &json) {
  SavedTensor tensor;
  tensor.name = json.at("name").get<std::string>();
  tensor.type = typeFrom(json.at("dtype"));
  tensor.shape = integersFrom(json.at("shape"));
  tensor.isState = json.at("kind").get<std::string>() == "state";
  tensor.trained = json.at("trained").get<bool>();
  tensor.stateOf = json.value("state_of", std::string());
  if (json.contains("origin"))
    tensor.origin = originFrom(json["origin"]);
  for (const ordered_json &piece : json.at("pieces"))
    tensor.pieces.push_back(pieceFrom(piece));
  return tensor;
}

/// Checks the format version and the checksum of a manifest. Throws Malformed
/// if the version or the checksum is wrong.
static void checkContent(ordered_json json) {
  const int64_t format = integerFrom(json.at("format"));
  if (format != kCheckpointFormat)
    throw Malformed("it is of format " + std::to_string(format) +
                    ", this build reads format " +
                    std::to_string(kCheckpointFormat));
  const std::string expected = json.at("xxh3").get<std::string>();
  json.erase("xxh3");
  if (checksumOf(json) != expected)
    throw Malformed("its content has changed");
}

/// Returns the path from which pathToJson() has made the JSON value `json`. The
/// value is a string, or an array of numbers. Each number is one byte of the
/// path. pathToJson() uses an array if the path is not valid UTF-8.
static std::string pathFrom(const ordered_json &json) {
  if (!json.is_array())
    return json.get<std::string>();
  const auto bytes = json.get<std::vector<unsigned char>>();
  return {bytes.begin(), bytes.end()};
}

/// Converts the JSON document of a manifest, and checks each tensor. Throws
/// Malformed if a tensor is invalid.
static Manifest manifestFrom(const ordered_json &json) {
  checkContent(json);
  Manifest manifest;
  manifest.position = {integerFrom(json.at("step")),
                       integerFrom(json.at("samples")),
                       sizeFrom(json.at("random_counter"))};
  manifest.world = integerFrom(json.at("world"));
  manifest.model = pathFrom(json.at("model"));
  manifest.weightsRoot = pathFrom(json.at("weights_root"));
  manifest.planHash = fromHex(json.at("plan_hash").get<std::string>());
  for (const ordered_json &file : json.at("files"))
    manifest.files.push_back({file.at("name").get<std::string>(),
                              sizeFrom(file.at("size")),
                              fromHex(file.at("xxh3").get<std::string>())});
  for (const ordered_json &tensor : json.at("tensors")) {
    manifest.tensors.push_back(tensorFrom(tensor));
    if (std::string fault = findFault(manifest.tensors.back()); !fault.empty())
      throw Malformed("tensor '" + manifest.tensors.back().name + "' " + fault);
  }
  return manifest;
}

/// Largest depth of nested arrays and objects in a manifest. Some functions,
/// such as ordered_json::dump(), call themselves once per level. Without this
/// limit, a damaged file with many levels could overflow the stack.
static constexpr int kDeepest = 16;

/// Parses `bytes` as JSON. Throws if `bytes` is not JSON, or if it is nested
/// deeper than kDeepest.
static ordered_json parse(std::span<const std::byte> bytes) {
  const auto *text = reinterpret_cast<const char *>(bytes.data());
  return ordered_json::parse(
      text, text + bytes.size(),
      [](int depth, ordered_json::parse_event_t, ordered_json &) {
        if (depth > kDeepest)
          throw Malformed("it is nested too deeply");
        return true;
      });
}

Status readManifest(const std::string &path, Manifest &manifest) {
  MappedFile file;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, file));
  const auto unusable = [&](const std::string &why) {
    return Status::error(DamagedBundle,
                         "'" + path + "' is not a valid manifest: " + why);
  };
  try {
    manifest = manifestFrom(parse(file.bytes()));
    return file.checkUnchanged(DamagedBundle);
  } catch (const Malformed &error) {
    return unusable(error.what());
  } catch (const ordered_json::parse_error &) {
    return unusable("it is not JSON, or is truncated");
  } catch (const ordered_json::exception &) {
    return unusable("a member is missing or has another type");
  }
}

} // namespace pcc::runtime
