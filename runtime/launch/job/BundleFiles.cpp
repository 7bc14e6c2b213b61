//===- BundleFiles.cpp - names and number of a bundle's rank files --------===//

#include "runtime/launch/job/BundleFiles.h"
#include "runtime/program/Seal.h"
#include "status/Counted.h"
#include "status/ShellWord.h"

#include <cctype>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <sys/statvfs.h>
#include <unistd.h>

namespace pcc::runtime {

std::string rankFileName(int rank) {
  char name[32];
  std::snprintf(name, sizeof name, "rank-%03d", rank);
  return name;
}

static bool hasRank(const std::string &bundle, int rank) {
  return access((bundle + "/" + rankFileName(rank)).c_str(), F_OK) == 0;
}

/// Finds the number of executables by a binary search, because a test of every
/// rank would need up to 65,536 system calls. The function first tests the
/// ranks 0, 1, 2, 4, 8 and so on, until a rank has no executable. Then the
/// function bisects the interval between the last two tested ranks. The search
/// assumes that no number between existing ranks is missing.
///
/// Example with 6 executables: rank 4 has an executable, and rank 8 has none.
/// The function then tests rank 6, which has none, and rank 5, which has one.
/// The result is 6.
int countRanks(const std::string &bundle) {
  if (!hasRank(bundle, 0))
    return 0;
  int present = 0;
  int absent = 1;
  while (hasRank(bundle, absent)) {
    present = absent;
    absent *= 2;
  }
  while (absent - present > 1) {
    const int middle = present + (absent - present) / 2;
    (hasRank(bundle, middle) ? present : absent) = middle;
  }
  return absent;
}

/// Reads the file bundle.json in the directory `bundle`. Sets `text` to the
/// JSON text of the file, and removes all white space from `text`. Other
/// functions can then search `text` for a string such as "target":"cuda".
///
/// The last part of the file is a checksum of the rest of the file. Returns an
/// error if the checksum is missing or wrong.
static Status readDescription(const std::string &bundle, std::string &text) {
  PCC_RETURN_IF_ERROR(readSealedJson(bundle + "/bundle.json", text));
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return Status::success();
}

/// Returns the number of ranks of a bundle. `text` is the JSON text of the file
/// bundle.json, without white space. The text must begin with the number of
/// ranks under the key "world". For example, the result is 4 if `text` begins
/// with {"world":4. If `text` does not begin with this key, the result is 0.
static int recordedWorld(std::string_view text) {
  constexpr std::string_view head = "{\"world\":";
  int world = 0;
  if (text.starts_with(head))
    std::from_chars(text.data() + head.size(), text.data() + text.size(),
                    world);
  return world;
}

bool isForGpus(const std::string &bundle) {
  std::string text;
  if (readDescription(bundle, text).failed())
    return false;
  return text.find("\"target\":\"cuda\"") != std::string::npos;
}

/// Returns an error if the file system of `bundle` forbids that programs run.
static Status checkPermitsExecution(const std::string &bundle) {
  struct statvfs found = {};
  if (statvfs(bundle.c_str(), &found) != 0 || !(found.f_flag & ST_NOEXEC))
    return Status::success();
  return Status::error(InputOutput,
                       "cannot execute the programs of '" + bundle +
                           "': its file system is mounted with noexec",
                       {"copy the bundle to another file system"});
}

/// Compares the number of rank executables in the bundle with the number of
/// ranks that bundle.json records. Returns an error if the numbers differ. For
/// example, someone has deleted the file rank-003 of a bundle with 4 ranks. The
/// bundle then has the executables of 3 ranks, but bundle.json records 4 ranks.
/// Also returns an error if bundle.json or the executable `run` is damaged, or
/// if its file system is mounted with noexec.
Status checkBundle(const std::string &bundle) {
  PCC_RETURN_IF_ERROR(checkPresent(bundle));
  const int present = countRanks(bundle);
  if (present == 0)
    return Status::error(DamagedBundle,
                         bundle + " is not a bundle: it has no rank-000");
  std::string text;
  PCC_RETURN_IF_ERROR(readDescription(bundle, text));
  const int world = recordedWorld(text);
  if (world < 1)
    return Status::error(
        DamagedBundle,
        "'" + bundle +
            "/bundle.json' is damaged: its field 'world' is "
            "no number of ranks",
        {"compile the model again: pcc MODEL -o " + shellWord(bundle)});
  if (present < world)
    return Status::error(DamagedBundle, "bundle '" + bundle + "' of " +
                                            counted(world, "rank") + " lacks " +
                                            rankFileName(present));
  if (present > world)
    return Status::error(DamagedBundle, "bundle '" + bundle + "' of " +
                                            counted(world, "rank") + " has " +
                                            rankFileName(world) +
                                            " of another bundle");
  PCC_RETURN_IF_ERROR(checkSeal(bundle + "/run"));
  return checkPermitsExecution(bundle);
}

} // namespace pcc::runtime
