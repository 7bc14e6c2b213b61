//===- WireReader.h - decoder of protocol buffer fields -------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

/// Exception for bytes that are not a protocol buffer message.
struct WireError {
  /// Description of the fault, without the name of the file.
  std::string message;
  /// Whether the message ends within a field or an integer, as in a truncated
  /// file.
  bool endsEarly = false;
};

/// Iterates over the fields of one encoded message:
///
///   for (WireReader wire(message); wire.next();)
///     if (wire.field() == 1)
///       name = wire.bytes();
///
/// The library protozero decodes the varints. Its message reader is not used,
/// because it limits lengths to 32 bits.
class WireReader {
public:
  /// Prepares to read the fields of `message`. The bytes must stay alive as
  /// long as the reader and the views that it returns.
  explicit WireReader(std::string_view message)
      : begin(message.data()), position(message.data()),
        end(message.data() + message.size()) {}

  /// Decodes the next field. Returns false if no field is left. Throws
  /// WireError if the bytes do not encode a field.
  bool next();
  /// Returns the number of the current field.
  uint32_t field() const { return number; }
  /// Returns the encoded bytes of the current field, including its tag.
  std::string_view whole() const {
    return {begin, static_cast<size_t>(position - begin)};
  }

  // Getters for the current field's value. Each throws WireError if the field
  // has another wire type.

  /// Returns the contents of a length-delimited field.
  std::string_view bytes() const;
  /// Returns the value of a varint field.
  int64_t integer() const;
  /// Returns the value of a 32-bit field, read as a float.
  float real() const;

  /// Appends the integers in the current field to `values`. A varint field
  /// holds one integer; a packed field holds all integers of a repeated field.
  void appendIntegers(std::vector<int64_t> &values) const;
  /// Appends the floats in the current field to `values`. A 32-bit field holds
  /// one float; a packed field holds all floats of a repeated field.
  void appendReals(std::vector<float> &values) const;

  /// Returns whether the current field is length-delimited: a string, a message
  /// or packed values.
  bool hasBytes() const { return kind == WireType::Bytes; }
  /// Returns the bits of the current varint or fixed-size field. A 32-bit value
  /// is in the low 32 bits.
  uint64_t scalar() const { return value; }
  /// Returns the size in bytes of a fixed-size field, 4 or 8. Returns 0 for
  /// other fields.
  unsigned fixedSize() const {
    return kind == WireType::Fixed64 ? 8 : kind == WireType::Fixed32 ? 4 : 0;
  }

private:
  /// Encoding of a field's value. Each enumerator has the number of the wire
  /// type in the protobuf format. The numbers 3 and 4 (start and end of a
  /// group) are deprecated and have no enumerator; `next` throws WireError if
  /// it finds them.
  enum class WireType : uint8_t {
    Integer = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5
  };

  /// Decodes the varint at `position` and advances `position` past it.
  uint64_t readInteger();
  /// Returns the `size` bytes at `position` and advances `position` past them.
  std::string_view take(uint64_t size);
  /// Throws the WireError for a field whose wire type is not the expected one.
  [[noreturn]] void wrongKind() const;

  const char *begin;    ///< first byte of the current field
  const char *position; ///< first byte after the current field
  const char *end;      ///< end of the message
  uint32_t number = 0;
  WireType kind = WireType::Integer;
  /// Value of the current field if the field is a varint or has a fixed size,
  /// otherwise 0. The value of a 32-bit field is in the low 32 bits. A float is
  /// stored as its bit pattern.
  uint64_t value = 0;
  /// Bytes of the current field's value, if it is length-delimited.
  std::string_view content;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
