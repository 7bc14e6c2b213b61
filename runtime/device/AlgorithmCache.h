//===- AlgorithmCache.h - persistent cache of library algorithms ----------===//
//
// A library that selects among algorithms by heuristics, such as cuBLASLt, may
// select another one in another run, which changes the bits of the results. A
// bundle therefore keeps the selected algorithms, in one text file per version
// of the library and model of GPU:
//
//   pcc algorithms 1
//   <64 bytes in hexadecimal> <the problem, as the device describes it>
//   ...
//   checksum <xxh3 of the lines above, in hexadecimal>
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
#define PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Opaque bytes by which a library denotes one of its algorithms, such as a
/// cublasLtMatmulAlgo_t of cuBLASLt.
using AlgorithmBytes = std::array<unsigned char, 64>;

/// Cache of the algorithms that a library selected, by problem (such as one
/// matrix product). A file in the bundle keeps the cache for later runs. Calls
/// are made in this order:
///
///   open()         reads the file
///   find() add()   for each problem
///   keep()         writes the file
class AlgorithmCache {
public:
  /// Reads the cache from its file in `folder`, the directory of the bundle.
  /// `user` names a library, its version and the GPU. For example, the file of
  /// "cublaslt 130000 NVIDIA H100" is "algorithms-cublaslt-130000-NVIDIA-H100".
  /// If the file is absent or damaged, the cache is empty.
  void open(const std::string &folder, std::string_view user);

  /// Returns the algorithm that the cache has for `problem`, or null if it has
  /// none. cuBLASLt (or another library) may reject the algorithm; the caller
  /// must check this. The pointer is valid until the next open() or add().
  const AlgorithmBytes *find(const std::string &problem) const;
  /// Stores `algorithm` in the cache in memory, as the algorithm of `problem`.
  /// It replaces an earlier algorithm of `problem`.
  void add(const std::string &problem, const AlgorithmBytes &algorithm);

  /// Writes the algorithms that add() stored to the file of the cache.
  /// Algorithms that other processes have written to this file remain in it.
  /// Ignores errors, because a later run can select the algorithms again.
  void keep();

private:
  /// Path of the file that stores the cache in the directory of the bundle.
  std::string path;
  /// `known`: algorithm of each problem, from the cache file or from add().
  /// `added`: algorithms that add() stored and keep() has not yet written.
  std::map<std::string, AlgorithmBytes> known, added;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
