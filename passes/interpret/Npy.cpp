//===- Npy.cpp - tensors from .npy files ----------------------------------===//

#include "passes/interpret/Npy.h"
#include "passes/interpret/Bytes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace pcc;
using graph::HostTensor;

namespace {
/// What the header says, and the bytes behind it.
struct Content {
  std::string descr;
  bool fortranOrder = false;
  SmallVector<int64_t> shape;
  StringRef data;
};
} // namespace

/// What follows `'key':` in the header's dictionary.
static StringRef fieldOf(StringRef header, StringRef key) {
  auto [before, after] = header.split(("'" + key + "':").str());
  return after.ltrim();
}

static FailureOr<Content> parse(StringRef bytes) {
  if (!bytes.consume_front("\x93NUMPY") || bytes.size() < 6)
    return failure();
  size_t lengthBytes = bytes[0] == 1 ? 2 : 4, length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= static_cast<size_t>(static_cast<uint8_t>(bytes[2 + i])) << 8 * i;
  bytes = bytes.drop_front(2 + lengthBytes);
  if (length > bytes.size())
    return failure();
  StringRef header = bytes.take_front(length);
  Content content;
  content.data = bytes.drop_front(length);
  content.descr = fieldOf(header, "descr").drop_front().split('\'').first;
  content.fortranOrder = fieldOf(header, "fortran_order").starts_with("True");
  StringRef sizes = fieldOf(header, "shape");
  if (!sizes.consume_front("("))
    return failure();
  SmallVector<StringRef> parts;
  sizes.split(')').first.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t size;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, size) || size < 0)
      return failure();
    content.shape.push_back(size);
  }
  return content;
}

/// NumPy's name of an element type.
static std::string descrOf(Type type) {
  if (type.isInteger(1))
    return "|b1";
  std::string kind = isa<FloatType>(type)       ? "f"
                     : type.isUnsignedInteger() ? "u"
                                                : "i";
  int64_t bytes = interpret::bytesOf(type);
  return (bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
}

FailureOr<HostTensor> interpret::readNpy(const std::string &path,
                                         RankedTensorType type,
                                         std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    error = "cannot read '" + path + "': " + buffer.getError().message();
    return failure();
  }
  auto content = parse((*buffer)->getBuffer());
  if (failed(content) || content->fortranOrder) {
    error = "'" + path + "' is no C-ordered .npy file";
    return failure();
  }
  if (type.getElementType().isBF16())
    type = RankedTensorType::get(type.getShape(),
                                 Float32Type::get(type.getContext()));
  std::string wanted = descrOf(type.getElementType());
  if (ArrayRef(content->shape) != type.getShape() || content->descr != wanted) {
    error =
        "'" + path + "' holds " + content->descr + " of shape [" +
        llvm::join(
            llvm::map_range(content->shape,
                            [](int64_t size) { return std::to_string(size); }),
            ", ") +
        "], but the input is " + wanted + " of shape [" +
        llvm::join(
            llvm::map_range(type.getShape(),
                            [](int64_t size) { return std::to_string(size); }),
            ", ") +
        "]";
    return failure();
  }
  int64_t size = type.getNumElements() * bytesOf(type.getElementType());
  if (static_cast<int64_t>(content->data.size()) < size) {
    error = "'" + path + "' ends before its last element";
    return failure();
  }
  return readElements(type, content->data.data());
}
