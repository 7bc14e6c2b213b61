//===- LoadImages.cpp - loads rank executables into this process ----------===//

#include "runtime/launch/thread/LoadImages.h"

#include "runtime/launch/job/BundleFiles.h"
#include "runtime/program/Seal.h"

#include <dlfcn.h>
#include <map>
#include <sys/stat.h>

namespace pcc::runtime {

/// Verifies the checksum of a rank executable, loads the executable, and finds
/// its image (compiled program).
static Status loadImage(const std::string &path, const ProgramImage *&image) {
  PCC_RETURN_IF_ERROR(checkSeal(path));
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  image = handle ? static_cast<const ProgramImage *>(
                       dlsym(handle, "pcc_program_image"))
                 : nullptr;
  if (image)
    return Status::success();
  const char *reason = dlerror();
  return Status::error(DamagedBundle,
                       "cannot load '" + path +
                           "': " + (reason ? reason : "it has no program"));
}

/// Loads equal executables only once. The compiler writes equal executables as
/// hard links to one file, so they have equal inode numbers. The function loads
/// an executable only if it has not yet loaded one with the same inode number.
///
/// For example, the executables of ranks 0 and 1 are equal, and the executable
/// of rank 2 differs. The function then loads the executables of ranks 0 and 2.
/// The image of rank 0 is also the image of rank 1.
Status loadImages(const std::string &bundle, int worldSize,
                  std::vector<const ProgramImage *> &images) {
  std::map<ino_t, const ProgramImage *> imageOfFile;
  images.assign(worldSize, nullptr);
  for (int rank = 0; rank < worldSize; ++rank) {
    const std::string path = bundle + "/" + rankFileName(rank);
    struct stat information = {};
    stat(path.c_str(), &information);
    const ProgramImage *&image = imageOfFile[information.st_ino];
    if (!image)
      PCC_RETURN_IF_ERROR(loadImage(path, image));
    images[rank] = image;
  }
  return Status::success();
}

} // namespace pcc::runtime
