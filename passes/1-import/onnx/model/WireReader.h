//===- WireReader.h - decoder of protocol buffer fields -------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

/// The exception that the decoder throws for bytes that are not a protocol
/// buffer message. parseModel (ReadModel.cpp) turns it into an Error.
struct WireError {
  /// Description of the fault, without the name of the file.
  std::string message;
  /// Whether a field or an integer extends beyond the end of its message, as in
  /// a truncated file.
  bool endsEarly = false;
};

/// Iterates over the fields of one encoded message:
///
///   for (WireReader wire(message); wire.next();)
///     if (wire.field() == 1)
///       name = wire.bytes();
///
/// Each call of next decodes a whole field, so a field that the caller does not
/// ask for is skipped. The library protozero decodes the varints. The message
/// reader of protozero is not used: it holds lengths in 32 bits, and a model
/// that contains its weights can be larger.
class WireReader {
public:
  /// Prepares the iteration. The caller must keep the bytes of `message` alive
  /// as long as the reader and the views that it returns.
  explicit WireReader(std::string_view message)
      : begin(message.data()), position(message.data()),
        end(message.data() + message.size()) {}

  /// Moves to the next field. Returns false at the end of the message. Throws
  /// WireError if the bytes do not encode a field.
  bool next();
  /// Returns the number of the current field.
  uint32_t field() const { return number; }
  /// Returns the encoding of the current field, tag included.
  std::string_view whole() const {
    return {begin, static_cast<size_t>(position - begin)};
  }

  // Accessors of the current field's value. Each throws WireError if the field
  // has a wire type other than the accessor's.

  /// Returns the contents of a length-delimited field.
  std::string_view bytes() const;
  /// Returns the value of a varint field.
  int64_t integer() const;
  /// Returns the value of a 32-bit field as a float.
  float real() const;

  /// Appends the values of a repeated integer field, packed or not.
  void appendIntegers(std::vector<int64_t> &values) const;
  /// Appends the values of a repeated float field, packed or not.
  void appendReals(std::vector<float> &values) const;

  /// Returns whether the current field is length-delimited: a string, a message
  /// or packed values.
  bool hasBytes() const { return kind == WireType::Bytes; }
  /// Returns the value of a varint or fixed-size field as bits, in the low end.
  uint64_t scalar() const { return value; }
  /// Returns the size in bytes of a fixed-size field, 4 or 8; otherwise 0.
  unsigned fixedSize() const {
    return kind == WireType::Fixed64 ? 8 : kind == WireType::Fixed32 ? 4 : 0;
  }

private:
  /// Wire types with their encoded numbers. The group types are not accepted.
  enum class WireType : uint8_t {
    Integer = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5
  };

  /// Decodes a varint and advances `position`.
  uint64_t readInteger();
  /// Returns the next `size` bytes and advances `position`.
  std::string_view take(uint64_t size);
  /// Throws the error for an unexpected wire type.
  [[noreturn]] void wrongKind() const;

  const char *begin;    ///< first byte of the current field
  const char *position; ///< first byte after the current field
  const char *end;      ///< end of the message
  uint32_t number = 0;
  WireType kind = WireType::Integer;
  /// Bits of a varint or fixed-size field.
  uint64_t value = 0;
  /// Contents of a length-delimited field.
  std::string_view content;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
