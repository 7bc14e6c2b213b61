//===- LoadImages.h - loads rank executables into this process ------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H
#define PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H

#include "runtime/program/ProgramImage.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Loads the executables of all ranks of `bundle` as shared objects. `bundle`
/// is the directory that the compiler writes, with one executable per rank.
/// `worldSize` is the number of ranks. Equal executables are hard links to one
/// file, and this file is loaded only once.
///
/// `images[r]` becomes the image of rank r: the compiled program in the
/// executable. The images are valid until this process ends. Returns exit code
/// 11 if a file is damaged.
Status loadImages(const std::string &bundle, int worldSize,
                  std::vector<const ProgramImage *> &images);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H
