//===- Seal.cpp - checksum trailers of whole files ------------------------===//

#include "runtime/program/Seal.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/MissingFile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace pcc::runtime {

namespace {
/// Last bytes of a sealed file (a file that ends with a checksum of its
/// content).
struct Trailer {
  char magic[8];
  uint64_t size; ///< bytes before the trailer
  XXH128_hash_t hash;
};
} // namespace

static constexpr char kMagic[8] = {'P', 'C', 'C', 'S', 'E', 'A', 'L', 1};

/// Returns the trailer for a file. A trailer is a record at the end of the file
/// with the size and the hash of the content before the trailer. The content is
/// the `size` bytes at `data`.
static Trailer trailerFor(const void *data, size_t size) {
  Trailer trailer = {};
  std::memcpy(trailer.magic, kMagic, sizeof kMagic);
  trailer.size = size;
  trailer.hash = XXH3_128bits(data, size);
  return trailer;
}

Status sealFile(const std::string &path) {
  MappedFile file;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, file));
  const Trailer trailer = trailerFor(file.bytes().data(), file.bytes().size());
  PCC_RETURN_IF_ERROR(file.checkUnchanged(InputOutput));
  std::FILE *out = std::fopen(path.c_str(), "ab");
  const bool written =
      out && std::fwrite(&trailer, sizeof trailer, 1, out) == 1;
  const bool closed = out && std::fclose(out) == 0;
  if (written && closed)
    return Status::success();
  return Status::error(InputOutput,
                       "cannot write '" + path + "': " + std::strerror(errno));
}

Status checkSeal(const std::string &path) {
  MappedFile file;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, file, DamagedBundle));
  const auto bytes = file.bytes();
  const auto damaged = [&] {
    return Status::error(DamagedBundle,
                         "'" + path + "' is damaged: its checksum differs");
  };
  if (bytes.size() < sizeof(Trailer))
    return damaged();
  const size_t size = bytes.size() - sizeof(Trailer);
  const Trailer expected = trailerFor(bytes.data(), size);
  if (std::memcmp(&expected, bytes.data() + size, sizeof expected) != 0)
    return damaged();
  return file.checkUnchanged(DamagedBundle);
}

static constexpr std::string_view kJsonSeal = ",\"seal\":\"";
static constexpr std::string_view kJsonEnd = "\"}\n";

/// Returns the hash of `text` as 32 hexadecimal digits.
static std::string digitsOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

/// Returns the last member of a sealed JSON file and the closing brace. The
/// last member is "seal", a hash of the text before this member. `text` is the
/// text before this member. The result ends with a line break. The result has
/// this form, where <hash> stands for 32 hexadecimal digits:
///
///     ,"seal":"<hash>"}
static std::string jsonSealOf(std::string_view text) {
  return std::string(kJsonSeal) + digitsOf(text) + std::string(kJsonEnd);
}

std::string sealJson(std::string json) {
  json.erase(json.rfind('}'));
  return json + jsonSealOf(json);
}

std::string sealOf(const std::string &sealed) {
  constexpr size_t numDigits = 32;
  return sealed.substr(sealed.size() - kJsonEnd.size() - numDigits, numDigits);
}

Status checkPresent(const std::string &bundle) {
  struct stat facts{};
  if (stat(bundle.c_str(), &facts) != 0)
    return Status::error(DamagedBundle,
                         "'" + bundle + "' " + describeMissing(bundle),
                         {"pcc MODEL -o " + bundle + " makes it"});
  if (!S_ISDIR(facts.st_mode))
    return Status::error(DamagedBundle,
                         "'" + bundle + "' is a file, and no bundle",
                         {"pcc MODEL -o FOLDER makes a bundle"});
  if (access((bundle + "/bundle.json").c_str(), F_OK) != 0 &&
      access((bundle + "/rank-000").c_str(), F_OK) != 0 && errno == ENOENT)
    return Status::error(DamagedBundle,
                         "'" + bundle +
                             "' is not a bundle: it has no bundle.json",
                         {"pcc MODEL -o FOLDER makes a bundle"});
  return Status::success();
}

/// Returns whether brackets in `json` are nested more than 64 deep. A parser
/// would overflow its stack at some depth.
static bool isDeep(std::string_view json) {
  int depth = 0;
  bool isText = false, isEscaped = false;
  for (char c : json) {
    if (isEscaped) {
      isEscaped = false;
      continue;
    }
    isEscaped = isText && c == '\\';
    if (c == '"')
      isText = !isText;
    depth += !isText && (c == '[' || c == '{') ? 1 : 0;
    depth -= !isText && (c == ']' || c == '}') ? 1 : 0;
    if (depth > 64)
      return true;
  }
  return false;
}

Status readSealedJson(const std::string &path, std::string &text) {
  constexpr size_t mostBytes = size_t(1) << 30;
  PCC_RETURN_IF_ERROR(readTextFile(path, mostBytes, text, DamagedBundle));
  static const size_t length = jsonSealOf("").size();
  if (text.size() < length ||
      !text.ends_with(
          jsonSealOf(std::string_view(text).substr(0, text.size() - length))))
    return Status::error(DamagedBundle, "'" + path +
                                            "' is damaged: its seal is "
                                            "missing or differs");
  if (isDeep(text))
    return Status::error(DamagedBundle,
                         "'" + path + "' is damaged: it is nested too deep");
  return Status::success();
}

} // namespace pcc::runtime
