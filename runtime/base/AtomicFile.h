//===- AtomicFile.h - atomic replacement of a text file -------------------===//

#ifndef PCC_RUNTIME_BASE_ATOMICFILE_H
#define PCC_RUNTIME_BASE_ATOMICFILE_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Replaces the file at `path` by one that holds `text`. The text is written to
/// `path`.partial first, which is then renamed. A reader therefore sees either
/// the previous content of `path` or all of `text`, never a part of it.
///
/// The file is not synced, so it may be lost if the machine crashes. Two
/// concurrent writers of one `path` must be excluded by the caller, because
/// both would write the same temporary file. Returns exit code 7 if writing
/// fails; `path` is unchanged then.
Status writeFileAtomically(const std::string &path, const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_ATOMICFILE_H
