//===- WeightFile.cpp - identification of weight files --------------------===//

#include "runtime/program/WeightFile.h"
#include "runtime/base/MappedFile.h"
#include "status/Counted.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace pcc::runtime {

static constexpr size_t kPage = 4096;
static constexpr size_t kSampledPages = 16;

/// Returns the hash of one page of a file. `bytes` is the content of the file.
/// The page begins at the byte `offset`, and contains 4096 bytes. A page at the
/// end of the file may contain fewer bytes.
static uint64_t hashPage(std::span<const std::byte> bytes, uint64_t offset) {
  return XXH3_64bits(bytes.data() + offset,
                     std::min<size_t>(kPage, bytes.size() - offset));
}

Status describeWeightFile(const std::string &path, program::WeightFileT &file) {
  MappedFile mapped;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, mapped, CannotRead));
  const auto bytes = mapped.bytes();
  file.size = bytes.size();
  file.modified_ns = mapped.modifiedNanoseconds();
  file.pages.clear();
  const size_t numPages = (bytes.size() + kPage - 1) / kPage;
  const size_t samples = std::min(numPages, kSampledPages);
  for (size_t i = 0; i < samples; ++i) {
    // Choose the page with number `i` of the pages to hash. A page has 4096
    // bytes. At most 16 pages of the weight file are hashed. These pages have
    // nearly equal distances. The first one is the first page of the file, and
    // the last one is the last page of the file. For example, if the file has
    // 31 pages, the chosen pages are 0, 2, 4 and so on up to 30.
    const size_t page = samples < 2 ? 0 : i * (numPages - 1) / (samples - 1);
    const uint64_t offset = page * kPage;
    file.pages.emplace_back(offset, hashPage(bytes, offset));
  }
  return mapped.checkUnchanged(CannotRead);
}

/// Returns the error (exit code 11) that a weight file has changed. `why`
/// describes the difference.
static Status stale(const std::string &path, const std::string &why) {
  return Status::error(DamagedBundle,
                       "weight file '" + path + "' " + why +
                           " since the bundle was compiled",
                       {"compile the model again"});
}

Status checkWeightFile(const std::string &path,
                       const program::WeightFileT &file, bool everything) {
  MappedFile mapped;
  Status status = MappedFile::open(path, mapped, DamagedBundle);
  if (status.failed())
    return status.code() == DamagedBundle
               ? status.prefixed("weight file is missing: ")
               : status;
  const auto bytes = mapped.bytes();
  if (bytes.size() != file.size)
    return stale(path, "has changed from " + std::to_string(file.size) +
                           " to " + counted(bytes.size(), "byte"));
  if (!file.in_bundle && mapped.modifiedNanoseconds() != file.modified_ns)
    return stale(path, "has been modified");
  for (const program::PageHash &page : file.pages)
    if (page.offset() >= bytes.size() ||
        hashPage(bytes, page.offset()) != page.hash())
      return stale(path,
                   "has changed at byte " + std::to_string(page.offset()));
  if (everything && file.full_hash != 0 &&
      XXH3_64bits(bytes.data(), bytes.size()) != file.full_hash)
    return stale(path, "has changed");
  return mapped.checkUnchanged(DamagedBundle);
}

Status hashFile(const std::string &path, uint64_t &hash) {
  MappedFile mapped;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, mapped));
  hash = XXH3_64bits(mapped.bytes().data(), mapped.bytes().size());
  return mapped.checkUnchanged(InputOutput);
}

bool isInsideRoot(const std::string &path) {
  if (path.empty() || path.front() == '/' ||
      path.find('\0') != std::string::npos)
    return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (path.compare(begin, end - begin, "..") == 0)
      return false;
    begin = end + 1;
  }
  return true;
}

} // namespace pcc::runtime
